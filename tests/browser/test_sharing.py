"""The section on sharing: every control, every step, in words and numbers that Python says."""

from contextlib import suppress
from functools import cache

import pytest
from page_text import Page
from playwright.sync_api import TimeoutError as Late
from sampling import fresh_random

from browser.hands import THUMB_PX, held, middle
from browser.test_accessibility import violations
from browser.visits import LAPTOP, PATIENCE_MS, PHONE, Visits
from kvsim_app.page import controls
from kvsim_app.results.files import SHARING
from kvsim_app.results.sharing_results import load
from kvsim_app.sections import sharing_figure
from kvsim_app.sections.controls import Sharing
from kvsim_app.sections.sharing_words import BARS, most_prompts, read, sharing_words
from kvsim_app.settings import Settings, values

CONTROLS = {each["name"]: each for each in controls(Sharing())}
STORY = sharing_figure.described()
WORDS = """() => {
  const words = {};
  for (const each of document.querySelectorAll("[data-sharing]")) {
    if (each !== document.documentElement) words[each.dataset.sharing] = each.textContent;
  }
  return words;
}"""


@pytest.fixture(scope="module")
def page(browser, plate):
    """One page for all tests that end where they began."""
    visits = Visits(browser, plate, "")
    page = visits.open(viewport=LAPTOP)
    ready(page)
    yield page
    visits.close()


@pytest.fixture(autouse=True)
def reset(request):
    yield
    if "page" in request.fixturenames:
        request.getfixturevalue("page").click("#reset")


def ready(page):
    """Wait until the section answers."""
    page.wait_for_selector("html[data-sharing]", state="attached")
    assert page.inner_text("#sharing-notice") == ""


@cache
def results():
    return load(SHARING)


def reading_at(workshop, section):
    return read(results(), Settings(**workshop), Sharing(**section))


def check(page, workshop=None, **section):
    """Words, bars and the story are those of a position."""
    reading = reading_at(workshop or {}, section)
    wanted = sharing_words(reading)
    with suppress(Late):  # what is wrong is said below
        page.wait_for_function(
            f"wanted => Object.entries(({WORDS})()).every(([key, text]) => text === wanted[key])",
            arg=wanted,
            timeout=PATIENCE_MS,
        )
    shown = page.evaluate(WORDS)
    assert shown == {key: wanted[key] for key in shown}
    assert {"finding", "keeping", "switched", "saved", *(f"{bar}_ttft" for bar in BARS)} <= {*shown}
    assert page.get_attribute("#sharing-bars", "aria-label") == wanted["chart"]
    most = most_prompts(results(), Settings(**(workshop or {})))
    for bar in BARS:
        width = page.evaluate("id => document.getElementById(id).style.width", f"sharing-bar-{bar}")
        share = 100 * reading.prompts[bar] / most
        assert float(width.rstrip("%")) == pytest.approx(share if share == share else 0, abs=0.01)
    settings = Sharing(**section)
    frames = STORY["stories"][settings.keep_prefixes][settings.system_tokens > 0]
    frames = frames[settings.samples - 1]
    assert int(page.get_attribute("#sharing-step", "max")) == len(frames) - 1
    return frames


def put(page, **section):
    for name, value in section.items():
        element = page.locator(f"#{CONTROLS[name]['id']}")
        if CONTROLS[name]["kind"] == "switch":
            element.set_checked(bool(value))
        else:
            element.fill(str(CONTROLS[name]["values"].index(value)))


def test_before_and_after_the_script_the_text_is_the_same(page, plate):
    check(page)
    served = Page(page.request.get(plate).text())
    spans = served.all("span", data_sharing=...)
    assert {each["data-sharing"]: each.text for each in spans} == page.evaluate(WORDS)
    for name in ("sentence", "used", "waiting"):
        assert served.one(id=f"sharing-{name}").text == page.inner_text(f"#sharing-{name}")


def test_words_and_bars_at_random_positions(page):
    random = fresh_random()
    for _ in range(12):
        section = {name: random.choice(each["values"]).item() for name, each in CONTROLS.items()}
        workshop = {
            name: random.choice(values(name)).item() for name in ("block_size", "max_length")
        }
        print(workshop, section)
        put(page, **section)
        for name, value in workshop.items():
            page.fill(f"#{name.replace('_', '-')}", str(values(name).index(value)))
        check(page, workshop, **section)


@pytest.mark.parametrize("name", CONTROLS)
def test_each_control_answers_the_keyboard(page, name):
    control = CONTROLS[name]
    role = "checkbox" if control["kind"] == "switch" else "slider"
    element = page.get_by_role(role, name=control["label"], exact=True)
    element.focus()
    page.keyboard.press("Space" if role == "checkbox" else "End")
    check(page, **{name: control["values"][-1]})
    if role == "slider":
        assert page.inner_text(f"#{control['id']}-shown") == control["shown"][-1]
        page.keyboard.press("ArrowLeft")
        check(page, **{name: control["values"][-2]})


@pytest.mark.parametrize("name", [name for name in CONTROLS if name != "keep_prefixes"])
def test_each_slider_can_be_dragged(page, name):
    control = CONTROLS[name]
    slider = page.locator(f"#{control['id']}")
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    step = (box["width"] - THUMB_PX) / (control["count"] - 1)
    x, y = box["x"] + THUMB_PX / 2 + control["position"] * step, middle(box)[1]
    with held(page, x, y):
        page.mouse.move(box["x"] + THUMB_PX / 2, y, steps=4)
        check(page, **{name: control["values"][0]})


