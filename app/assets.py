"""What the page brings along: style sheets, scripts, atlas; linked for a server, or all inside."""

import base64
from pathlib import Path

from bokeh.util.paths import bokehjs_path

from .languages import PLATES_OWN, Language
from .page import render, render_teacher
from .paths import STATIC
from .results import ATLASES, FILMS, OVERCOMMIT, Results
from .settings import Settings

# In the order in which later ones go over earlier ones.
STYLES = tuple(
    STATIC / f"{name}.css"
    for name in (
        *("page", "controls", "findings", "cache", "essay", "bars", "cards", "overcommit"),
        "readers",
    )
)
TEACHER = "teacher"  # the address of the teacher's page
FILM_ADDRESS = "film"  # where a server makes the film of any settings; see app/serve.py
# In the order in which they must run; each of ours adds to one object and is about one subject.
SCRIPTS = (
    bokehjs_path() / "js" / "bokeh.min.js",
    *(
        STATIC / f"{name}.js"
        for name in (
            "colours",
            "container",
            "atlas",
            "films",
            "replay",
            "words",
            "controls",
            "link",
            "charts",
            "marker",
            "limits",
            "cache",
            "scenes",
            "player",
            "ledger",
            "inspector",
            "stage",
            "tables",
            "copying",
            "overcommit_words",
            "timeline",
            "overcommit",
            "cards",
            "pictures",
            "measured",
            "taking",
            "handout",
            "citing",
            "plate",
        )
    ),
)


def linked_page(
    results: Results,
    addresses: dict[Path, str],
    language: Language = PLATES_OWN,
    teacher: str = TEACHER,
) -> str:
    """Render the page with links to the addresses that a server gives its files."""
    return render(
        results,
        styles=_style_links(addresses),
        # Deferred: the text is painted before any of them has loaded.
        scripts="\n".join(f'<script defer src="{addresses[path]}"></script>' for path in SCRIPTS),
        files={
            "atlases": {workload: addresses[path] for workload, path in ATLASES.items()},
            "films": addresses[FILMS],
            "overcommit": addresses[OVERCOMMIT],
            "film": FILM_ADDRESS,
        },
        language=language,
        teacher=teacher,
    )


def teachers_page(
    results: Results,
    addresses: dict[Path, str],
    language: Language = PLATES_OWN,
    home: str = "./",
) -> str:
    """Render the teacher's page, with such links too; ``home`` is the plate's address from it."""
    return render_teacher(results, _style_links(addresses), language, home)


def _style_links(addresses: dict[Path, str]) -> str:
    return "\n".join(f'<link rel="stylesheet" href="{addresses[path]}">' for path in STYLES)


def inlined_page(results: Results, start: Settings, language: Language = PLATES_OWN) -> str:
    """Render the page with everything inside, the teacher's too, so that it asks for nothing.

    It offers the workload that it starts with and the plate's own.
    """
    workloads = {Settings().workload, start.workload}
    return render(
        results,
        styles="\n".join(f"<style>\n{path.read_text('utf-8')}</style>" for path in STYLES),
        scripts="\n".join(
            f"<script>\n{_closing_escaped(path.read_text('utf-8'))}</script>" for path in SCRIPTS
        ),
        files={
            "atlases": {each: _data_address(ATLASES[each]) for each in sorted(workloads)},
            "films": _data_address(FILMS),
            "overcommit": _data_address(OVERCOMMIT),
        },
        start=start,
        language=language,
    )


def _data_address(path: Path) -> str:
    encoded = base64.b64encode(path.read_bytes()).decode("ascii")
    return f"data:application/octet-stream;base64,{encoded}"


def _closing_escaped(script: str) -> str:
    """Keep a string within a script from ending the element that holds it."""
    return script.replace("</script", "<\\/script")
