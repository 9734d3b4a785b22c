"""Sessions of the Panel component, opened as its page does: a token first, then a WebSocket."""

import re
from contextlib import contextmanager

import panel  # noqa: F401, so that the client knows the models of Panel
from bokeh.client import pull_session
from bokeh.util.token import get_session_id
from test_serve import ask


@contextmanager
def opened(host):
    """A new session, with its document; the WebSocket is closed at the end of the block."""
    token = re.search(rb'"token":"([^"]+)"', ask(host, "/panel").body)[1].decode()
    session = pull_session(url=f"http://{host}/panel", session_id=get_session_id(token))
    try:
        yield session
    finally:
        session.close()
