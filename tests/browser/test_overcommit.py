"""The section on an overcommitted cache, by every control, pointer and key, against kvsim."""

from contextlib import suppress
from functools import cache

import pytest
from axe_core_python.sync_playwright import Axe
from playwright.sync_api import TimeoutError as Late
from playwright.sync_api import expect
from sampling import fresh_random

from browser.hands import THUMB_PX, held, middle
from browser.visits import PHONE, Visits
from kvsim.paper import figure_19
from kvsim_app import words
from kvsim_app.results import overcommit_results as results
from kvsim_app.results.files import OVERCOMMIT
from kvsim_app.sections.controls import Overcommit
from kvsim_app.sections.overcommit import section_words, shares
from kvsim_app.settings import choices

CONTROLS = dict(choices(Overcommit))
SLIDERS = [name for name, choice in CONTROLS.items() if choice.kind == "range"]
# With several pre-emptions by each way back, and with none.
POSITIONS = [
    {},
    {"preemption": "swap", "overcommit_rate": 24, "overcommit_block_size": 256},
    {"preemption": "swap", "copy_charge": 1, "watermark": 0.1, "overcommit_rate": 40},
]


@pytest.fixture(scope="module")
def page(browser, plate):
    visits = Visits(browser, plate, "")
    page = visits.open()
    page.wait_for_selector("#overcommit[data-open]")
    yield page
    visits.close()


@cache
def shipped():
    return results.load(OVERCOMMIT)


def control(page, name):
    """A control, found as a screen reader finds it."""
    role = {"range": "slider", "switch": "checkbox", "select": "combobox"}[CONTROLS[name].kind]
    return page.get_by_role(role, name=CONTROLS[name].label, exact=True)


def put(page, **position):
    for name, choice in CONTROLS.items():
        value = position.get(name, choice.default)
        if choice.kind == "switch":
            control(page, name).set_checked(bool(value))
        elif choice.kind == "select":
            control(page, name).select_option(index=choice.objects.index(value))
        else:
            control(page, name).fill(str(list(choice.objects).index(value)))


SAID = """() => Object.fromEntries(
  [...document.querySelectorAll("[data-overcommit]")].map(
    (element) => [element.dataset.overcommit, element.textContent]))"""


