"""The page as one text: the essay, the controls, the charts and the words, rendered once.

Nothing in it depends on who reads it, so a server sends the same bytes to everybody, and no reader
costs it a session.
"""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import param
from bokeh.embed import json_item
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from . import words
from .charts import capacity_chart, ttft_chart
from .languages import PLATES_OWN, Language, speaking, spoken
from .lessons import LESSONS, described_cards, described_presets
from .parts import headings_of
from .paths import TEMPLATES
from .reading import Reading, read
from .results.files import Results
from .sections import overcommit, paper_figure, sharing_page, swap_figure, your_server
from .sections.controls import Sections, opened
from .settings import NAMES, Settings, choices

# The picture of a link to the page, and its size in pixels; tests/picture.py makes it.
CARD = {"address": "assets/card.png", "width": 1200, "height": 630}
YEAR = "2026"  # of this version, for the citation


def controls(start: param.Parameterized) -> list[dict[str, Any]]:
    """Describe controls for the template and the script, from a table of settings."""
    described = []
    allowed = (spoken()["allowed_between"], spoken()["allowed_one_of"])
    for name, choice in choices(type(start)):
        values = list(choice.objects)
        now = getattr(start, name)
        described.append(
            {
                "name": name,
                "id": name.replace("_", "-"),
                "key": choice.key,
                "label": words.fill(f"label_{name}"),
                "hint": words.fill(f"hint_{name}"),
                "kind": choice.kind,
                "values": values,
                "count": len(values),
                "position": values.index(now),
                "default": values.index(choice.default),
                "shown": [words.shown(name, value) for value in values],
                "shown_now": words.shown(name, now),
                "allowed": choice.allowed_as(*allowed),
            }
        )
    return described


def render(
    results: Results,
    styles: str,
    scripts: str,
    files: Mapping[str, Any],
    head_script: str,
    start: Settings | None = None,
    sections: Sections | None = None,
    language: Language = PLATES_OWN,
    teacher: str = "",
    view: str = "",
    policy: str = "",
    public_url: str = "",
) -> str:
    """Render the page; ``styles`` and ``scripts`` are the tags that bring them.

    ``files`` are the addresses of the atlases and of the films, ``head_script`` is run before
    anything is painted. The page opens at the settings ``start``, or at the plate's own, with those
    of its ``sections``, in a
    ``view`` of its own (see static/view.js), under a content security ``policy`` beside those that
    it is sent with, and knows the ``public_url`` that it has, if any. ``teacher`` is the address of
    the teacher's page; without one the page holds what that would say.
    """
    start = start or Settings()
    atlas = results.atlases[Settings().workload]
    with speaking(language):
        known = told(results, start, list(files["atlases"]), sections or opened({}))
        live = known["at"](**{name: getattr(start, name) for name in NAMES})
        described = controls(start)
        data = {
            "controls": described,
            "sections": known["sections"],
            "words": language.words,
            "constants": known["constants"],
            "version": known["constant"]["version"],
            "cards": LESSONS["cards"],
            "charts": {
                "capacity": json_item(capacity_chart()),
                "ttft": json_item(ttft_chart(max(atlas.axes["rate"]))),
            },
            "files": dict(files),
            "own": your_server.for_script(),
        }
        return (
            environment(language)
            .get_template("plate.html")
            .render(
                known,
                controls=described,
                headings_of=headings_of,
                live=lambda key: Markup('<span data-live="{}">{}</span>').format(key, live[key]),
                teacher=teacher,
                home="",
                view=view,
                policy=policy,
                public_url=public_url,
                card=CARD,
                head_script=Markup(head_script),
                styles=Markup(styles),
                scripts=Markup(
                    '<script type="application/json" id="plate-data">{}</script>\n{}'
                ).format(Markup(_json_in_html(data)), Markup(scripts)),
            )
        )


def render_teacher(
    results: Results, styles: str, language: Language = PLATES_OWN, home: str = "./"
) -> str:
    """Render the teacher's page, which needs no script; ``home`` is the address of the plate."""
    with speaking(language):
        known = told(results, Settings(), list(results.atlases), opened({}))
        return (
            environment(language)
            .get_template("teacher.html")
            .render(known, home=home, styles=Markup(styles))
        )


def told(
    results: Results, start: Settings, workloads: Sequence[str], sections: Sections
) -> dict[str, Any]:
    """Collect what any template may tell, in the language that is spoken.

    ``workloads`` are those that the page offers; presets of others are left out.
    """
    atlas = results.atlases[Settings().workload]
    constants = words.constant_words(atlas.constants, atlas.axes)

    def look(settings: Settings) -> Reading:
        return read(results.atlases[settings.workload], settings)

    def at(**position: Any) -> dict[str, str]:
        return words.live_words(look(Settings(**position)), constants)

    return {
        "word": words.fill,
        "constants": constants,
        "constant": constants | {"version": version("kvsim"), "year": YEAR},
        "at": at,
        "default": at(),
        "cards": described_cards(look, start, constants),
        "presets": described_presets(look, constants, workloads),
        "paper": paper_figure.described(results.paper),
        "own": your_server.described(),
        "sections": {name: controls(section) for name, section in sections.items()},
        "sharing": sharing_page.described(
            results.sharing, results.paper, start, sections["sharing"]
        ),
        "overcommitted": {
            "words": overcommit.section_words(results.overcommitted, sections["overcommit"]),
            "shares": overcommit.shares(results.overcommitted, sections["overcommit"]),
            "calm": overcommit.calm_rate(results.overcommitted),
            "watermarks": [
                words.shown("watermark", each) for each in results.overcommitted.axis("watermark")
            ],
            "swaps": swap_figure.described(),
        },
    }


def environment(language: Language) -> Environment:
    """Return the templates: a language's own go before the English ones."""
    return Environment(
        loader=FileSystemLoader([language.templates, TEMPLATES]),
        autoescape=True,
        undefined=StrictUndefined,
    )


def _json_in_html(data: Any) -> str:
    """Serialise so that no text in it can end the script element that holds it."""
    return json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
