"""What the page brings along: style sheets, scripts, atlas; linked for a server, or all inside."""

import base64
from pathlib import Path

from bokeh.util.paths import bokehjs_path

from .page import render
from .paths import STATIC
from .results import ATLASES, FILMS, SHARING, Results
from .settings import Settings

# In the order in which later ones go over earlier ones.
STYLES = tuple(
    STATIC / f"{name}.css"
    for name in (
        "page",
        "controls",
        "findings",
        "cache",
        "essay",
        "bars",
        "sharing",
        "sharing-drawing",
        "readers",
    )
)
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
            "cache",
            "scenes",
            "player",
            "ledger",
            "inspector",
            "stage",
            "tables",
            "copying",
            "sharing-story",
            "sharing-drawing",
            "sharing-steps",
            "sharing",
            "plate",
        )
    ),
)


def linked_page(results: Results, addresses: dict[Path, str]) -> str:
    """Render the page with links to the addresses that a server gives its files."""
    return render(
        results,
        styles="\n".join(f'<link rel="stylesheet" href="{addresses[path]}">' for path in STYLES),
        # Deferred: the text is painted before any of them has loaded.
        scripts="\n".join(f'<script defer src="{addresses[path]}"></script>' for path in SCRIPTS),
        files={
            "atlases": {workload: addresses[path] for workload, path in ATLASES.items()},
            "films": addresses[FILMS],
            "sharing": addresses[SHARING],
            "film": FILM_ADDRESS,
        },
    )


def inlined_page(results: Results, start: Settings) -> str:
    """Render the page with everything inside, so that it asks for nothing.

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
            "sharing": _data_address(SHARING),
        },
        start=start,
    )


def _data_address(path: Path) -> str:
    encoded = base64.b64encode(path.read_bytes()).decode("ascii")
    return f"data:application/octet-stream;base64,{encoded}"


def _closing_escaped(script: str) -> str:
    """Keep a string within a script from ending the element that holds it."""
    return script.replace("</script", "<\\/script")
