"""What readers cost: seconds until they have the page, memory of a session, and what is left.

    python -m pytest tests/benchmarks/test_readers.py

Readers and server share the machine, so the times are those of both. What is counted is asserted;
the times, and memory where it is not about growth, are printed.
"""

import statistics
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event, Thread
from urllib.parse import urlsplit

import pytest
from browser.launching import launch
from counting import COUNTING, counts, wait_until_gone
from playwright.sync_api import sync_playwright
from readers import visits
from serving import SERVE, serving
from sessions import opened

PAGES = 5  # in a real browser
CYCLES = 500
WARM_UP = 100
# Of the whole process: about a hundredth of what the sessions had in memory together, and less
# than one of the objects that each was made of.
GROWTH_BYTES = 16e6
GROWTH_OBJECTS = CYCLES / 2


# Seconds from when a page was asked for until it answers, and until it has its films.
WATCH = """
window.reached = {};
new MutationObserver(() => {
  for (const mark of Object.keys(document.documentElement.dataset)) {
    window.reached[mark] ??= performance.now() / 1000;
  }
}).observe(document, { attributes: true, subtree: true });
"""


@pytest.fixture
def show(capsys):
    def say(text):
        with capsys.disabled():
            print(f"\n{text}", end="")

    return say


def spread(seconds):
    """Median and longest of some times."""
    return f"median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s"


@pytest.fixture(scope="module")
def url():
    """A server as it is started by default, with an address that tells what it holds."""
    with serving(COUNTING) as served:
        yield served.url


@pytest.mark.parametrize(
    ("count", "within_s"), [(1, 0), (50, 0), (50, 1), (200, 0), (200, 10)], ids=str
)
@pytest.mark.parametrize("processes", [1, 2])
def test_readers_of_the_page(show, processes, count, within_s):
    with serving((*SERVE, "--num-procs", str(processes))) as served:
        got = visits(served.url, count, within_s)
    assert all(status == 200 for each in got for status, _ in each.answers.values())
    assert len({frozenset(each.answers.items()) for each in got}) == 1
    seconds = [each.seconds for each in got]
    show(f"{processes} process(es), {count} readers within {within_s} s: {spread(seconds)}")


def test_pages_in_a_browser_among_fifty_readers(show, url):
    """Real pages open while the others come; each answers and has its films."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        pages = [browser.new_context().new_page() for _ in range(PAGES)]
        for page in pages:
            page.add_init_script(WATCH)
        crowd = Thread(target=visits, args=(url, 50 - PAGES, 1))
        crowd.start()
        for page in pages:
            page.goto(url, wait_until="commit")
        for page in pages:
            page.wait_for_selector("html[data-films]", state="attached")
        crowd.join()
        for mark in ("ready", "films"):
            seconds = [page.evaluate("mark => reached[mark]", mark) for page in pages]
            show(f"{PAGES} pages in Chromium among 50 readers, until {mark}: {spread(seconds)}")
        browser.close()


def test_memory_of_a_session(show, url):
    host = urlsplit(url).netloc
    with opened(host):
        pass
    before = wait_until_gone(url, "sessions")
    with ExitStack() as stack:
        for _ in range(20):
            stack.enter_context(opened(host))
        during = counts(url)
    assert during["sessions"] == 20
    each = (during["memory_bytes"] - before["memory_bytes"]) / 20
    show(f"memory of a session: {each / 1e6:.1f} MB")


def test_the_page_while_sessions_open(show, url):
    """Fifty sessions at once, and somebody who opens the page again and again meanwhile."""
    host = urlsplit(url).netloc
    done = Event()
    seconds = []

    def come():
        while not done.is_set():
            seconds.extend(each.seconds for each in visits(url, 1))

    def open_one(_):
        with opened(host) as session:
            return "srcdoc" in session.document.roots[0].text

    reader = Thread(target=come)
    reader.start()
    with ThreadPoolExecutor(10) as readers:
        assert all(readers.map(open_one, range(50)))
    done.set()
    reader.join()
    show(f"the page while 50 sessions open, 10 at a time: {spread(seconds)}")


def test_sessions_that_come_and_go_leave_nothing(show, url):
    """Each moves its document, so that something goes either way, and is closed."""
    host = urlsplit(url).netloc

    def cycle(times):
        for number in range(times):
            with opened(host) as session:
                session.document.roots[0].height = 900 + number
                session.force_roundtrip()
        return wait_until_gone(url, "sessions", "connections")

    before = cycle(WARM_UP)
    after = cycle(CYCLES)
    growth = {name: after[name] - before[name] for name in after}
    show(f"after {CYCLES} sessions: {growth}")
    assert after["documents"] == before["documents"]
    assert growth["objects"] < GROWTH_OBJECTS
    assert growth["memory_bytes"] < GROWTH_BYTES
