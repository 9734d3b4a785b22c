"""The film's controls: play, pause, next event, scrub, speed; by itself it does nothing."""

import pytest
from film_reading import DEFAULTS

from browser.expected import picture, wait_for_picture, words_at
from browser.filmed import (
    END_S,
    both,
    counts_text,
    go_to,
    next_time,
    open_film,
    shown_counts,
    stop_time,
    wait_for_counts,
    wait_for_observers,
)
from browser.hands import THUMB_PX, held, middle, slider
from browser.visits import PHONE
from kvsim_app.settings import values

DRAWINGS = ("cache-contiguous", "cache-paged")
FRAME_MS = 50  # a frame is shown no longer, give or take
AWAY_MS = 90_000


def time_shown(page):
    return float(page.inner_text("#clock-shown").split("\u202f")[0].split()[0])


def button(page, name):
    player = page.get_by_role("group", name="Film of the first minute")
    return player.get_by_role("button", name=name, exact=True)


def speed(page):
    return page.get_by_role("combobox", name="Speed")


def clock(page):
    return page.get_by_role("slider", name="Simulated time")


def check_moment(page, time_s, **given):
    """The clock says a time, and both caches hold what they hold then."""
    assert time_shown(page) == time_s
    for kind, cache in both(**given).items():
        assert shown_counts(page)[kind] == counts_text(cache, time_s), kind


# Sliders and caches are on the screen together.
TALL = {"width": 1280, "height": 1200}


@pytest.fixture
def film(visits):
    return open_film(visits)


@pytest.fixture
def slow_film(visits):
    """The film in a page whose own time stands still until a test moves it."""
    page = visits.open(ready=False)
    stop_time(page, visits)
    return page


def test_it_stands_still_at_the_end_of_the_minute(slow_film):
    before = {drawing: picture(slow_film, drawing) for drawing in DRAWINGS}
    slow_film.clock.run_for(5000)
    check_moment(slow_film, END_S)
    assert button(slow_film, "Play").is_visible()
    assert {drawing: picture(slow_film, drawing) for drawing in DRAWINGS} == before


def test_from_the_end_it_plays_from_the_start(slow_film):
    button(slow_film, "Play").click()
    assert time_shown(slow_film) == 0
    before = {drawing: picture(slow_film, drawing) for drawing in DRAWINGS}
    slow_film.clock.run_for(2000)
    assert 8 < time_shown(slow_film) <= 10.1
    for drawing in DRAWINGS:
        assert picture(slow_film, drawing) != before[drawing]
    assert button(slow_film, "Pause").is_visible()


def test_what_is_played_is_what_the_clock_says(slow_film):
    button(slow_film, "Play").click()
    for _ in range(3):
        slow_film.clock.run_for(1500)
        # Between two tenths: the words must be those of some moment of the tenth shown.
        shown, counts = time_shown(slow_film), shown_counts(slow_film)
        for kind, cache in both().items():
            near = {counts_text(cache, shown + step / 1000) for step in range(-50, 51)}
            assert counts[kind] in near


def test_it_stops_at_the_end(slow_film):
    go_to(slow_film, 55)
    button(slow_film, "Play").click()
    assert time_shown(slow_film) == 55
    slow_film.clock.run_for(1500)
    check_moment(slow_film, END_S)
    assert button(slow_film, "Play").is_visible()
    slow_film.clock.run_for(1500)
    check_moment(slow_film, END_S)


def test_pause_holds_it_and_play_goes_on_from_there(slow_film):
    go_to(slow_film, 20)
    button(slow_film, "Play").click()
    slow_film.clock.run_for(1000)
    button(slow_film, "Pause").click()
    stopped = time_shown(slow_film)
    assert stopped > 24
    slow_film.clock.run_for(3000)
    assert time_shown(slow_film) == stopped
    button(slow_film, "Play").click()
    assert time_shown(slow_film) == stopped
    slow_film.clock.run_for(400)
    assert stopped < time_shown(slow_film) <= stopped + 2.1


def test_playing_twice_is_no_faster(slow_film):
    """Pressed again and again within one frame, it still runs once."""
    go_to(slow_film, 0)
    for _ in range(5):
        button(slow_film, "Play").click()
        button(slow_film, "Pause").click()
    button(slow_film, "Play").click()
    slow_film.clock.run_for(1000)
    assert time_shown(slow_film) <= 5.1


@pytest.mark.parametrize("times", ["0.2", "1", "5", "20"])
def test_the_speed_is_kept(slow_film, times):
    go_to(slow_film, 10)
    speed(slow_film).select_option(times)
    button(slow_film, "Play").click()
    slow_film.clock.run_for(2000)
    gone = time_shown(slow_film) - 10
    least = float(times) * (2000 - 2 * FRAME_MS) / 1000
    assert least - 0.05 <= gone <= float(times) * 2 + 0.05


