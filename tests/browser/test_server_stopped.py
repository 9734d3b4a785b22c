"""Dragging never waits for the server: with the server gone, the page answers as before."""

from urllib.error import URLError
from urllib.request import urlopen

import pytest
from serving import serving

from browser.expected import check_page, picture, wait_for_picture
from browser.hands import held, middle, slider, switch, thumb

DRAWN = ("capacity-chart", "ttft-chart", "cache-contiguous", "cache-paged")


@pytest.fixture
def orphan(visits):
    """The page, loaded from a server that has been stopped since."""
    with serving() as served:
        visits.hosts.add(served.url.split("/")[2])
        page = visits.open(ready=False)
        visits.go(page, served.url)
        page.wait_for_selector("html[data-films]", state="attached")
        served.stop()
    with pytest.raises(URLError):
        urlopen(served.url)
    visits.requests.clear()
    yield page
    # Asked for in vain: the film of what is not kept. The browser says so; nothing waits for it.
    asked = [*visits.requests, *visits.complaints]
    assert [each for each in asked if "/film?" not in each] == [], "after loading"
    visits.complaints.clear()


def nearest_kept(position):
    """Where the film is that is shown: at another rate, if need be."""
    rate = position.get("rate", 18)
    return {**position, "rate": rate - rate % 2 if rate > 1 else rate}


def test_everything_follows_the_mouse(orphan):
    before = {element: picture(orphan, element) for element in DRAWN}
    position = {}
    for name, start, end in (
        ("block_size", 16, 128),
        ("max_length", 8192, 2048),
        ("rate", 18, 27),
    ):
        position[name] = end
        with held(orphan, *thumb(orphan, name, start)):
            orphan.mouse.move(*thumb(orphan, name, end), steps=4)
            check_page(orphan, filmed=nearest_kept(position), **position)
    for element in DRAWN:
        wait_for_picture(orphan, element, before[element])


def test_everything_follows_the_keyboard(orphan):
    before = {element: picture(orphan, element) for element in DRAWN}
    slider(orphan, "block_size").press("End")
    slider(orphan, "max_length").press("Home")
    slider(orphan, "rate").press("ArrowLeft")
    switch(orphan).press("Space")
    check_page(orphan, block_size=256, max_length=1024, rate=17, block_overhead=3.7)
    for element in DRAWN:
        wait_for_picture(orphan, element, before[element])
    orphan.get_by_role("button", name="Reset").click()
    check_page(orphan)


def test_the_marker_follows_the_mouse(orphan):
    x, y = middle(orphan.locator(".marker-handle").bounding_box())
    with held(orphan, x, y):
        orphan.mouse.move(x + 2000, y, steps=4)
        check_page(orphan, rate=40)
