"""Readers who hear the page, or use no mouse: axe-core, text alternatives, the order of tabs."""

import pytest
from axe_core_python.sync_playwright import Axe

from browser.expected import CONTROLS, SELECTS, check_page, wait_for_film, words_at
from browser.hands import slider
from browser.visits import PHONE


def violations(page, within=None):
    """What axe-core finds wrong, as one line each; in the whole page or ``within`` a part."""
    return [
        f"{violation['id']}: {violation['help']} {node['target']} {node.get('failureSummary', '')}"
        for violation in Axe().run(page, within)["violations"]
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize(
    "options", [{}, {"color_scheme": "dark"}, PHONE], ids=["light", "dark", "phone"]
)
def test_axe_finds_nothing(visits, options):
    page = visits.open(**options)
    page.get_by_text("The numbers as tables").click()
    page.locator("#ttft-table").wait_for()
    page.get_by_text("The bars as tables").click()
    page.locator("#shares-table").wait_for()
    assert violations(page) == []


def test_axe_finds_nothing_with_a_notice_and_other_settings(visits):
    page = visits.open(
        "?rate=abc&block=256&maxlen=131072&overhead=3.7&reserve=buddy-pow2", color_scheme="dark"
    )
    assert "rate=abc" in page.inner_text("#notice")
    assert violations(page) == []


def test_axe_finds_nothing_without_scripts(visits):
    """As it is before they arrive: the same text, with sliders that do nothing yet."""
    page = visits.open(ready=False)
    page.context.route("**/*.js", lambda route: route.fulfill(body=""))
    page.goto(visits.plate)
    assert violations(page) == []


@pytest.mark.parametrize(
    "options",
    [
        {"color_scheme": "dark", "viewport": {"width": 320, "height": 640}},
        {"forced_colors": "active", "reduced_motion": "reduce"},
    ],
    ids=["narrow and dark", "forced colours"],
)
def test_axe_finds_nothing_where_everything_is_open(visits, options):
    page = visits.open(**options)
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    page.locator("#ttft-table").wait_for()
    assert violations(page) == []


def test_bars_of_the_cache_are_painted_in_forced_colours(visits):
    page = visits.open(forced_colors="active")
    wait_for_film(page)
    for bar in ("#parts-contiguous", "#parts-paged", "#queue-contiguous"):
        place = page.locator(bar)
        painted = place.screenshot()
        place.evaluate("(bar) => (bar.style.opacity = 0)")
        assert place.screenshot() != painted, bar


def listen(page):
    """Collect from now on what is written where it is read aloud."""
    page.evaluate(
        """() => {
          window.aloud = [];
          const live = "[aria-live]:not([aria-live=off]), [role=status], output";
          for (const place of document.querySelectorAll(live)) {
            new MutationObserver(() => {
              if (place.ariaLive !== "off") aloud.push([place.id, place.textContent]);
            }).observe(place, { childList: true, characterData: true, subtree: true });
          }
        }"""
    )


def test_a_move_is_told_once_when_the_slider_rests(page):
    wait_for_film(page)
    listen(page)
    rate = slider(page, "rate")
    rate.press("ArrowRight")
    rate.press("ArrowRight")
    page.wait_for_function("() => aloud.length")
    check_page(page, rate=20)
    wanted = words_at(rate=20)
    told = f"{wanted['finding_capacity']} {wanted['finding_ttft']}"
    assert page.evaluate("aloud") == [["told", told]]
    assert rate.get_attribute("aria-valuetext") == wanted["rate"]


def test_a_film_that_plays_is_not_read_aloud(page):
    wait_for_film(page)
    place = page.locator("#request-shown")
    page.locator(".cache-of-paged .cache-view").press("ArrowRight")
    page.locator("#play").click()
    listen(page)
    before = page.inner_text("#clock-shown")
    page.wait_for_function(
        "(before) => document.getElementById('clock-shown').textContent !== before", arg=before
    )
    assert place.get_attribute("aria-live") == "off"
    assert page.evaluate("aloud") == []
    page.locator("#play").click()
    assert place.get_attribute("aria-live") == "polite"


def test_charts_and_drawings_say_what_they_show(page):
    names = {
        "capacity-chart": "chart_capacity",
        "ttft-chart": "chart_ttft",
        "cache-contiguous": "drawing_contiguous",
        "cache-paged": "drawing_paged",
    }
    wait_for_film(page)
    said = {}
    for element, key in names.items():
        image = page.locator(f"#{element}")
        assert image.get_attribute("role") == "img"
        said[element] = image.get_attribute("aria-label")
        assert said[element] == words_at()[key]
        assert page.get_by_role("img", name=said[element], exact=True).count() == 1
    # The finding, not the shape.
    for words, element in (
        ("52 requests fit", "capacity-chart"),
        ("333 fit", "capacity-chart"),
        (words_at()["contiguous_ttft"], "ttft-chart"),
        (words_at()["paged_ttft"], "ttft-chart"),
        (words_at()["contiguous_empty_share"], "cache-contiguous"),
        (words_at()["paged_token_share"], "cache-paged"),
    ):
        assert words in said[element]
    slider(page, "max_length").press("End")
    slider(page, "rate").press("End")
    check_page(page, max_length=131072, rate=40)
    for element in names:
        assert page.get_attribute(f"#{element}", "aria-label") != said[element]


def test_tab_reaches_every_control_and_nothing_within_a_chart(page):
    reached = []
    for _ in range(240):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("looking.focused()"))
        if reached[-1] == ["body"]:
            break  # past the last one
    assert reached[-1] == ["body"], "the focus never leaves the page"
    flat = [step[0] for step in reached]
    controls = [control["id"] for control in CONTROLS.values()]
    start = flat.index(controls[0])
    lists = [CONTROLS[name]["id"] for name in SELECTS]
    order = [*(each for each in controls if each not in lists), "reset", "copy-link", "copy-frame"]
    order += ["print-handout", *lists]
    assert flat[start : start + len(order)] == order
    for step in reached:
        assert len(step) == 1, f"within a shadow tree: {step}"
        assert "chart" not in step[0]


def test_the_skip_links_lead_past_the_workshop(page):
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash === '#reading'")
    page.wait_for_function(
        "() => Math.abs(document.getElementById('reading').getBoundingClientRect().top) < 40"
    )


def test_the_focus_can_be_seen(page):
    for control in CONTROLS.values():
        place = page.locator(f"#{control['id']}").bounding_box()
        around = {
            "x": place["x"] - 8,
            "y": place["y"] - 8,
            "width": place["width"] + 16,
            "height": place["height"] + 16,
        }
        before = page.screenshot(clip=around)
        while page.evaluate("looking.focused()") != [control["id"]]:
            page.keyboard.press("Tab")
        assert page.screenshot(clip=around) != before, control["id"]
