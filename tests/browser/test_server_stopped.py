"""Dragging never waits for the server: with the server gone, the page answers as before."""

from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect
from serving import serving

from browser.expected import check_page, picture, wait_for_picture
from browser.hands import choose, held, middle, slider, switch, thumb
from kvsim_app import words

DRAWN = ("capacity-chart", "ttft-chart", "cache-contiguous", "cache-paged")


@pytest.fixture
def orphan(visits):
    """The page, loaded from a server that has been stopped since."""
    with serving() as served:
        visits.hosts.add(served.url.split("/")[2])
        page = visits.open()
        visits.go(page, served.url)
        page.wait_for_selector("html[data-films]", state="attached")
        served.stop()
    with pytest.raises(URLError):
        urlopen(served.url)
    visits.requests.clear()
    yield page
    asked = [url for url in visits.requests if not urlsplit(url).path.endswith("/film")]
    assert asked == [], "asked for after loading"
    # A film that is not kept is asked for in vain; the browser notes it, and the page says it.
    assert len(visits.complaints) <= len(visits.requests)
    assert all("ERR_CONNECTION_REFUSED" in each for each in visits.complaints)
    visits.complaints.clear()


def test_everything_follows_the_mouse(orphan):
    before = {element: picture(orphan, element) for element in DRAWN}
    position = {}
    for name, start, end in (
        ("block_size", 16, 128),
        ("max_length", 8192, 2048),
        ("rate", 18, 28),
    ):
        position[name] = end
        with held(orphan, *thumb(orphan, name, start)):
            orphan.mouse.move(*thumb(orphan, name, end), steps=4)
            check_page(orphan, **position)
    for element in DRAWN:
        wait_for_picture(orphan, element, before[element])


def test_everything_follows_the_keyboard(orphan):
    before = {element: picture(orphan, element) for element in DRAWN}
    slider(orphan, "block_size").press("End")
    slider(orphan, "max_length").press("Home")
    slider(orphan, "rate").press("ArrowLeft")
    switch(orphan).press("Space")
    check_page(orphan, film=False, block_size=256, max_length=1024, rate=17, block_overhead=3.7)
    expect(orphan.locator("#film-note")).to_have_text(words.fill("film_missing"))
    for element in DRAWN:
        wait_for_picture(orphan, element, before[element])
    orphan.get_by_role("button", name="Reset").click()
    check_page(orphan)


def test_a_rate_without_a_film_has_the_nearest_one(orphan):
    slider(orphan, "rate").press("ArrowRight")
    check_page(orphan, film=False, rate=19)
    expect(orphan.locator("#film-note")).to_have_text(
        words.fill("film_rate", film_rate=words.rate(18))
    )
    slider(orphan, "rate").press("ArrowRight")
    check_page(orphan, rate=20)
    expect(orphan.locator("#film-note")).to_have_text("")


def test_a_reservation_is_answered_too(orphan):
    choose(orphan, "reservation", "firstfit-oracle")
    check_page(orphan, film=False, reservation="firstfit-oracle")
    expect(orphan.locator("#film-note")).to_have_text(words.fill("film_blank"))


def test_the_marker_follows_the_mouse(orphan):
    x, y = middle(orphan.locator(".marker-handle").bounding_box())
    with held(orphan, x, y):
        orphan.mouse.move(x + 2000, y, steps=4)
        check_page(orphan, rate=40)
