"""Many at once: everybody is answered completely, and the server holds nothing of them after."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from counting import COUNTING, counts, wait_until_gone
from readers import linked, visits
from serving import serving
from sessions import opened
from test_serve import ask

SESSION_KEPT_MS = "500"  # less than usual: the tests wait for it


@pytest.fixture(scope="module")
def url():
    with serving((*COUNTING, SESSION_KEPT_MS)) as served:
        yield served.url


def test_fifty_who_come_at_once_get_everything(url):
    html = urlopen(url).read().decode()
    wanted = {path: urlopen(url + path[1:]).read() for path in ("/", *linked(html))}
    assert len(wanted) > 20
    wait_until_gone(url, "connections")
    before = counts(url)
    for visit in visits(url, 50):
        assert visit.answers == {path: (200, body) for path, body in wanted.items()}
    after = wait_until_gone(url, "connections")
    assert after["sessions"] == 0, "the page needs none"
    assert after["documents"] == before["documents"]
    # Some of Python's own caches grow; anything kept of a request would be more than this.
    assert after["objects"] - before["objects"] < 50 * len(wanted)


def test_sessions_at_once_leave_nothing(url):
    """Ten readers of the Panel component, who see it and close it."""
    host = urlsplit(url).netloc
    with opened(host):
        pass
    before = wait_until_gone(url, "sessions", "connections")
    with ThreadPoolExecutor(10) as readers:
        sessions = [opened(host) for _ in range(10)]
        documents = [each.document for each in readers.map(lambda one: one.__enter__(), sessions)]
        assert counts(url)["sessions"] == 10
        assert all("srcdoc" in document.roots[0].text for document in documents)
        for session in sessions:
            session.__exit__(None, None, None)
    after = wait_until_gone(url, "sessions", "connections")
    assert after["documents"] == before["documents"]
    assert after["objects"] - before["objects"] < 10 * 100


def test_sessions_that_nobody_connects_to_are_given_up(url):
    """Such as a crawler's, that asks for the text alone."""
    for _ in range(5):
        assert b'"token"' in ask(urlsplit(url).netloc, "/panel").body
    wait_until_gone(url, "sessions")