def test_the_speed_can_change_while_it_plays(slow_film):
    go_to(slow_film, 0)
    button(slow_film, "Play").click()
    slow_film.clock.run_for(1000)
    speed(slow_film).select_option("20")
    before = time_shown(slow_film)
    slow_film.clock.run_for(1000)
    assert 18 < time_shown(slow_film) - before <= 21


def test_next_event_goes_from_event_to_event_and_then_to_the_end(visits):
    """At one request a second: all of them."""
    page = open_film(visits, "?rate=1")
    caches = both(rate=1)
    go_to(page, 0)
    time_s, times = 0, []
    while time_s < END_S:
        time_s = next_time(caches, time_s)
        times.append(time_s)
        button(page, "Next event").click()
        assert abs(time_shown(page) - time_s) < 0.0501
        for kind, cache in caches.items():
            running = shown_counts(page)[kind].split(",")[0]
            assert running == counts_text(cache, time_s).split(",")[0], (kind, time_s)
    # Nobody enters or leaves between two of them.
    starts = caches["paged"].timeline.pass_log.start_s[caches["paged"].events]
    assert len(times) > 60
    for start in starts:
        assert min(abs(each - start) for each in times) < 0.02
    button(page, "Next event").click()
    assert time_shown(page) == END_S


def test_next_event_where_much_happens(film):
    """The clock says tenths; between them, who runs tells the passes apart."""
    caches = both()
    go_to(film, 20)
    time_s = 20
    for _ in range(40):
        time_s = next_time(caches, time_s)
        button(film, "Next event").click()
        assert abs(time_shown(film) - time_s) < 0.0501
        for kind, cache in caches.items():
            running = shown_counts(film)[kind].split(",")[0]
            assert running == counts_text(cache, time_s).split(",")[0], (kind, time_s)


def test_next_event_stops_the_film(slow_film):
    go_to(slow_film, 20)
    button(slow_film, "Play").click()
    slow_film.clock.run_for(500)
    button(slow_film, "Next event").click()
    stopped = time_shown(slow_film)
    slow_film.clock.run_for(2000)
    assert time_shown(slow_film) == stopped
    assert button(slow_film, "Play").is_visible()


def test_the_mouse_scrubs(film):
    film.set_viewport_size(TALL)
    before = {drawing: picture(film, drawing) for drawing in DRAWINGS}
    box = clock(film).bounding_box()

    def at(time_s):
        width = box["width"] - THUMB_PX
        return box["x"] + THUMB_PX / 2 + time_s / END_S * width, box["y"] + box["height"] / 2

    with held(film, *at(END_S)):
        for time_s in (45, 30, 5):
            film.mouse.move(*at(time_s), steps=3)
            # The button is still down.
            film.wait_for_function(
                "time => Math.abs(document.getElementById('clock').value / 10 - time) < 0.3",
                arg=time_s,
            )
            check_moment(film, time_shown(film))
            for drawing in DRAWINGS:
                before[drawing] = wait_for_picture(film, drawing, before[drawing])


def test_the_keyboard_scrubs(film):
    for key, time_s in (
        ("Home", 0),
        ("ArrowRight", 0.1),
        ("ArrowRight", 0.2),
        ("ArrowLeft", 0.1),
        ("End", END_S),
        ("ArrowDown", 59.9),
    ):
        clock(film).press(key)
        assert time_shown(film) == time_s
        assert clock(film).get_attribute("aria-valuetext") == film.inner_text("#clock-shown")
        for kind, cache in both().items():
            assert shown_counts(film)[kind] == counts_text(cache, time_s), (kind, time_s)


def test_scrubbing_stops_the_film(slow_film):
    button(slow_film, "Play").click()
    slow_film.clock.run_for(1000)
    clock(slow_film).press("Home")
    slow_film.clock.run_for(1000)
    assert time_shown(slow_film) == 0
    assert button(slow_film, "Play").is_visible()


def test_the_keyboard_plays(slow_film):
    button(slow_film, "Play").press("Enter")
    slow_film.clock.run_for(1000)
    assert time_shown(slow_film) > 4
    button(slow_film, "Pause").press("Space")
    stopped = time_shown(slow_film)
    slow_film.clock.run_for(1000)
    assert time_shown(slow_film) == stopped


@pytest.mark.parametrize(
    ("name", "value", "drawing"),
    [
        ("block_size", 256, "cache-paged"),
        ("max_length", 2048, "cache-contiguous"),
        ("rate", 30, "cache-paged"),
    ],
)
def test_a_slider_keeps_the_clocks_time(film, name, value, drawing):
    go_to(film, 30)
    before = picture(film, drawing)
    slider(film, name).fill(str(values(name).index(value)))
    wait_for_picture(film, drawing, before)
    wait_for_counts(film, both(**{name: value}), 30)
    assert time_shown(film) == 30


def test_a_film_that_plays_goes_on_with_other_settings(slow_film):
    slow_film.set_viewport_size(TALL)
    go_to(slow_film, 10)
    button(slow_film, "Play").click()
    slow_film.clock.run_for(1000)
    slider(slow_film, "max_length").press("End")
    slow_film.clock.run_for(1000)
    assert 19 < time_shown(slow_film) <= 20.1
    assert button(slow_film, "Pause").is_visible()
    button(slow_film, "Pause").click()
    counts = shown_counts(slow_film)["contiguous"]
    assert counts.startswith("running 3, "), "three slots of the longest"