def check(page, **position):
    """All words, bars and labels of the section follow a position."""
    settings = Overcommit(**position)
    known = section_words(shipped(), settings)
    keys = page.evaluate(SAID).keys()
    wanted = {key: known[key] for key in keys}
    with suppress(Late):  # what is wrong is said below
        page.wait_for_function(
            f"wanted => JSON.stringify(({SAID})()) === JSON.stringify(wanted)",
            arg=wanted,
        )
    assert page.evaluate(SAID) == wanted
    bars = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll("[data-trade]")].map(
          (bar) => [bar.dataset.trade, Number(bar.style.getPropertyValue("--share"))]))"""
    )
    assert bars == pytest.approx(shares(shipped(), settings))
    chosen = page.locator("#trade-table tr[aria-current] th")
    assert chosen.all_inner_texts() == [words.fill("percent", count=f"{settings.watermark:g}")]
    assert page.get_attribute("#timeline-drawing", "aria-label") == known["drawing"]
    for name in SLIDERS:
        value = getattr(settings, name)
        shown = words.UNITS[CONTROLS[name].unit](value)
        assert control(page, name).get_attribute("aria-valuetext") == shown
    assert page.locator(".mark").count() == len(events(**position))


@cache
def simulated(**position):
    """The run that is drawn, simulated anew."""
    settings = Overcommit(**position)
    server = figure_19.charged(results.SERVER) if settings.copy_charge else results.SERVER
    allocation = results.kvsim.Paged(
        settings.overcommit_block_size,
        preemption=settings.preemption,
        watermark=settings.watermark / 100,
    )
    return results.runs((server, allocation, settings.overcommit_rate), replications=1)[0]


def events(**position):
    """Its pre-emptions, by kvsim."""
    return results.in_the_minute(simulated(**position))


def sentence(found, place, preemption):
    """What the page should say of one."""

    def milliseconds(seconds, tick_s):
        ticks = round(float(seconds) / tick_s)
        return words.fill("millisecond", count=words.significant(1e3 * (ticks * tick_s)))

    evicted = round(float(found.evicted_s[place]) / results.EVICTED_TICK_S)
    away_s = found.returned_s[place] - found.evicted_s[place]
    moved = round(float(found.moved_bytes[place]) / results.MOVED_TICK_BYTES)
    return words.fill(
        f"overcommit_event_{preemption}",
        place=words.count(place + 1),
        drawn=words.count(len(found)),
        number=words.count(int(found.request[place]) + 1),
        at=f"{evicted * results.EVICTED_TICK_S:.2f}",
        away=milliseconds(away_s, results.AWAY_TICK_S),
        tokens=words.tokens(int(found.recomputed_tokens[place])),
        moved=words.fill("megabyte", count=words.count(moved * results.MOVED_TICK_BYTES / 1e6)),
        cost=milliseconds(found.cost_s[place], results.COST_TICK_S),
    )


def test_at_random_positions(page):
    random = fresh_random()
    for _ in range(12):
        position = {
            name: choice.objects[random.integers(len(choice.objects))]
            for name, choice in CONTROLS.items()
        }
        print(position)
        put(page, **position)
        check(page, **position)


@pytest.mark.parametrize("name", SLIDERS)
def test_a_slider_by_keyboard_and_by_drag(page, name):
    put(page)
    values = list(CONTROLS[name].objects)
    slider = control(page, name)
    for key, value in (("End", values[-1]), ("ArrowLeft", values[-2]), ("Home", values[0])):
        slider.press(key)
        check(page, **{name: value})
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    step = (box["width"] - THUMB_PX) / (len(values) - 1)
    with held(page, box["x"] + THUMB_PX / 2, y):
        for place in (2, len(values) - 1, 1):
            page.mouse.move(box["x"] + THUMB_PX / 2 + place * step, y, steps=3)
            check(page, **{name: values[place]})


def test_way_back_and_charge_by_keyboard(page):
    put(page)
    control(page, "preemption").focus()
    page.keyboard.press("ArrowDown")
    check(page, preemption="swap")
    control(page, "copy_charge").press("Space")
    check(page, preemption="swap", copy_charge=1)
    control(page, "preemption").focus()
    page.keyboard.press("ArrowUp")
    check(page, copy_charge=1)


@pytest.mark.parametrize("position", POSITIONS, ids=str)
def test_arrow_keys_go_through_all_pre_emptions(page, position):
    put(page, **position)
    check(page, **position)
    found = events(**position)
    preemption = position.get("preemption", "recompute")
    said = page.locator("#event-shown")
    expect(said).to_have_text(words.fill("overcommit_hint"))
    page.locator("#timeline").focus()
    for place in range(len(found)):
        page.keyboard.press("ArrowRight")
        assert said.inner_text() == sentence(found, place, preemption)
    page.keyboard.press("ArrowDown")
    assert said.inner_text() == sentence(found, 0, preemption)
    page.keyboard.press("ArrowLeft")
    assert said.inner_text() == sentence(found, len(found) - 1, preemption)
    assert page.locator(".mark.chosen").count() == 1
    page.keyboard.press("Escape")
    expect(said).to_have_text(words.fill("overcommit_hint"))
    assert page.locator(".mark.chosen").count() == 0


def test_marks_stand_at_their_times_in_order_of_request(page):
    put(page)
    check(page)
    found = events()
    frame = page.locator("#timeline .frame").bounding_box()
    boxes = page.evaluate(
        """() => [...document.querySelectorAll(".mark")].map((mark) => {
          const { left, top, height } = mark.getBoundingClientRect();
          return [left, top + height / 2];
        })"""
    )
    for (left, middle_y), evicted_s, request in zip(
        boxes, found.evicted_s, found.request, strict=True
    ):
        x = frame["x"] + evicted_s / 60 * frame["width"]
        assert min(x, frame["x"] + frame["width"] - 4) == pytest.approx(left, abs=1.5)
        share = (frame["y"] + frame["height"] - middle_y) / frame["height"]
        assert share == pytest.approx(request / (60 * 32), abs=0.02)


def test_the_area_is_the_blocks_in_use(page):
    put(page, overcommit_rate=20)
    check(page, overcommit_rate=20)
    points = page.get_attribute("#timeline .held", "points").split()
    corners = [tuple(map(float, point.split(","))) for point in points]
    bottom = corners[0][1]
    full = float(page.get_attribute("#timeline .full", "y1"))
    run = simulated(overcommit_rate=20)
    for second in range(0, 61, 7):
        _, y = corners[1 + second]
        q = run.pass_at(second)
        tokens = 0 if q is None else run.held_tokens[q]
        share = tokens / (16 * (results.SERVER.capacity_tokens // 16))
        assert (bottom - y) / (bottom - full) == pytest.approx(share, abs=1e-3)
    expect(page.locator("#event-shown")).to_have_text(words.fill("overcommit_nobody"))
    page.locator("#timeline").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#event-shown")).to_have_text(words.fill("overcommit_nobody"))


def test_a_mouse_points_at_a_pre_emption_and_lets_go(page):
    put(page)
    check(page)
    page.evaluate("document.activeElement.blur()")
    page.locator("#timeline").scroll_into_view_if_needed()
    found = events()
    said = page.locator("#event-shown")
    for place in (0, 20, len(found) - 1):
        frame = page.locator("#timeline .frame").bounding_box()
        x = frame["x"] + found.evicted_s[place] / 60 * frame["width"]
        y = frame["y"] + frame["height"] * (1 - found.request[place] / (60 * 32))
        page.mouse.move(x, y)
        assert said.inner_text() == sentence(found, place, "recompute")
    page.mouse.move(5, 5)
    expect(said).to_have_text(words.fill("overcommit_hint"))


def test_the_link_brings_all_of_it_back(visits, page):
    position = {
        "overcommit_rate": 36,
        "overcommit_block_size": 4,
        "watermark": 0.1,
        "preemption": "swap",
        "copy_charge": 1,
    }
    put(page, **position)
    search = "?offered=36&tokens=4&watermark=0.1&back=swap&copies=1"
    page.wait_for_function("search => location.search === search", arg=search)
    other = visits.open(search)
    other.wait_for_selector("#overcommit[data-open]")
    check(other, **position)
    assert other.inner_text("#notice") == ""
    other.get_by_role("button", name="Reset").click()
    check(other)
    other.wait_for_function("() => location.search === ''")
    wrong = visits.open("?watermark=3&back=fax")
    for said in ("watermark=3", "0, 0.1, 0.2, 0.5, 1, 2 or 5", "back=fax", "recompute or swap"):
        assert said in wrong.inner_text("#notice")


def test_on_a_phone_in_the_dark(visits):
    page = visits.open("?back=swap&offered=40&copies=1", color_scheme="dark", **PHONE)
    page.wait_for_selector("#overcommit[data-open]")
    page.get_by_text("Recompute and swap as a table").click()
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 360
    for element in page.locator("#overcommit-controls :is(input, select)").all():
        box = element.bounding_box()
        assert min(box["width"], box["height"]) >= 24
    mark = page.locator(".mark").nth(3)
    mark.scroll_into_view_if_needed()
    page.touchscreen.tap(*middle(mark.bounding_box()))
    assert page.locator(".mark.chosen").count() == 1
    position = {"preemption": "swap", "overcommit_rate": 40, "copy_charge": 1}
    found = events(**position)
    said = page.inner_text("#event-shown")
    assert said in [sentence(found, place, "swap") for place in range(len(found))]
    problems = Axe().run(page, "#overcommit")["violations"]
    assert [(each["id"], each["help"]) for each in problems] == []


def test_results_that_do_not_arrive_are_said(visits):
    page = visits.open(ready=False)
    page.context.route("**/overcommit.bin", lambda route: route.fulfill(status=500))
    visits.go(page)
    expect(page.locator("#overcommit-notice")).to_have_text(
        words.fill("overcommit_failed", reason="HTTP 500")
    )
    # All else works, and the words of the plate's own settings stay.
    expect(page.locator("#overcommit-table")).to_contain_text(
        section_words(shipped(), Overcommit())["chosen_recomputed"]
    )
    assert all("500" in complaint for complaint in visits.complaints)
    visits.complaints.clear()
