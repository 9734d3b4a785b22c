"""A browser, the served page, and visits to it that fail for what a reader would not notice."""

from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

# Before they are imported: so that their assertions say what differs.
pytest.register_assert_rewrite(
    *("serving", "browser.expected", "browser.own_server", "browser.visits")
)

from serving import serving  # noqa: E402

from browser.launching import launch  # noqa: E402
from browser.visits import PATIENCE_MS, Visits  # noqa: E402

expect.set_options(timeout=PATIENCE_MS)
LOOKING = Path(__file__).with_name("looking.js").read_text("utf-8")
FILMING = Path(__file__).with_name("filming.js").read_text("utf-8")


@pytest.fixture(scope="session")
def browser():
    """The browser that all tests share; there must be one (see tests/run.py)."""
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def plate():
    """The address of the served page."""
    with serving() as served:
        yield served.url


@pytest.fixture
def visits(browser, plate):
    """Open pages, each in a context of its own: ``visits.open("?rate=30", color_scheme="dark")``.

    At the end nothing may have been logged as an error, and no other host asked for anything.
    """
    visits = Visits(browser, plate, LOOKING)
    yield visits
    visits.close()


@pytest.fixture
def page(visits):
    """The page at the plate's own settings, ready, on a laptop's screen."""
    return visits.open()


@pytest.fixture(scope="module")
def seat(browser, plate):
    """A page that the tests of a module lead from address to address, with ``read``."""
    visits = Visits(browser, plate, LOOKING)
    yield visits, visits.open(ready=False)
    visits.close()


@pytest.fixture
def read(seat):
    """Read an address, ``read("?rate=30")``, as if never here before, in the module's one page.

    Where nothing but the address matters this is twice as quick as a page for each.
    """
    visits, page = seat

    def read(address=""):
        visits.go(page, address)
        return page

    yield read
    page.evaluate("localStorage.clear()")
    page.mouse.move(0, 0)
    visits.check()


@pytest.fixture(scope="session")
def workbench(browser, plate):
    """One page for all tests that use the page's own code, and not its controls."""
    visits = Visits(browser, plate, LOOKING + FILMING)
    yield visits.open()
    visits.close()
