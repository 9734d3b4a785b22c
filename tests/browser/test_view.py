"""What a link asks of the page beside settings: parts, controls left out, theme."""

import pytest

from browser.expected import CONTROLS, check_sources, wait_for_words
from browser.hands import held, put, slider, thumb
from browser.test_accessibility import violations
from browser.visits import PHONE
from kvsim_app import words
from kvsim_app.parts import parts_of

DARK, LIGHT = "rgb(22, 18, 13)", "rgb(247, 241, 227)"
ALWAYS = {"controls", "assumptions-line"}  # they belong to every part of the workshop


def visible(page, *ids):
    """Which of some elements a reader sees."""
    return {each for each in ids if page.locator(f"#{each}").is_visible()}


def sideways(page):
    return page.evaluate("document.documentElement.scrollWidth > innerWidth")


@pytest.fixture(scope="module")
def parts(browser, plate):
    """The page's parts as Python finds them."""
    context = browser.new_context()
    html = context.request.get(plate).text()
    context.close()
    return parts_of(html)


@pytest.mark.parametrize("options", [{}, PHONE | {"color_scheme": "dark"}], ids=["laptop", "phone"])
def test_a_frame_shows_the_plate_without_masthead_and_text(visits, parts, options):
    page = visits.open("?embed=1&rate=30", **options)
    wait_for_words(page, rate=30)
    check_sources(page, rate=30)
    assert not page.locator(".running-head:visible, .lede:visible").count()
    assert page.locator("h1").bounding_box()["width"] <= 1
    assert not page.locator("main > [data-reading]:visible").count()
    assert not page.locator("main [data-label]:not(:visible)").count()
    assert visible(page, "workshop", "cache-figure", "tables", *ALWAYS) >= {
        "workshop",
        "cache-figure",
        *ALWAYS,
    }
    assert page.locator(".colophon").is_visible()
    # The contents lead to what is there.
    links = page.locator(".contents a")
    for link in links.all():
        there = page.locator(link.get_attribute("href")).is_visible()
        assert link.is_visible() == there, link
    assert 0 < links.locator("visible=true").count() < links.count()
    assert not sideways(page)
    assert violations(page) == []
    # The same parts by the same names as in Python, which checks them for the offline file.
    assert (
        page.evaluate(
            """() => [...document.querySelectorAll("main > [id], main [data-part]")].map(
          (part) => part.dataset.part ?? part.id)"""
        )
        == parts
    )


def test_parts_can_be_picked(visits):
    page = visits.open("?embed=1&show=cache,terms&rate=25")
    seen = visible(page, "workshop", "cache-figure", "ttft-figure", "tables", "terms", "reading")
    assert seen == {"workshop", "cache-figure", "terms"}
    assert visible(page, *ALWAYS) == ALWAYS
    put(page, rate=30)
    wait_for_words(page, rate=30)
    page.wait_for_selector("html[data-films]", state="attached")
    for kind in ("contiguous", "paged"):
        page.wait_for_function("id => looking.colours(id) > 3", arg=f"cache-{kind}")
    # It stays picked while the settings change, and when the page is loaded again.
    page.wait_for_function("() => location.search.includes('rate=30')")
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    wait_for_words(page, rate=30)
    assert visible(page, "workshop", "cache-figure", "ttft-figure") == {"workshop", "cache-figure"}


def test_a_part_without_the_cache_leaves_it_undrawn_and_works(visits):
    page = visits.open("?show=charts", ready=True)
    assert visible(page, "ttft-figure", "cache-figure", "reading") == {"ttft-figure"}
    assert not page.locator(".contents").is_visible()
    assert page.locator(".lede").is_visible()
    page.wait_for_selector("html[data-films]", state="attached")
    put(page, block_size=1)
    wait_for_words(page, block_size=1)
    assert page.evaluate("looking.colours('ttft-chart')") > 3


def test_controls_can_be_left_out(visits):
    page = visits.open("?block=64&rate=12&hide=block,rate,reserve")
    hidden = {name for name, control in CONTROLS.items() if control["key"] in "block rate reserve"}
    for name, control in CONTROLS.items():
        assert page.locator(f"#{control['id']}").is_visible() == (name not in hidden), name
    # What a reader cannot see is not moved: not by the chart's handle, not by Reset.
    with held(page, *middle_of_marker(page)):
        page.mouse.move(900, 400, steps=3)
    put(page, max_length=1024)
    page.click("#reset")
    wait_for_words(page, block_size=64, rate=12)
    assert page.inner_text("#notice") == words.fill("reset_shown")


def middle_of_marker(page):
    box = page.locator(".marker-handle").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.parametrize(("theme", "paper"), [("dark", DARK), ("light", LIGHT)])
def test_a_theme_goes_over_the_readers_own(visits, theme, paper):
    other = "light" if theme == "dark" else "dark"
    page = visits.open(f"?theme={theme}", color_scheme=other)
    style = "getComputedStyle(document.documentElement).backgroundColor"
    assert page.evaluate(style) == paper
    kept = visits.open("?theme=" + theme, color_scheme=theme)
    for chart in ("capacity-chart", "ttft-chart"):
        assert page.evaluate("id => looking.picture(id)", chart) == kept.evaluate(
            "id => looking.picture(id)", chart
        )


BAD = {
    "?embed=2&show=workshop,essays&hide=colour&theme=blue&rate=30": (
        ["embed=2", "show=essays", "hide=colour", "theme=blue", "light, dark"],
        {"rate": 30},
    ),
    "?show=<img src=x onerror=window.ran=1>,constructor&hide=<script>,__proto__&block=8": (
        ["show=<img", "hide=<script>,__proto__"],
        {"block_size": 8},
    ),
    "?theme=dark&theme=light&embed=&show=,&rate=5": (
        ["theme", "more than once", "embed="],
        {"rate": 5},
    ),
}


@pytest.mark.parametrize("address", BAD)
def test_what_cannot_be_had_is_said_and_the_rest_applied(visits, address):
    named, applied = BAD[address]
    page = visits.open(address)
    notice = page.locator("#notice")
    for each in named:
        assert each in notice.inner_text()
    assert notice.locator("*").count() == 0
    assert page.evaluate("window.ran") is None
    wait_for_words(page, **applied)
    assert slider(page, "rate").is_visible()
    assert page.locator("#reading").is_visible() == ("workshop" not in address)
    with held(page, *thumb(page, "rate", applied.get("rate", 18))):
        page.mouse.move(*thumb(page, "rate", 40))
    wait_for_words(page, **{**applied, "rate": 40})
