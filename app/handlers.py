"""What the server answers: prepared files as they are, and films of any settings."""

import asyncio
import gzip
import hashlib
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs

from tornado.web import RequestHandler

from . import link
from .results.films import make_films, to_bytes
from .settings import NAMES

NOTHING = "There is nothing at this address; the plate is at /."


class Asset:
    """A file as it is sent: its type, its bytes plain and compressed, and a tag of its content."""

    def __init__(self, content_type: str, body: bytes, policy: str = "") -> None:
        self.content_type = content_type
        self.body = body
        self.policy = policy  # content security policy, for a page
        self.zipped = gzip.compress(body, 9, mtime=0)
        self.tag = hashlib.sha256(body).hexdigest()[:16]


class PlainHandler(RequestHandler):
    """Says what is wrong with a request in one sentence of plain text."""

    def set_default_headers(self) -> None:
        """Nothing here is to be taken for something else."""
        self.set_header("X-Content-Type-Options", "nosniff")

    def refuse(self, status: int, sentence: str) -> None:
        """Answer with a sentence and a status, and nothing else."""
        self.set_status(status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{sentence}\n")

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Say what Tornado has against a request, or that the server has failed."""
        if status_code == 405:
            self.refuse(405, "This address can only be read, with GET.")
        elif status_code < 500:
            self.refuse(status_code, "This is no request that the plate understands.")
        else:
            self.refuse(status_code, "The server could not answer this; its log says why.")


class NothingHandler(PlainHandler):
    """Answers at every address that has no other handler."""

    def prepare(self) -> None:
        """Say so, whatever was asked."""
        self.refuse(404, NOTHING)


class AssetHandler(PlainHandler):
    """Sends prepared assets; one whose path names its content never goes stale."""

    def initialize(self, assets: dict[str, Asset]) -> None:
        """Take the assets by path."""
        self.assets = assets

    def get(self, path: str) -> None:
        """Send one, compressed if the reader takes that, or a sentence if there is none."""
        asset = self.assets.get(path)
        if asset is None:
            self.refuse(404, NOTHING)
            return
        lasting = asset.tag in path
        self.set_header("Content-Type", asset.content_type)
        self.set_header("Cache-Control", "max-age=31536000, immutable" if lasting else "no-cache")
        self.set_header("Vary", "Accept-Encoding")
        # A page in a sandboxed frame has no origin; what is here is for everybody.
        self.set_header("Access-Control-Allow-Origin", "*")
        self.set_header("Etag", f'"{asset.tag}"')
        if asset.policy:
            self.set_header("Content-Security-Policy", asset.policy)
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


class FilmHandler(PlainHandler):
    """Makes the films of any settings that the controls offer: ``film?block=16&rate=17&...``."""

    async def get(self) -> None:
        """Send them in the form of the kept ones, or say what is wrong with the settings."""
        try:
            # What is no UTF-8 is no value either, and is said to be none.
            given = parse_qs(self.request.query, keep_blank_values=True, errors="replace")
            settings = link.settings({key: values[0] for key, values in given.items()})
            chosen = tuple((name, getattr(settings, name)) for name in NAMES)
        except ValueError as error:
            self.refuse(400, str(error))
            return
        films = await asyncio.to_thread(_film_bytes, chosen)
        self.set_header("Content-Type", "application/octet-stream")
        self.set_header("Cache-Control", "max-age=3600")
        self.set_header("Access-Control-Allow-Origin", "*")
        self.finish(films)


@lru_cache(maxsize=256)
def _film_bytes(chosen: tuple[tuple[str, Any], ...]) -> bytes:
    return to_bytes(make_films({name: [value] for name, value in chosen}))
