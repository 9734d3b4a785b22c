"""The page as one text: the essay, the controls, the charts and the words, rendered once.

Nothing in it depends on who reads it, so a server sends the same bytes to everybody, and no reader
costs it a session.
"""

import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import param
from bokeh.embed import json_item
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import paper_figure, sharing_page, words
from .charts import capacity_chart, ttft_chart
from .paths import TEMPLATES
from .reading import read
from .results import Results
from .sections import SECTIONS
from .settings import Choice, Settings, choices

YEAR = "2026"  # of this version, for the citation


def controls(start: param.Parameterized) -> list[dict[str, Any]]:
    """Describe controls for the template and the script, from a table of settings."""
    described = []
    for name, choice in choices(type(start)):
        values = list(choice.objects)
        now = getattr(start, name)
        described.append(
            {
                "name": name,
                "id": name.replace("_", "-"),
                "key": choice.key,
                "label": choice.label,
                "hint": choice.doc,
                "kind": choice.kind,
                "values": values,
                "count": len(values),
                "position": values.index(now),
                "default": values.index(choice.default),
                "shown": [_shown(name, choice, value) for value in values],
                "shown_now": _shown(name, choice, now),
                "allowed": choice.allowed,
            }
        )
    return described


def _shown(name: str, choice: Choice, value: Any) -> str:
    """Write a value beside its control."""
    if choice.kind == "select":
        return words.fill(f"{name}_{value}")
    if choice.kind == "switch":
        return words.fill("on" if value else "off")
    return words.UNITS[choice.unit](value)


def render(
    results: Results,
    styles: str,
    scripts: str,
    files: Mapping[str, Any],
    start: Settings | None = None,
) -> str:
    """Render the page; ``styles`` and ``scripts`` are the tags that bring them.

    ``files`` are the addresses of the atlases and of the films. The page opens at the settings
    ``start``, or at the plate's own.
    """
    start = start or Settings()
    atlas = results.atlases[Settings().workload]
    constants = words.constant_words(atlas.constants, atlas.axes)
    default = words.live_words(read(atlas, Settings()), constants)
    live = words.live_words(read(results.atlases[start.workload], start), constants)
    described = controls(start)
    sections = {name: controls(section()) for name, section in SECTIONS.items()}
    data = {
        "controls": described,
        "sections": sections,
        "words": words.TEMPLATES,
        "constants": constants,
        "charts": {
            "capacity": json_item(capacity_chart()),
            "ttft": json_item(ttft_chart(max(atlas.axes["rate"]))),
        },
        "files": dict(files),
    }
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("plate.html").render(
        controls=described,
        sections=sections,
        default=default,
        constant=constants | {"version": version("kvsim"), "year": YEAR},
        paper=paper_figure.described(results.paper),
        sharing=sharing_page.described(results.sharing, results.paper, start),
        live=lambda key: Markup('<span data-live="{}">{}</span>').format(key, live[key]),
        styles=Markup(styles),
        scripts=Markup('<script type="application/json" id="plate-data">{}</script>\n{}').format(
            Markup(_json_in_html(data)), Markup(scripts)
        ),
    )


def _json_in_html(data: Any) -> str:
    """Serialise so that no text in it can end the script element that holds it."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
