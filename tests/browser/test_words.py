"""Script and Python write the same words, and show the same numbers, at every position."""

from itertools import product

import pytest
from page_text import live_texts
from sampling import fresh_random

from browser.expected import (
    KINDS,
    check_page,
    wait_for_film,
    wait_for_words,
    words_at,
)
from browser.hands import put
from kvsim_app import words
from kvsim_app.settings import choices, values

# At the edges of what is rounded how, and halfway between two roundings.
NUMBERS = (
    *(0, 1e-9, 0.00004, 0.00005, 0.000123, 0.00995, 0.0099999, 0.01, 0.0145, 0.054, 0.0994),
    *(0.0999, 0.1, 0.125, 0.375, 0.4999, 0.5, 0.95, 0.96, 0.99, 0.995, 0.999, 0.9999, 1, 1.05),
    *(1.25, 1.5, 2.5, 5.385898113250732, 9.94, 9.949, 9.95, 9.96, 9.99, 10, 10.5, 11.5, 52),
    *(99.5, 332.87604, 999.4, 999.5, 1000, 1234.5, 99_999.5, 427_245, 1e6, 1_234_567_890),
)


def test_before_and_after_the_script_the_text_is_the_same(visits, page):
    served = live_texts(page.request.get(visits.plate).text())
    # The film's moment takes the place of this one.
    assert served.pop("finding_cache") == [words_at()["finding_cache"]]
    shown = page.evaluate("looking.words()")
    shown.pop("finding_cache", None)
    assert shown == served
    wait_for_film(page)


def random_position(random):
    return {name: random.choice(values(name)).item() for name, _ in choices()}


def test_at_random_positions(page):
    random = fresh_random()
    for _ in range(20):
        position = random_position(random)
        print(position)
        put(page, **position)
        # Films of any settings are a server's work for a second; see below for a few.
        check_page(page, film=False, **position)


def test_what_is_said_of_the_cache_at_random_positions(page):
    random = fresh_random()
    for _ in range(6):
        position = random_position(random)
        print(position)
        put(page, **position)
        check_page(page, **position)


WORDS_AT = """async () => {
  const data = JSON.parse(document.getElementById("plate-data").textContent);
  const atlases = new kvsim.Atlases(data.files.atlases);
  const words = new kvsim.Words(data.words, data.constants);
  const wordsAt = async (settings) => {
    await atlases.open(settings.workload);
    return words.of(atlases.current.reading(settings));
  };
  window.wordsOfAll = async (all) => {
    const written = [];
    for (const settings of all) written.push(await wordsAt(settings));
    return written;
  };
}"""


def check_words(page, positions):
    """Every live key is the same; with the page's own code, not through its controls."""
    if not page.evaluate("'wordsOfAll' in window"):
        page.evaluate(WORDS_AT)
    written = page.evaluate("all => wordsOfAll(all)", positions)
    for position, by_script in zip(positions, written, strict=True):
        assert by_script == words_at(**position), position


@pytest.mark.parametrize("overhead", values("block_overhead"))
def test_at_every_position_of_the_sliders(page, overhead):
    for size, length in product(values("block_size"), values("max_length")):
        there = {"block_size": size, "max_length": length, "block_overhead": overhead}
        rest = {"workload": "exponential", "reservation": "slots"}
        check_words(page, [{**there, **rest, "rate": rate} for rate in values("rate")])


@pytest.mark.parametrize("workload", values("workload"))
def test_every_workload_and_reservation_at_random_positions(page, workload):
    random = fresh_random()
    for reservation in values("reservation"):
        chosen = {"workload": workload, "reservation": reservation}
        check_words(page, [random_position(random) | chosen for _ in range(100)])


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


@pytest.mark.parametrize(
    "position",
    [
        {},
        {"block_size": 1, "max_length": 1024, "rate": 40},
        {"workload": "azure-code", "reservation": "buddy-oracle", "rate": 8},
    ],
)
def test_the_table_of_waiting_times_holds_the_atlas(page, position):
    put(page, **position)
    wait_for_words(page, **position)
    page.get_by_text("The numbers as tables").click()
    rows = page.locator("#ttft-table tbody tr").all_inner_texts()
    wanted = []
    for rate in values("rate"):
        at = words_at(**{**position, "rate": rate})
        cells = [at[f"{kind}_{what}"] for kind in KINDS for what in ("ttft", "ttft_band")]
        cells += [at[f"{kind}_limit_names"] for kind in KINDS]
        wanted.append("\t".join([at["rate"], *cells]))
    assert rows == wanted
    current = page.locator("#ttft-table tbody tr[aria-current]")
    assert current.count() == 1
    assert current.inner_text().startswith(words_at(**position)["rate"])
