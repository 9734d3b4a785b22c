"""What the page brings along: style sheets, scripts, atlas; linked for a server, or all inside."""

import base64
import zlib
from pathlib import Path

from bokeh.util.paths import bokehjs_path

from . import policy
from .languages import PLATES_OWN, Language
from .page import render, render_teacher
from .parts import parts_of
from .paths import STATIC
from .results.files import ATLASES, FILMS, OVERCOMMIT, SHARING, Results
from .sections.controls import Sections
from .settings import Settings

# In the order in which later ones go over earlier ones.
STYLES = tuple(
    STATIC / f"{name}.css"
    for name in (
        *("page", "controls", "findings", "cache", "essay", "bars", "cards", "sharing"),
        *("sharing-drawing", "overcommit", "embedding", "readers"),
        *("your-server", "own-results", "sections"),
    )
)
ANSWERS_ADDRESS = "answers"  # where a server answers about readers' own ones
TEACHER = "teacher"  # the address of the teacher's page
# Pictures of the page: for a link to it in other people's pages, and for paper.
PICTURES = (STATIC / "card.png", STATIC / "picture.png")
FILM_ADDRESS = "film"  # where a server makes the film of any settings; see app/handlers.py
HEAD_SCRIPT = STATIC / "view.js"  # runs before anything is painted, so it stands in the page
LIBRARY = bokehjs_path() / "js" / "bokeh.min.js"
# In the order in which they must run; each of ours adds to one object and is about one subject.
SCRIPTS = (
    LIBRARY,
    *(
        STATIC / f"{name}.js"
        for name in (
            "colours",
            "container",
            "unpacking",
            "atlas",
            "films",
            "replay",
            "words",
            "constant-words",
            "controls",
            "link",
            "frame",
            "embedding",
            "charts",
            "marker",
            "limits",
            "cache",
            "scenes",
            "telling",
            "player",
            "ledger",
            "inspector",
            "stage",
            "tables",
            "untold",
            "copying",
            "overcommit-words",
            "timeline",
            "overcommit",
            "whose-server",
            "facts",
            "own-fields",
            "asking",
            "server-form",
            "log-input",
            "workload-input",
            "computing",
            "own-results",
            "your-server",
            "cards",
            "pictures",
            "measured",
            "taking",
            "handout",
            "citing",
            "sharing-story",
            "sharing-drawing",
            "sharing-steps",
            "sharing",
            "plate",
        )
    ),
)

# All that a server gives an address of its own.
LINKED = (*STYLES, *SCRIPTS, *ATLASES.values(), FILMS, OVERCOMMIT, SHARING)


def linked_page(
    results: Results,
    addresses: dict[Path, str],
    language: Language = PLATES_OWN,
    teacher: str = TEACHER,
    public_url: str = "",
) -> str:
    """Render the page with links to the addresses that a server gives its files.

    ``public_url`` is where all the world finds it, if that is known.
    """
    return render(
        results,
        styles=_style_links(addresses),
        # Deferred: the text is painted before any of them has loaded.
        scripts="\n".join(f'<script defer src="{addresses[path]}"></script>' for path in SCRIPTS),
        files={
            "atlases": {workload: addresses[path] for workload, path in ATLASES.items()},
            "films": addresses[FILMS],
            "overcommit": addresses[OVERCOMMIT],
            "sharing": addresses[SHARING],
            "film": FILM_ADDRESS,
            "answers": ANSWERS_ADDRESS,
        },
        language=language,
        teacher=teacher,
        head_script=head_script(),
        public_url=public_url,
    )


def linked_policy() -> str:
    """Return the content security policy that a server sends with the linked page."""
    return policy.served([head_script()])


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


def inlined_page(
    results: Results,
    start: Settings,
    view: str = "",
    language: Language = PLATES_OWN,
    sections: Sections | None = None,
) -> str:
    """Render the page with everything inside, the teacher's too, so that it asks for nothing.

    It offers the workload that it starts with and the plate's own. ``view`` is the part of a link
    that is about no setting, such as ``embed=1&theme=dark``: a frame may have no address to say so.
    """
    workloads = {Settings().workload, start.workload}
    own = [_closing_escaped(path.read_text("utf-8")) for path in SCRIPTS if path != LIBRARY]
    library = LIBRARY.read_text("utf-8")
    # The library is half of the page, and a quarter of that when it is compressed.
    packed = base64.b64encode(zlib.compress(library.encode(), 9)).decode("ascii")
    return render(
        results,
        styles="\n".join(f"<style>\n{path.read_text('utf-8')}</style>" for path in STYLES),
        scripts="\n".join(
            [
                f'<script type="application/octet-stream" data-packed>{packed}</script>',
                *(f"<script>{script}</script>" for script in own),
            ]
        ),
        files={
            "atlases": {each: _data_address(ATLASES[each]) for each in sorted(workloads)},
            "films": _data_address(FILMS),
            "overcommit": _data_address(OVERCOMMIT),
            "sharing": _data_address(SHARING),
        },
        start=start,
        sections=sections,
        language=language,
        view=view,
        head_script=head_script(),
        policy=policy.inlined([head_script(), library, *own]),
    )


def parts(results: Results) -> list[str]:
    """Return the names of the page's parts, which a link can show alone."""
    return parts_of(render(results, styles="", scripts="", files={"atlases": {}}, head_script=""))


def head_script() -> str:
    """Return the script that stands in the page's head."""
    return _closing_escaped(HEAD_SCRIPT.read_text("utf-8"))


def _data_address(path: Path) -> str:
    encoded = base64.b64encode(path.read_bytes()).decode("ascii")
    return f"data:application/octet-stream;base64,{encoded}"


def _closing_escaped(script: str) -> str:
    """Keep a string within a script from ending the element that holds it."""
    return script.replace("</script", "<\\/script")
