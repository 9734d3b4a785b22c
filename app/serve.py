"""The served page: rendered once, compressed once, and sent as it is to everybody.

Panel's server runs it. The plate needs no session; at /panel the same plate is a Panel component
in one.
"""

import re
from pathlib import Path

import panel as pn
from bokeh.server.server import Server

from .assets import FILM_ADDRESS, SCRIPTS, STYLES, TEACHER, linked_page, teachers_page
from .handlers import Asset, AssetHandler, FilmHandler
from .languages import PLATES_OWN, language_names, load_language
from .plate import Plate
from .results import ATLASES, FILMS, OVERCOMMIT, load_results

# Not the machine's own table: where it calls scripts plain text, browsers run none of them.
_CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".bin": "application/octet-stream",
}


def prepare() -> dict[str, Asset]:
    """Render and compress the page, the teacher's page, and their files, by path.

    The plate's own language is at "" and "teacher", another one, xx, at "xx" and "xx-teacher".
    Raises ``ResultsError`` if files are missing, damaged, or from other model code.
    """
    results = load_results()
    assets = {}
    addresses: dict[Path, str] = {}
    for path in (*STYLES, *SCRIPTS, *ATLASES.values(), FILMS, OVERCOMMIT):
        asset = Asset(_CONTENT_TYPES[path.suffix], path.read_bytes())
        addresses[path] = f"assets/{asset.tag}/{path.name}"
        assets[addresses[path]] = asset
    for language in map(load_language, language_names()):
        # Beside each other, so that all find their files at the same addresses.
        own = language is PLATES_OWN
        home, teacher = ("", TEACHER) if own else (language.name, f"{language.name}-{TEACHER}")
        for where, page in (
            (home, linked_page(results, addresses, language, teacher)),
            (teacher, teachers_page(results, addresses, language, home or "./")),
        ):
            assets[where] = Asset("text/html; charset=utf-8", page.encode())
    return assets


def server(port: int, address: str, origins: list[str]) -> Server:
    """Return a server, listening but not yet running; port 0 takes any that is free.

    ``origins`` are further hosts from whose pages a session may be opened. Raises ``ResultsError``
    (see :func:`prepare`), and ``OSError`` if the port cannot be had.
    """
    assets = prepare()
    paths = "|".join(re.escape(path) for path in assets if not path.startswith("assets/"))
    return pn.io.server.get_server(
        {"panel": Plate},
        port=port,
        address=address,
        websocket_origin=[f"localhost:{port}", f"127.0.0.1:{port}", *origins] if origins else None,
        extra_patterns=[
            (rf"/((?:assets/.*)?|{paths})", AssetHandler, {"assets": assets}),
            (f"/{FILM_ADDRESS}", FilmHandler),
        ],
    )
