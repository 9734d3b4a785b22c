"""The served page: rendered once, compressed once, and sent as it is to everybody.

Panel's server runs it. The plate needs no session; at /panel the same plate is a Panel component
in one.
"""

import re
from pathlib import Path

import panel as pn
from bokeh.server.server import Server

from .answers.handlers import Desk, patterns
from .assets import (
    ANSWERS_ADDRESS,
    FILM_ADDRESS,
    LINKED,
    PICTURES,
    TEACHER,
    linked_page,
    linked_policy,
    teachers_page,
)
from .handlers import Asset, AssetHandler, FilmHandler, NothingHandler
from .languages import PLATES_OWN, language_names, load_language
from .plate import Plate
from .results.files import load_results

# A session holds megabytes but nothing that a reader set: whoever comes back gets another.
SESSION_KEPT_MS = 5000
# Whoever sends more is hung up on: Tornado keeps it in memory, up to 100 MB for each request.
# What readers send about their own servers is received by handlers with limits of their own.
MOST_BODY_BYTES = 2**16
# Not the machine's own table: where it calls scripts plain text, browsers run none of them.
_CONTENT_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".bin": "application/octet-stream",
    ".png": "image/png",
}
EVERY_ADDRESS = ("0.0.0.0", "::", "")
# What readers ask about their own servers. Its workers are started when they are first needed.
DESK = Desk()


def prepare(public_url: str = "") -> dict[str, Asset]:
    """Render and compress the page, the teacher's page, and their files, by path.

    The plate's own language is at "" and "teacher", another one, xx, at "xx" and "xx-teacher".
    Raises ``ResultsError`` if files are missing, damaged, or from other model code.
    """
    results = load_results()
    assets = {}
    addresses: dict[Path, str] = {}
    for path in LINKED:
        asset = Asset(_CONTENT_TYPES[path.suffix], path.read_bytes())
        addresses[path] = f"assets/{asset.tag}/{path.name}"
        assets[addresses[path]] = asset
    for path in PICTURES:
        # By a lasting name, for other people's pages.
        assets[f"assets/{path.name}"] = Asset(_CONTENT_TYPES[path.suffix], path.read_bytes())
    for language in map(load_language, language_names()):
        # Beside each other, so that all find their files at the same addresses.
        own = language is PLATES_OWN
        home, teacher = ("", TEACHER) if own else (language.name, f"{language.name}-{TEACHER}")
        for where, page in (
            (home, linked_page(results, addresses, language, teacher, public_url)),
            (teacher, teachers_page(results, addresses, language, home or "./")),
        ):
            assets[where] = Asset("text/html; charset=utf-8", page.encode(), linked_policy())
    return assets


def server(
    port: int, address: str, origins: list[str], public_url: str = "", processes: int = 1
) -> Server:
    """Return a server, listening but not yet running; port 0 takes any that is free.

    ``origins`` are further hosts from whose pages a session may be opened, and ``public_url`` is
    where all the world finds the page. Raises ``ResultsError`` (see :func:`prepare`), and
    ``OSError`` if the port cannot be had. With more than one of ``processes`` it returns in each of
    them but the first, which only sees to it that they run.
    """
    assets = prepare(public_url)
    paths = "|".join(re.escape(path) for path in assets if not path.startswith("assets/"))
    serving = pn.io.server.get_server(
        {"panel": Plate},
        port=port,
        address=address,
        num_procs=processes,
        check_unused_sessions_milliseconds=SESSION_KEPT_MS,
        unused_session_lifetime_milliseconds=SESSION_KEPT_MS,
        websocket_origin=origins or None,
        http_server_kwargs={"max_body_size": MOST_BODY_BYTES},
        extra_patterns=[
            (rf"/((?:assets/.*)?|{paths})", AssetHandler, {"assets": assets}),
            (f"/{FILM_ADDRESS}", FilmHandler),
            *patterns(DESK, ANSWERS_ADDRESS),
            # Panel before 1.9.5 imports any module that an address here names, and the plate's
            # component has no files there.
            (r"/components/.*", NothingHandler),
        ],
        default_handler_class=NothingHandler,
    )
    # Its own pages may open sessions as well. Which port was had is known only now, and Bokeh has
    # no other way to say it: a port that is looked for, freed and then asked for may be gone.
    own = {"localhost", "127.0.0.1", *([] if address in EVERY_ADDRESS else [address])}
    serving._tornado.websocket_origins.update(f"{host}:{serving.port}" for host in own)
    return serving
