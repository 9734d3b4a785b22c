"""Which limit binds: strips below the right chart, aligned with it, show what the atlas has."""

import pytest

from browser.expected import KINDS, read_at
from browser.hands import choose, put, slider
from browser.visits import PHONE, Visits
from kvsim_app import words
from kvsim_app.reading import binding
from kvsim_app.settings import values

RATES = values("rate")
LETTERS = "MAB"
# Lanes by letter and kind: the rates that each piece says, and where it begins and ends.
PIECES = """() => [...document.querySelectorAll(".strip-bound")].map((piece) => {
  const { left, right } = piece.getBoundingClientRect();
  const kind = piece.classList.contains("of-paged") ? "paged" : "contiguous";
  return [kind, piece.dataset.resource, piece.dataset.rates, left, right];
})"""
SCALE = """rates => {
  const view = [...Bokeh.index].find((each) => each.model.name === "ttft");
  const left = view.el.getBoundingClientRect().left;
  return rates.map((rate) => left + view.frame.x_scale.compute(rate));
}"""


@pytest.fixture(scope="module")
def page(browser, plate):
    visits = Visits(browser, plate, "")
    yield visits.open()
    visits.close()


def shown(page):
    """Rates at which each lane is filled; each piece is checked to lie below its rates."""
    found = {(kind, letter): [] for kind in KINDS for letter in LETTERS}
    for kind, letter, rates, left, right in page.evaluate(PIECES):
        first, last = map(int, rates.split("-"))
        found[kind, letter] += range(first, last + 1)
        assert [left, right] == pytest.approx(
            page.evaluate(SCALE, [first - 0.5, last + 0.5]), abs=0.6
        )
    return found


def wanted(**position):
    found = {(kind, letter): [] for kind in KINDS for letter in LETTERS}
    for rate in RATES:
        reading = read_at(**position, rate=rate)
        for kind in KINDS:
            for place in binding(getattr(reading, kind).saved):
                found[kind, LETTERS[place]].append(rate)
    return found


@pytest.mark.parametrize(
    "position", [{}, {"block_size": 256, "max_length": 1024}, {"reservation": "buddy-pow2"}]
)
def test_strips_show_what_binds_at_each_rate(page, position):
    page.get_by_role("button", name="Reset").click()
    put(page, **position)
    page.wait_for_function("() => document.querySelectorAll('.strip-bound').length > 0")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    assert shown(page) == wanted(**position)
    assert sum(map(len, shown(page).values())) > len(RATES)


def test_other_lengths_have_other_strips(page):
    page.get_by_role("button", name="Reset").click()
    choose(page, "workload", "sharegpt")
    page.wait_for_function(
        "said => document.getElementById('assumptions-line').textContent.includes(said)",
        arg=words.fill("traffic_sharegpt"),
    )
    assert shown(page) == wanted(workload="sharegpt")
    choose(page, "workload", "exponential")
    page.wait_for_function(
        "said => !document.getElementById('assumptions-line').textContent.includes(said)",
        arg=words.fill("traffic_sharegpt"),
    )
    assert shown(page) == wanted()


def test_the_strips_say_in_words_what_binds_at_the_chosen_rate(page):
    page.get_by_role("button", name="Reset").click()
    for step in ("End", "Home"):
        slider(page, "rate").press(step)
        rate = {"End": RATES[-1], "Home": RATES[0]}[step]
        page.wait_for_function(
            "said => document.getElementById('limit-line').textContent.includes(said)",
            arg=words.rate(rate),
        )
        line = page.inner_text("#limit-line")
        for kind in KINDS:
            assert words.limit(getattr(read_at(rate=rate), kind).saved) in line
        label = page.get_attribute("#limit-strips svg", "aria-label")
        assert line.split(".")[0] in label
        # A line goes down from the marker.
        x = page.locator(".strip-chosen").evaluate("line => line.getBoundingClientRect().left")
        assert x == pytest.approx(page.evaluate(SCALE, [rate])[0], abs=1)


def test_on_a_phone_they_are_aligned_as_well(visits):
    page = visits.open(**PHONE)
    assert shown(page) == wanted()
    place = page.locator("#limit-strips svg").bounding_box()
    assert place["x"] >= 0
    assert place["x"] + place["width"] <= 360
    for text in page.locator("#limit-strips text").all():
        box = text.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= 360


def test_the_strips_keep_to_the_chart_when_the_window_changes(page):
    page.set_viewport_size({"width": 700, "height": 800})
    page.wait_for_function(
        """() => {
          const svg = document.querySelector("#limit-strips svg");
          return Math.abs(svg.viewBox.baseVal.width - svg.getBoundingClientRect().width) < 0.5;
        }"""
    )