def test_the_link_holds_the_section_and_reset_lets_go(page):
    put(page, samples=8, system_tokens=0, prompt_rate=4, keep_prefixes=1)
    search = "?samples=8&system=0&prompts=4&keep=1"
    page.wait_for_function("search => location.search === search", arg=search)
    page.click("#reset")
    check(page)
    page.wait_for_function("() => location.search === ''")


def test_a_link_opens_there_and_says_what_is_wrong(visits):
    page = visits.open("?samples=2&system=64&prompts=7&maxlen=4096")
    ready(page)
    assert "prompts=7" in page.inner_text("#notice")
    check(page, {"max_length": 4096}, samples=2, system_tokens=64)


# The figure.

STATE = """() => ({
  sentence: document.getElementById("sharing-sentence").textContent,
  tables: Object.fromEntries(
    [...document.querySelectorAll("#sharing-table-of-tables tbody tr")].map((row) => [
      row.cells[0].textContent, row.cells[1].textContent.split(", ").map(Number)])),
  blocks: [...document.querySelectorAll("#sharing-drawing .block")].map((block) => [
    block.querySelector(".count").textContent, block.querySelectorAll(".token").length]),
  copies: document.querySelectorAll("#sharing-drawing .copy").length,
  wires: document.querySelectorAll("#sharing-drawing .wire").length,
  regions: [...document.querySelectorAll("#sharing-regions .region b")].map(
    (name) => name.textContent),
  waiting: [...document.querySelectorAll("#sharing-regions span")].map((name) => name.textContent),
})"""


def states(frames):
    """What each step shows, from the frames: blocks as count and tokens, tables, regions."""
    blocks, tables = [(0, 0, 0)] * STORY["blocks"], {}
    regions = [""] * STORY["regions"]
    for frame in frames:
        for number, *block in frame["blocks"]:
            blocks[number] = tuple(block)
        tables |= frame["tables"]
        for number, name, _ in frame["regions"]:
            regions[number] = name or ""
        held = {name: table for name, table in tables.items() if table}
        yield {
            "sentence": sharing_figure.sentence(frame),
            "tables": held,
            "blocks": [
                [
                    f"×{count}" if count else "kept" if kept else "",
                    filled if count or kept else 0,
                ]
                for count, filled, kept in blocks
            ],
            "copies": sum(kind == "copy" for kind, *_ in frame["events"]),
            "wires": len(held),
            "regions": list(regions),
            "waiting": frame["waiting"],
        }


@pytest.mark.parametrize(
    "section", [{}, {"samples": 8, "keep_prefixes": 1}, {"samples": 1, "system_tokens": 0}], ids=str
)
def test_every_step_forwards_and_back(page, section):
    put(page, **section)
    wanted = list(states(check(page, **section)))
    page.fill("#sharing-step", "0")
    assert page.evaluate(STATE) == wanted[0]
    for state in wanted[1:]:
        page.click("#sharing-next")
        assert page.evaluate(STATE) == state
    page.press("#sharing-next", "Enter")  # there is none
    assert page.evaluate(STATE) == wanted[-1]
    assert page.get_attribute("#sharing-next", "aria-disabled") == "true"
    for state in reversed(wanted[:-1]):
        page.click("#sharing-back")
        assert page.evaluate(STATE) == state
    assert page.get_attribute("#sharing-back", "aria-disabled") == "true"
    of = page.get_attribute("#sharing-step", "aria-valuetext")
    assert page.inner_text("#sharing-step-shown") == of


def test_it_opens_at_the_first_copy_and_plays_on(page):
    put(page, samples=3)
    frames = check(page, samples=3)
    place = next(n for n, frame in enumerate(frames) if frame["step"] == "sharing_step_copy")
    assert page.input_value("#sharing-step") == str(place)
    image = page.locator("#sharing-drawing svg")
    assert sharing_figure.sentence(frames[place]) in image.get_attribute("aria-label")
    page.click("#sharing-play")
    page.wait_for_function(
        "place => document.getElementById('sharing-step').valueAsNumber > place", arg=place
    )
    assert page.inner_text("#sharing-play").lower() == "pause"
    page.click("#sharing-play")
    assert page.inner_text("#sharing-play").lower() == "play"


def test_where_less_motion_is_asked_for_nothing_plays(visits):
    page = visits.open(reduced_motion="reduce")
    ready(page)
    assert page.locator("#sharing-play").is_hidden()
    assert page.locator("#sharing-next").is_visible()


@pytest.mark.parametrize("options", [{"color_scheme": "dark"}, PHONE], ids=["dark", "phone"])
def test_axe_finds_nothing_and_nothing_overflows(visits, options):
    page = visits.open("?samples=8&keep=1", **options)
    ready(page)
    page.fill("#sharing-step", "16")
    page.get_by_text("This step as tables").click()
    assert violations(page, "#sharing") == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    drawing = page.locator("#sharing-drawing svg").bounding_box()
    assert drawing["x"] + drawing["width"] <= page.evaluate("innerWidth")
    for name in ("sharing-back", "sharing-next", "sharing-play", "sharing-step"):
        box = page.locator(f"#{name}").bounding_box()
        assert min(box["width"], box["height"]) >= 24, name


def test_results_that_cannot_be_read_are_said_and_all_else_works(browser, plate):
    visits = Visits(browser, plate, "")
    page = visits.open(ready=False)
    page.context.route("**/sharing.bin", lambda route: route.fulfill(body=b"nonsense"))
    visits.go(page)
    page.wait_for_selector("html[data-sharing]", state="attached")
    assert "could not be read" in page.inner_text("#sharing-notice")
    assert page.inner_text("#sharing-fits figcaption")
    page.wait_for_selector("html[data-films]", state="attached")
    visits.close()
