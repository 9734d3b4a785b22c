"""The teacher's page, and its presets as links: beside the plate, and within a file."""

import pytest
from playwright.sync_api import expect

from browser.conftest import LOOKING
from browser.expected import wait_for_words
from browser.hands import put
from browser.test_accessibility import violations
from browser.visits import PHONE, Visits
from kvsim_app.assets import TEACHER, inlined_page
from kvsim_app.lessons import LESSONS
from kvsim_app.results.files import load_results
from kvsim_app.settings import Settings

PRESETS = {preset["name"]: preset["settings"] for preset in LESSONS["presets"]}


@pytest.fixture(scope="module")
def shared(browser, plate):
    """One page for all presets."""
    visits = Visits(browser, plate, LOOKING)
    yield visits, visits.open(ready=False)
    visits.close()


def test_the_page_leads_to_the_teachers_and_back(visits, page):
    page.locator("#to-teacher").click()
    page.wait_for_url(f"{visits.plate}{TEACHER}")
    page.get_by_role("link", name="Back to the plate").click()
    page.wait_for_url(visits.plate)


def test_a_preset_opens_the_plate_at_its_settings(shared):
    visits, page = shared
    # One whose lengths, one whose switch, one whose reservation is not the plate's own; what all of
    # them say and set is compared in tests/test_lessons.py.
    for name in ("code", "charge", "oracle"):
        page.goto(visits.plate + TEACHER)
        page.locator(f"#preset-{name}").click()
        page.wait_for_selector("html[data-ready]", state="attached")
        wait_for_words(page, **PRESETS[name])
        assert page.inner_text("#notice") == "", name


def test_axe_finds_nothing_on_the_teachers_page(shared):
    visits, page = shared
    page.goto(visits.plate + TEACHER)
    page.emulate_media(color_scheme="dark")
    assert violations(page) == []
    page.set_viewport_size(PHONE["viewport"])
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= PHONE["viewport"]["width"]


def test_a_file_of_ones_own_has_the_teachers_page_inside(visits, tmp_path):
    place = tmp_path / "plate.html"
    place.write_text(inlined_page(load_results(), Settings()), "utf-8")
    visits.hosts.add("")
    page = visits.open(ready=False)
    page.goto(place.as_uri())
    page.wait_for_selector("html[data-films]", state="attached")
    page.locator("#to-teacher").click()
    expect(page.locator("#teacher-heading")).to_be_in_viewport()
    asked = len(visits.requests)
    for name in ("charge", "longest", "plate"):
        put(page, rate=33)
        page.locator(f"#preset-{name}").click()
        wait_for_words(page, **PRESETS[name])
        expect(page.locator("#block-size")).to_be_in_viewport()
    # Nothing was loaded again: the links move the controls.
    assert len(visits.requests) == asked
