"""Readers by the dozen: each fetches the page and everything that it links, as a browser does."""

import asyncio
import gzip
import json
import re
import time
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import urlsplit

import own_loop
from page_text import Page

CONNECTIONS = 6  # of a browser to one host


@dataclass
class Visit:
    """What a reader got: status and decoded body by path, and the seconds until all was there."""

    answers: dict
    seconds: float


class Line:
    """One connection, kept open, on which one request goes at a time."""

    def __init__(self, host, reader, writer):
        self.host = host
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, host):
        name, port = host.split(":")
        return cls(host, *await asyncio.open_connection(name, int(port)))

    async def get(self, path):
        """Status and body of an answer; its length must be what its headers say."""
        self.writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\nAccept-Encoding: gzip\r\n\r\n".encode()
        )
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = int(re.search(r"(?im)^content-length: (\d+)", head)[1])
        body = await self.reader.readexactly(length)
        if re.search(r"(?im)^content-encoding: gzip", head):
            body = gzip.decompress(body)
        return int(head.split()[1]), body

    async def close(self):
        self.writer.close()
        await self.writer.wait_closed()


@lru_cache(maxsize=1)  # parsing is no browser's way to spend that long
def linked(html):
    """The paths of everything that a page brings along."""
    page = Page(html)
    found = [element["src"] for element in page.all("script", src=...)]
    found += [element["href"] for element in page.all("link", rel="stylesheet")]
    files = json.loads(page.one("script", id="plate-data").text)["files"]
    found += [*files["atlases"].values(), files["films"]]
    return [f"/{address}" for address in dict.fromkeys(found)]


async def visit(host):
    """Open the page: its text first, then all else over several connections."""
    began = time.perf_counter()
    lines = [await Line.open(host)]
    answers = {"/": await lines[0].get("/")}
    waiting = linked(answers["/"][1].decode())[::-1]
    lines += await asyncio.gather(*(Line.open(host) for _ in range(CONNECTIONS - 1)))

    async def fetch(line):
        while waiting:
            path = waiting.pop()
            answers[path] = await line.get(path)

    await asyncio.gather(*(fetch(line) for line in lines))
    seconds = time.perf_counter() - began
    await asyncio.gather(*(line.close() for line in lines))
    return Visit(answers, seconds)


def visits(url, count, within_s=0):
    """The visits of readers who come at even distances within some seconds."""
    host = urlsplit(url).netloc

    async def come(number):
        await asyncio.sleep(within_s * number / count)
        return await visit(host)

    async def all_visits():
        return await asyncio.gather(*(come(number) for number in range(count)))

    return own_loop.run(all_visits())
