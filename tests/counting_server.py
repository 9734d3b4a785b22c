"""Serves the page as ``kvsim serve`` does, and at /counts tells what it holds: JSON.

``counting_server.py [SESSION_KEPT_MS]``: how long a session is kept that nobody is connected to.

``sessions``, Bokeh ``documents``, all ``objects`` that Python's collector knows, open HTTP
``connections``, and the process's ``memory_bytes``.
"""

import gc
import re
import sys
from pathlib import Path

from bokeh.document import Document
from tornado.web import RequestHandler

from kvsim_app import serve
from kvsim_app.__main__ import main

server = serve.server


def memory_bytes():
    """What the process has in memory, by Linux's account; 0 elsewhere."""
    status = Path("/proc/self/status")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) * 1024 if found else 0


class Counts(RequestHandler):
    def initialize(self, serving):
        self.serving = serving

    def get(self):
        gc.collect()
        objects = gc.get_objects()
        self.finish(
            {
                "sessions": len(self.serving.get_sessions()),
                "documents": sum(isinstance(each, Document) for each in objects),
                "objects": len(objects),
                "connections": len(self.serving._http._connections),
                "memory_bytes": memory_bytes(),
            }
        )


def counting(*arguments):
    """A server with one address more."""
    serving = server(*arguments)
    serving._tornado.add_handlers(".*", [("/counts", Counts, {"serving": serving})])
    return serving


if __name__ == "__main__":
    serve.server = counting
    if sys.argv[1:]:
        serve.SESSION_KEPT_MS = int(sys.argv[1])
    main(["serve", "--port", "0"])
