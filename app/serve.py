"""The served page: rendered once, compressed once, and sent as it is to everybody.

Panel's server runs it. The plate needs no session; at /panel the same plate is a Panel component
in one, for what needs Python.
"""

import asyncio
import gzip
import hashlib
import mimetypes
from functools import lru_cache
from pathlib import Path
from typing import Any

import panel as pn
from bokeh.server.server import Server
from tornado.web import RequestHandler

from .assets import FILM_ADDRESS, SCRIPTS, STYLE, linked_page
from .atlas import AtlasError, load
from .atlas_build import current_fingerprint
from .films import make_films, to_bytes
from .paper_store import check_current
from .paper_store import load as load_paper
from .paths import ATLAS, FILMS, PAPER
from .plate import Plate
from .settings import Choice, choices


class Asset:
    """A file as it is sent: its type, its bytes plain and compressed, and a tag of its content."""

    def __init__(self, content_type: str, body: bytes) -> None:
        self.content_type = content_type
        self.body = body
        self.zipped = gzip.compress(body, 9, mtime=0)
        self.tag = hashlib.sha256(body).hexdigest()[:16]


class AssetHandler(RequestHandler):
    """Sends prepared assets; one whose path names its content never goes stale."""

    def initialize(self, assets: dict[str, Asset]) -> None:
        """Take the assets by path."""
        self.assets = assets

    def get(self, path: str) -> None:
        """Send one, compressed if the reader takes that, or a sentence if there is none."""
        asset = self.assets.get(path)
        if asset is None:
            self.set_status(404)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish("There is nothing at this address; the plate is at /.\n")
            return
        lasting = asset.tag in path
        self.set_header("Content-Type", asset.content_type)
        self.set_header("Cache-Control", "max-age=31536000, immutable" if lasting else "no-cache")
        self.set_header("Vary", "Accept-Encoding")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Etag", f'"{asset.tag}"')
        if self.check_etag_header():
            self.set_status(304)
            self.finish()
        elif "gzip" in self.request.headers.get("Accept-Encoding", ""):
            self.set_header("Content-Encoding", "gzip")
            self.finish(asset.zipped)
        else:
            self.finish(asset.body)

    def head(self, path: str) -> None:
        """Send the headers alone."""
        self.get(path)


class FilmHandler(RequestHandler):
    """Makes the films of any settings that the controls offer: ``film?block=16&rate=17&...``."""

    async def get(self) -> None:
        """Send them in the form of the kept ones, or say what is wrong with the settings."""
        try:
            chosen = tuple((name, self._value(choice)) for name, choice in choices())
        except ValueError as error:
            self.set_status(400)
            self.set_header("Content-Type", "text/plain; charset=utf-8")
            self.finish(f"{error}\n")
            return
        films = await asyncio.to_thread(_film_bytes, chosen)
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Cache-Control", "max-age=3600")
        self.finish(films)

    def _value(self, choice: Choice) -> Any:
        text = self.get_query_argument(choice.key, f"{choice.default:g}")
        for value in choice.objects:
            if text == f"{value:g}":
                return value
        raise ValueError(f"{choice.key} is {text[:40]!r}: it can be {choice.allowed}.")


@lru_cache(maxsize=256)
def _film_bytes(chosen: tuple[tuple[str, Any], ...]) -> bytes:
    return to_bytes(make_films({name: [value] for name, value in chosen}))


def prepare() -> dict[str, Asset]:
    """Render and compress the page and its files, by path.

    Raises ``AtlasError`` if the atlas is missing or damaged, or was built from other model code,
    and ``PaperError`` if that is so of the paper's figures.
    """
    atlas = load(ATLAS)
    if atlas.fingerprint != current_fingerprint():
        raise AtlasError(
            "The atlas was built from other model code than is here, so its numbers may be "
            "wrong: build it again with `kvsim atlas`."
        )
    check_current(load_paper(PAPER))
    assets = {}
    addresses = {}
    for path in (STYLE, *SCRIPTS, ATLAS, FILMS):
        asset = Asset(_content_type(path), path.read_bytes())
        addresses[path] = f"assets/{asset.tag}/{path.name}"
        assets[addresses[path]] = asset
    page = linked_page(atlas, addresses)
    return {"": Asset("text/html; charset=utf-8", page.encode())} | assets


def _content_type(path: Path) -> str:
    kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    return f"{kind}; charset=utf-8" if kind.startswith("text/") else kind


def server(port: int, address: str) -> Server:
    """Return a server, listening but not yet running; port 0 takes any that is free.

    Raises ``AtlasError`` and ``PaperError`` (see :func:`prepare`), and ``OSError`` if the port
    cannot be had.
    """
    assets = prepare()
    return pn.io.server.get_server(
        {"panel": Plate},
        port=port,
        address=address,
        extra_patterns=[
            (r"/((?:assets/.*)?)", AssetHandler, {"assets": assets}),
            (f"/{FILM_ADDRESS}", FilmHandler),
        ],
    )
