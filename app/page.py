"""The page as one text: the essay, the controls, the charts and the words, rendered once.

Nothing in it depends on who reads it, so a server sends the same bytes to everybody, and no reader
costs it a session.
"""

import json
from collections.abc import Mapping
from datetime import date
from importlib.metadata import version
from typing import Any

from bokeh.embed import json_item
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import paper_figure, words
from .atlas import Atlas
from .charts import capacity_chart, ttft_chart
from .paper_store import Paper
from .paths import TEMPLATES
from .reading import read
from .settings import Settings, choices


def controls(start: Settings) -> list[dict[str, Any]]:
    """Describe the controls for the template and the script, from the one table of settings."""
    described = []
    for name, choice in choices():
        values = list(choice.objects)
        unit = words.tokens if choice.unit == "tokens" else words.rate
        described.append(
            {
                "name": name,
                "id": name.replace("_", "-"),
                "key": choice.key,
                "label": choice.label,
                "hint": choice.doc,
                "kind": "switch" if len(values) == 2 else "range",
                "values": values,
                "count": len(values),
                "position": values.index(getattr(start, name)),
                "default": values.index(choice.default),
                "shown": [unit(value) for value in values],
                "shown_now": unit(getattr(start, name)),
                "allowed": choice.allowed,
            }
        )
    return described


def render(
    atlas: Atlas,
    paper: Paper,
    styles: str,
    scripts: str,
    files: Mapping[str, str],
    start: Settings | None = None,
) -> str:
    """Render the page; ``styles`` and ``scripts`` are the tags that bring them.

    ``files`` are the addresses of the atlas and the films. The page opens at the settings
    ``start``, or at the plate's own.
    """
    constants = words.constant_words(atlas.constants, atlas.axes)
    default = words.live_words(read(atlas, Settings()), constants)
    live = words.live_words(read(atlas, start), constants) if start else default
    described = controls(start or Settings())
    data = {
        "controls": described,
        "words": words.TEMPLATES,
        "constants": constants,
        "charts": {
            "capacity": json_item(capacity_chart(_most_requests(atlas))),
            "ttft": json_item(ttft_chart(max(atlas.axes["rate"]))),
        },
        "files": dict(files),
    }
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("plate.html").render(
        controls=described,
        default=default,
        constant=constants | {"version": version("kvsim"), "year": str(date.today().year)},
        paper=paper_figure.described(paper),
        live=lambda key: Markup('<span data-live="{}">{}</span>').format(key, live[key]),
        styles=Markup(styles),
        scripts=Markup('<script type="application/json" id="plate-data">{}</script>\n{}').format(
            Markup(_json_in_html(data)), Markup(scripts)
        ),
    )


def _most_requests(atlas: Atlas) -> float:
    """Round the longest bar that any position needs up to the next hundred."""
    longest = max(atlas.arrays[f"{kind}_requests"].max() for kind in ("contiguous", "paged"))
    return float(-(-longest // 100) * 100)


def _json_in_html(data: Any) -> str:
    """Serialise so that no text in it can end the script element that holds it."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
