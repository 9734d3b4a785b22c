"""Somebody else's site, of another origin, which may hold the plate in a frame."""

from contextlib import contextmanager
from functools import partial
from html import escape
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


def lesson(body):
    """A page of somebody's that asks for nothing by itself."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>A lesson</title>'
        f'<link rel="icon" href="data:,"><h1>A lesson</h1>{body}'
    )


def frame_of(page, attributes=""):
    """A frame that holds a page in itself."""
    return f'<iframe {attributes} title="Plate" width="1200" height="780" srcdoc="{escape(page)}">'


@contextmanager
def host(html, headers=None):
    """Serve one page from another origin; yield its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = html.encode()
            self.send_response(200)
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with _running(Handler) as address:
        yield address


@contextmanager
def folder_served(folder):
    """Serve a folder, such as a site that was built; yield its address."""

    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    with _running(partial(Handler, directory=str(folder))) as address:
        yield address


@contextmanager
def _running(handler):
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()
