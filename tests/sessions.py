"""Sessions of the Panel component, opened as its page does: a token first, then a WebSocket."""

import asyncio
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import panel  # noqa: F401, so that the client knows the models of Panel
from bokeh.client import pull_session
from bokeh.util.token import get_session_id
from test_serve import ask


@contextmanager
def opened(host):
    """A new session, with its document; the WebSocket is closed at the end of the block."""
    token = re.search(rb'"token":"([^"]+)"', ask(host, "/panel").body)[1].decode()
    # In a thread of its own: the caller's may have an event loop at work, such as a browser's.
    with ThreadPoolExecutor(1) as thread:
        session = thread.submit(_session, f"http://{host}/panel", get_session_id(token)).result()
        try:
            yield session
        finally:
            thread.submit(session.close).result()


def _session(url, session_id):
    asyncio.set_event_loop(asyncio.new_event_loop())
    return pull_session(url=url, session_id=session_id)
