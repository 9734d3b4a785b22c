"""Without the server the page answers as before; what it makes comes when it is back."""

from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from film_reading import film_bytes
from playwright.sync_api import expect
from serving import SERVE, serving

from browser.expected import check_page, picture, wait_for_picture
from browser.filmed import END_S, both, unanswered, wait_for_counts, wait_for_films
from browser.hands import choose, held, middle, slider, switch, thumb
from kvsim_app import words
from kvsim_app.results.container import pack, unpack
from kvsim_app.settings import values

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
    expect(orphan.locator("#film-note")).to_have_text(unanswered("film_missing"))
    for element in DRAWN:
        wait_for_picture(orphan, element, before[element])
    orphan.get_by_role("button", name="Reset").click()
    check_page(orphan)


def test_a_rate_without_a_film_has_the_nearest_one(orphan):
    slider(orphan, "rate").press("ArrowRight")
    check_page(orphan, film=False, rate=19)
    expect(orphan.locator("#film-note")).to_have_text(
        unanswered("film_rate", film_rate=words.rate(18))
    )
    slider(orphan, "rate").press("ArrowRight")
    check_page(orphan, rate=20)
    expect(orphan.locator("#film-note")).to_have_text("")


def test_a_reservation_is_answered_too(orphan):
    choose(orphan, "reservation", "firstfit-oracle")
    check_page(orphan, film=False, reservation="firstfit-oracle")
    expect(orphan.locator("#film-note")).to_have_text(unanswered("film_blank"))


def test_the_marker_follows_the_mouse(orphan):
    x, y = middle(orphan.locator(".marker-handle").bounding_box())
    with held(orphan, x, y):
        orphan.mouse.move(x + 2000, y, steps=4)
        check_page(orphan, rate=40)


def test_the_film_comes_when_the_server_is_back(visits):
    """By itself: the reader stays where the slider was left."""
    with serving() as served:
        visits.hosts.add(urlsplit(served.url).netloc)
        page = visits.open(ready=False)
        visits.go(page, served.url)
        wait_for_films(page)
        served.stop()
    with page.expect_event("requestfailed", lambda request: "/film?" in request.url):
        slider(page, "rate").press("ArrowRight")
    note = page.locator("#film-note")
    expect(note).to_have_text(unanswered("film_rate", film_rate=words.rate(18)))
    check_page(page, film=False, rate=19)
    with serving((*SERVE, "--port", str(urlsplit(served.url).port))):
        expect(note).to_have_text("")
        wait_for_counts(page, both(rate=19), END_S)
        check_page(page, rate=19)
        # What is asked for next is there at once.
        slider(page, "rate").fill(str(values("rate").index(21)))
        wait_for_counts(page, both(rate=21), END_S)
    assert all("ERR_CONNECTION_REFUSED" in each for each in visits.complaints)
    visits.complaints.clear()


def test_a_film_of_other_model_code_is_not_shown(visits):
    """As a server makes them that was restarted with another version."""
    page = visits.open(ready=False)
    header, arrays = unpack(film_bytes(rate=19))
    other = pack(header | {"fingerprint": "of other code"}, arrays)
    page.context.route("**/film?*", lambda route: route.fulfill(body=other))
    visits.go(page)
    wait_for_films(page)
    slider(page, "rate").press("ArrowRight")
    expect(page.locator("#film-note")).to_have_text(
        unanswered("film_rate", film_rate=words.rate(18))
    )
    wait_for_counts(page, both(rate=18), END_S)


def test_a_page_with_the_component_goes_on_too(visits):
    """Its session is lost with the server; the plate within needs none."""
    with serving() as served:
        visits.hosts.add(urlsplit(served.url).netloc)
        page = visits.open(ready=False)
        page.goto(f"{served.url}panel")
        frame = page.frame_locator("iframe")
        frame.locator("html[data-films]").wait_for(state="attached")
        served.stop()
        (plate,) = page.frames[1:]
        slider(plate, "rate").fill(str(values("rate").index(30)))
        check_page(plate, rate=30)
    visits.complaints.clear()  # Panel's own page says that the connection is lost