def test_charts_and_words_do_not_wait_for_the_film(film):
    """When a replay begins to be made, the page has long said what the slider changes."""
    film.evaluate(
        """wanted => {
          const Replay = kvsim.Replay;
          window.replays = [];
          kvsim.Replay = class extends Replay {
            constructor(...film) {
              replays.push({
                wrong: looking.wrongWords(wanted).filter((key) => key !== "finding_cache"),
                requests: looking.sources().capacity_paged.requests[0],
              });
              super(...film);
            }
          };
        }""",
        words_at(block_size=1),
    )
    before = film.evaluate("looking.sources().capacity_paged.requests[0]")
    slider(film, "block_size").press("Home")
    film.wait_for_function("() => replays.length === 2")
    for replay in film.evaluate("replays"):
        assert replay["wrong"] == []
        assert replay["requests"] != before


def test_a_drag_makes_no_film_for_what_it_passes_by(film):
    """Eight moves within one turn of the script: one film of each cache, that of the last."""
    film.evaluate(
        """() => {
          const Replay = kvsim.Replay;
          window.units = [];
          kvsim.Replay = class extends Replay {
            constructor(...film) {
              super(...film);
              units.push(this.unit);
            }
          };
          const input = document.getElementById("block-size");
          for (const position of [5, 6, 7, 8, 7, 6, 5, 8]) {
            input.value = position;
            input.dispatchEvent(new Event("input", { bubbles: true }));
          }
        }"""
    )
    film.wait_for_function("() => units.length > 1")
    film.evaluate("async () => { for (let n = 0; n < 5; n++) await new Promise(setTimeout); }")
    assert film.evaluate("units") == [DEFAULTS["max_length"], 256]


def test_off_the_screen_it_pauses(slow_film):
    go_to(slow_film, 10)
    button(slow_film, "Play").click()
    slow_film.clock.run_for(1000)
    slow_film.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    wait_for_observers(slow_film)
    left = time_shown(slow_film)
    slow_film.clock.run_for(4000)
    assert time_shown(slow_film) == left
    slow_film.locator("#cache-figure").scroll_into_view_if_needed()
    wait_for_observers(slow_film)
    slow_film.clock.run_for(1000)
    assert 3.9 < time_shown(slow_film) - left <= 5.1, "it goes on, and leaves nothing out"


def hide(page, hidden):
    """Put the page into the background, or back."""
    page.evaluate(
        """hidden => {
          Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
          document.dispatchEvent(new Event("visibilitychange"));
        }""",
        hidden,
    )


@pytest.mark.parametrize("frames", [True, False], ids=["with frames", "without frames"])
def test_in_the_background_it_pauses(slow_film, frames):
    """Browsers give a hidden page few frames or none; when it is back, nothing was left out."""
    go_to(slow_film, 10)
    button(slow_film, "Play").click()
    slow_film.clock.run_for(1000)
    left = time_shown(slow_film)
    hide(slow_film, True)
    if frames:
        slow_film.clock.run_for(4000)
    else:
        slow_film.clock.fast_forward(AWAY_MS)
    assert time_shown(slow_film) == left
    hide(slow_film, False)
    slow_film.clock.run_for(1000)
    assert 3.9 < time_shown(slow_film) - left <= 5.1


def test_who_asked_for_less_motion_gets_none_unasked(visits):
    page = visits.open(ready=False, reduced_motion="reduce")
    stop_time(page, visits)
    page.clock.run_for(3000)
    check_moment(page, END_S)
    slider(page, "max_length").press("End")
    page.clock.run_for(3000)
    assert time_shown(page) == END_S
    go_to(page, 30)
    page.clock.run_for(3000)
    assert time_shown(page) == 30
    button(page, "Next event").click()
    stepped = time_shown(page)
    page.clock.run_for(3000)
    assert time_shown(page) == stepped
    # Who plays it all the same has asked for it.
    button(page, "Play").click()
    page.clock.run_for(1000)
    assert time_shown(page) > stepped


def test_a_finger_can_use_them(visits):
    page = open_film(visits, **PHONE)
    for name in ("Play", "Next event"):
        box = button(page, name).bounding_box()
        assert min(box["width"], box["height"]) >= 24
    button(page, "Play").scroll_into_view_if_needed()
    page.touchscreen.tap(*middle(button(page, "Play").bounding_box()))
    page.wait_for_function(
        """() => {
          const { value } = document.getElementById("clock");
          return value > 5 && value < 590;
        }"""
    )
    page.touchscreen.tap(*middle(button(page, "Pause").bounding_box()))
    stopped = time_shown(page)
    page.touchscreen.tap(*middle(button(page, "Next event").bounding_box()))
    assert time_shown(page) >= stopped
