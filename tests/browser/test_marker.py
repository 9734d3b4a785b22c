"""The marker in the right chart: dragged in the chart itself, with the mouse and with a finger."""

import pytest

from browser.expected import check_page, picture, wait_for_picture
from browser.hands import Finger, held, middle
from browser.visits import PHONE


def handle(page):
    return page.locator(".marker-handle")


def place_of(page, rate):
    """Where a rate lies in the right chart, read off Bokeh's own scale."""
    return page.evaluate(
        """rate => {
          const view = [...Bokeh.index].find((each) => each.model.name === "ttft");
          return view.el.getBoundingClientRect().left + view.frame.x_scale.compute(rate);
        }""",
        rate,
    )


def test_the_mouse_drags_the_marker(page):
    before = picture(page, "ttft-chart")
    x, y = middle(handle(page).bounding_box())
    with held(page, x, y):
        for rate in (19, 30, 40, 1):
            page.mouse.move(place_of(page, rate), y, steps=3)
            check_page(page, rate=rate)
            before = wait_for_picture(page, "ttft-chart", before)
            assert handle(page).inner_text().split()[0] == str(rate)
            # The handle stands over its rate, if not in its middle near the chart's ends.
            box = handle(page).bounding_box()
            assert box["x"] <= place_of(page, rate) <= box["x"] + box["width"]


def test_the_line_below_the_handle_can_be_taken_too(page):
    _, top = middle(handle(page).bounding_box())
    with held(page, place_of(page, 18), top + 90):
        page.mouse.move(place_of(page, 25), top + 90, steps=3)
        check_page(page, rate=25)


def test_a_press_far_from_the_marker_moves_nothing(page):
    _, top = middle(handle(page).bounding_box())
    with held(page, place_of(page, 30), top + 60):
        page.mouse.move(place_of(page, 35), top + 60, steps=3)
        check_page(page)


def test_beyond_the_axis_the_marker_stays_at_its_end(page):
    x, y = middle(handle(page).bounding_box())
    with held(page, x, y):
        page.mouse.move(x + 2000, y, steps=3)
        check_page(page, rate=40)
        page.mouse.move(x - 2000, y, steps=3)
        check_page(page, rate=1)


def test_a_release_ends_the_drag(page):
    x, y = middle(handle(page).bounding_box())
    with held(page, x, y):
        page.mouse.move(place_of(page, 20), y, steps=3)
    check_page(page, rate=20)
    page.mouse.move(place_of(page, 30), y, steps=3)
    check_page(page, rate=20)


def test_a_finger_drags_the_marker(visits):
    page = visits.open(**PHONE)
    handle(page).scroll_into_view_if_needed()
    x, y = middle(handle(page).bounding_box())
    finger = Finger(page)
    finger.down(x, y)
    for rate in (19, 22, 30):
        finger.move(place_of(page, rate), y)
        check_page(page, rate=rate)
    finger.up()
    check_page(page, rate=30)


@pytest.mark.parametrize("chart", ["capacity-chart", "ttft-chart", "cache-contiguous"])
def test_a_finger_on_a_chart_scrolls_the_page(visits, chart):
    page = visits.open(**PHONE)
    page.locator(f"#{chart}").scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    box = page.locator(f"#{chart}").bounding_box()
    # Beside the marker's line, which takes a finger.
    x, y = box["x"] + 0.75 * box["width"], box["y"] + 0.8 * box["height"]
    finger = Finger(page)
    finger.down(x, y)
    for step in range(1, 12):
        finger.move(x, y - 12 * step)
    page.wait_for_function("before => scrollY > before + 40", arg=before)
    finger.up()
    check_page(page)


def test_a_finger_on_the_marker_scrolls_the_page_as_well(visits):
    page = visits.open(**PHONE)
    handle(page).scroll_into_view_if_needed()
    before = page.evaluate("scrollY")
    x, y = middle(handle(page).bounding_box())
    finger = Finger(page)
    finger.down(x, y)
    for step in range(1, 12):
        finger.move(x, y - 12 * step)
    page.wait_for_function("before => scrollY > before + 40", arg=before)
    finger.up()
    check_page(page)
