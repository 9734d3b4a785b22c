"""Script and Python write the same words, and show the same numbers, at every position."""

from itertools import product

import pytest
from page_text import live_texts
from sampling import fresh_random

from browser.expected import (
    KINDS,
    SLIDERS,
    check_page,
    constants,
    shipped_atlas,
    wait_for_words,
    words_at,
)
from browser.hands import slider, switch
from kvsim_app import words
from kvsim_app.reading import read
from kvsim_app.settings import Settings, values

# At the edges of what is rounded how, and halfway between two roundings.
NUMBERS = (
    *(0, 1e-9, 0.00004, 0.00005, 0.000123, 0.00995, 0.0099999, 0.01, 0.0145, 0.054, 0.0994),
    *(0.0999, 0.1, 0.125, 0.375, 0.4999, 0.5, 0.95, 0.96, 0.99, 0.995, 0.999, 0.9999, 1, 1.05),
    *(1.25, 1.5, 2.5, 5.385898113250732, 9.94, 9.949, 9.95, 9.96, 9.99, 10, 10.5, 11.5, 52),
    *(99.5, 332.87604, 999.4, 999.5, 1000, 1234.5, 99_999.5, 427_245, 1e6, 1_234_567_890),
)


def test_before_and_after_the_script_the_text_is_the_same(visits, page):
    served = page.request.get(visits.plate).text()
    assert page.evaluate("looking.words()") == live_texts(served)


def test_at_random_positions(page):
    random = fresh_random()
    for _ in range(25):
        position = {name: random.choice(values(name)).item() for name in SLIDERS}
        position["block_overhead"] = float(random.choice(values("block_overhead")))
        print(position)
        for name in SLIDERS:
            slider(page, name).fill(str(values(name).index(position[name])))
        switch(page).set_checked(bool(position["block_overhead"]))
        check_page(page, **position)


@pytest.mark.parametrize("overhead", values("block_overhead"))
def test_at_every_position(page, overhead):
    """Not through the sliders, but with the page's own code: all of them in a few seconds."""
    page.evaluate(
        """async () => {
          const data = JSON.parse(document.getElementById("plate-data").textContent);
          const bytes = await (await fetch(data.files.atlas)).arrayBuffer();
          const atlas = await kvsim.openAtlas(new Uint8Array(bytes));
          const words = new kvsim.Words(data.words, data.constants);
          window.wordsAt = (position) => words.of(atlas.reading(position));
        }"""
    )
    for size, length in product(values("block_size"), values("max_length")):
        position = {
            "block_size": values("block_size").index(size),
            "max_length": values("max_length").index(length),
            "block_overhead": values("block_overhead").index(overhead),
        }
        written = page.evaluate(
            "([position, rates]) => rates.map(rate => wordsAt({ ...position, rate }))",
            [position, list(range(len(values("rate"))))],
        )
        for rate, by_script in zip(values("rate"), written, strict=True):
            settings = Settings(
                block_size=size, max_length=length, rate=rate, block_overhead=overhead
            )
            by_python = words.live_words(read(shipped_atlas(), settings), constants())
            assert by_script == by_python, settings


def test_numbers_are_written_alike(page):
    by_script = page.evaluate(
        """numbers => {
          const data = JSON.parse(document.getElementById("plate-data").textContent);
          const words = new kvsim.Words(data.words, data.constants);
          return numbers.map((number) => [
            words.count(number),
            words.significant(number),
            words.seconds(number),
            words.tokens(number),
            words.percent(Math.min(1, number)),
          ]);
        }""",
        NUMBERS,
    )
    by_python = [
        [
            words.count(number),
            words.significant(number),
            words.seconds(number),
            words.tokens(number),
            words.percent(min(1, number)),
        ]
        for number in NUMBERS
    ]
    differences = {
        number: (script, python)
        for number, script, python in zip(NUMBERS, by_script, by_python, strict=True)
        if script != python
    }
    assert differences == {}


@pytest.mark.parametrize("position", [{}, {"block_size": 1, "max_length": 1024, "rate": 40}])
def test_the_table_of_waiting_times_holds_the_atlas(page, position):
    for name, value in position.items():
        slider(page, name).fill(str(values(name).index(value)))
    wait_for_words(page, **position)
    page.get_by_text("The numbers as tables").click()
    rows = page.locator("#ttft-table tbody tr").all_inner_texts()
    wanted = []
    for rate in values("rate"):
        at = words_at(**{**position, "rate": rate})
        cells = [at[f"{kind}_{what}"] for kind in KINDS for what in ("ttft", "ttft_band")]
        wanted.append("\t".join([at["rate"], *cells]))
    assert rows == wanted
    current = page.locator("#ttft-table tbody tr[aria-current]")
    assert current.count() == 1
    assert current.inner_text().startswith(words_at(**position)["rate"])
