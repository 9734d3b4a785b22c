"""Where things stand: on a laptop, on a phone, on paper, and before any script has arrived."""

import re

import pytest
from playwright.sync_api import expect

from browser.expected import check_page
from browser.hands import slider, switch
from browser.visits import PHONE

CHARTS = ("capacity-chart", "ttft-chart")
DRAWN = (*CHARTS, "cache-contiguous", "cache-paged")


def box(page, selector):
    return page.locator(selector).bounding_box()


def sideways_px(page):
    """How much wider the page is than the screen; a phone's own innerWidth grows with the page."""
    return page.evaluate("document.documentElement.scrollWidth") - page.viewport_size["width"]


def check_drawn(page):
    """Nothing that is drawn is missing, empty, or of one colour."""
    for element in DRAWN:
        page.wait_for_function("id => looking.colours(id) > 3", arg=element)


def test_the_workshop_stands_in_a_laptops_first_screen(page):
    for selector in ("#block-size", "#max-length", "#rate", *(f"#{chart}" for chart in CHARTS)):
        place = box(page, selector)
        assert place["y"] >= 0, selector
        assert place["y"] + place["height"] <= 800, selector
        assert place["x"] >= 0, selector
        assert place["x"] + place["width"] <= 1280, selector
    assert page.evaluate("scrollY") == 0
    left, right = (box(page, f"#{chart}") for chart in CHARTS)
    assert left["x"] + left["width"] <= right["x"], "the first chart is the left one"
    check_drawn(page)


def test_a_phone_is_wide_enough(visits):
    page = visits.open(**PHONE)
    assert sideways_px(page) <= 0
    check_drawn(page)
    page.get_by_text("The numbers as tables").click()
    slider(page, "max_length").press("End")
    slider(page, "rate").press("End")
    switch(page).press("Space")
    check_page(page, max_length=131072, rate=40, block_overhead=3.7)
    assert sideways_px(page) <= 0


def test_letters_twice_as_large_fit_a_phone(visits):
    page = visits.open(**{**PHONE, "viewport": {"width": 390, "height": 844}})
    page.add_style_tag(content="html { font-size: 200%; }")
    slider(page, "max_length").press("End")
    slider(page, "rate").press("End")
    assert sideways_px(page) <= 0


def test_nothing_stays_at_the_edge_of_a_chart(visits):
    """On a fine screen Bokeh leaves what stood in the first column of pixels."""
    page = visits.open(**PHONE)
    slider(page, "max_length").press("Home")
    slider(page, "rate").press("End")
    check_page(page, max_length=1024, rate=40)
    painted = page.evaluate(
        """() => looking.canvases("ttft-chart").flatMap((canvas) => {
          const { data } = canvas.getContext("2d").getImageData(0, 0, 1, canvas.height);
          return [...data].filter((value, index) => index % 4 === 3 && value);
        })"""
    )
    assert painted == []


def test_drawings_of_blocks_stand_still_from_step_to_step(visits):
    page = visits.open(**PHONE)
    step = page.locator("#sharing-step")
    page.wait_for_function("() => document.querySelector('#sharing-drawing svg')")
    tops = set()
    for place in range(int(step.get_attribute("max")) + 1):
        step.fill(str(place))
        tops.add(page.evaluate("document.getElementById('sharing-drawing').offsetTop"))
    assert len(tops) == 1


@pytest.mark.parametrize("options", [{}, PHONE], ids=["mouse", "finger"])
def test_controls_are_large_enough_to_grab(visits, options):
    page = visits.open(**options)
    for element in page.locator(
        "#controls input, #controls button, #controls select, .marker-handle"
    ).all():
        place = element.bounding_box()
        assert place["height"] >= 24, element
        assert place["width"] >= 24, element


def test_the_page_follows_the_windows_width_and_never_scrolls_sideways(page):
    for width in (320, 414, 600, 768, 1000, 1120, 1920, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for chart in CHARTS:
            page.wait_for_function(
                """id => {
                  const place = document.getElementById(id).getBoundingClientRect();
                  const [canvas] = looking.canvases(id);
                  return Math.abs(canvas.getBoundingClientRect().width - place.width) <= 2;
                }""",
                arg=chart,
            )
        assert sideways_px(page) <= 0, width
        for element in DRAWN:
            place = box(page, f"#{element}")
            assert place["x"] >= 0, (element, width)
            assert place["x"] + place["width"] <= width + 0.5, (element, width)
    check_drawn(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_can_be_printed(visits, scheme):
    page = visits.open(color_scheme=scheme)
    slider(page, "rate").press("End")
    check_page(page, rate=40)
    page.emulate_media(media="print")
    check_drawn(page)
    # Paper is white and type is black, whatever the screen's colours are.
    page.wait_for_function(
        "() => getComputedStyle(document.documentElement).color === 'rgb(0, 0, 0)'"
    )
    pdf = page.pdf(format="A4", print_background=True)
    assert pdf.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", pdf)) <= 14
    check_drawn(page)


def test_the_text_is_painted_before_any_script_has_loaded(visits):
    page = visits.open(ready=False)
    waiting = []
    page.context.route("**/*.js", lambda route: waiting.append(route))
    page.goto(visits.plate, wait_until="commit")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator(".lede")).to_be_visible()
    expect(page.locator("#essay p").first).to_be_visible()
    expect(page.locator("#readouts")).to_contain_text("333")
    page.wait_for_function(
        "() => performance.getEntriesByName('first-contentful-paint').length > 0"
    )
    assert page.evaluate("typeof Bokeh + typeof window.kvsim.Controls") == "undefinedundefined"
    assert waiting
    before = box(page, "#reading")
    page.context.unroute("**/*.js")
    for route in waiting:
        route.continue_()
    page.wait_for_selector("html[data-ready]", state="attached")
    check_page(page)
    # Nothing jumps when the charts come.
    assert box(page, "#reading") == before


def test_without_scripts_the_text_and_the_numbers_are_there(visits):
    page = visits.open(ready=False, java_script_enabled=False)
    page.goto(visits.plate)
    expect(page.locator("#readouts")).to_contain_text("333")
    expect(page.locator("#essay p").first).to_be_visible()
    expect(page.locator("#workshop .no-script")).to_be_visible()
    expect(page.locator("#your-server .no-script")).to_be_visible()
    expect(page.get_by_role("slider")).to_have_count(0)


def test_an_atlas_that_does_not_arrive_is_said(visits):
    page = visits.open(ready=False)
    page.context.route("**/atlas-*.bin", lambda route: route.fulfill(status=500))
    page.goto(visits.plate)
    expect(page.locator("#notice")).to_contain_text("HTTP 500")
    # The browser complains about the status itself; that is what was wanted here.
    assert len(visits.complaints) >= 1
    assert all("500" in complaint for complaint in visits.complaints)
    visits.complaints.clear()
