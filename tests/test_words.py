"""Numbers and sentences as Python writes them into the page before any script.

browser/test_words.py holds the script against the same.
"""

import json
import re
from dataclasses import replace
from itertools import product

import pytest
from sampling import fresh_random

from kvsim_app import words
from kvsim_app.languages import ENGLISH
from kvsim_app.paths import STATIC
from kvsim_app.reading import read
from kvsim_app.results.atlas import load
from kvsim_app.results.files import ATLASES
from kvsim_app.settings import Settings, choices, values

NARROW = "\u202f"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.4, "0"),
        (0.6, "1"),
        (999, "999"),
        (999.4, "999"),
        (999.6, "1_000"),
        (1000, "1_000"),
        (8192, "8_192"),
        (332.876, "333"),
        (999_999.6, "1_000_000"),
        (1_234_567, "1_234_567"),
    ],
)
def test_counts_have_thin_spaces(number, text):
    assert words.count(number) == text.replace("_", NARROW)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (0.00001, "0.0000"),
        (0.000123, "0.0001"),
        (0.00123, "0.0012"),
        (0.0123, "0.012"),
        (0.0541, "0.054"),
        (0.0994, "0.099"),
        (0.0996, "0.10"),
        (0.00996, "0.010"),
        (0.1, "0.10"),
        (0.234, "0.23"),
        (0.994, "0.99"),
        (0.996, "1.0"),
        (1, "1.0"),
        (6.4014, "6.4"),
        (9.94, "9.9"),
        (9.96, "10"),
        (10, "10"),
        (45.6, "46"),
        (1234.5, "1_235"),  # halves go up, as in the script
        (0.125, "0.13"),
    ],
)
def test_two_digits_are_significant_below_ten(number, text):
    assert words.significant(number) == text.replace("_", NARROW)


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0"),
        (0.00004, "0.00"),
        (0.005, "0.50"),
        (0.0099, "0.99"),
        (0.01, "1.0"),
        (0.1557, "15.6"),
        (0.9941, "99.4"),
        (0.999, "99.9"),
        (0.9993, "99.93"),
        (0.99996, "100.00"),
        (1, "100"),
    ],
)
def test_shares_have_more_digits_near_either_end(share, text):
    assert words.percent(share) == f"{text}{NARROW}%"


def test_one_is_singular():
    assert words.tokens(1).split() == ["1", "token"]
    assert words.tokens(16).split() == ["16", "tokens"]
    assert words.rate(1).split() == ["1", "request/s"]
    assert words.rate(18).split() == ["18", "requests/s"]


@pytest.fixture(scope="module")
def atlases():
    return {workload: load(path) for workload, path in ATLASES.items()}


def words_at(atlases, **position):
    """The live words at a position; controls left out stand at their defaults."""
    settings = Settings(**position)
    plates = atlases["exponential"]
    constants = words.constant_words(plates.constants, plates.axes)
    return words.live_words(read(atlases[settings.workload], settings), constants)


@pytest.fixture
def known(atlases):
    return words_at(atlases)


def test_the_plates_numbers(known):
    assert known["contiguous_fit"] == "52"
    assert known["paged_fit"] == "333"
    assert known["fit_ratio"] == "6.4"
    assert known["contiguous_share"] == f"15.6{NARROW}%"
    assert known["paged_share"] == f"99.4{NARROW}%"


def test_the_assumptions_are_in_the_visible_line(known):
    for assumption in (
        "Simulated, not measured",
        "roofline estimates",
        "60 % of 989 TFLOP/s",
        "80 % of 3.35 TB/s",
        "0.2 ms a pass",
    ):
        assert assumption in " ".join(known["assumptions"].split())


EMPTY_AT_TIMES = {"traffic", "reservation_note"}


def check_filled_in(known):
    for key, text in known.items():
        assert text or key in EMPTY_AT_TIMES, key
        assert not re.search(r"[{}]|None|nan|undefined", text), text


def test_every_sentence_is_filled_in(atlases):
    random = fresh_random()
    for _ in range(100):
        position = {name: values(name)[random.integers(len(values(name)))] for name, _ in choices()}
        print(position)
        check_filled_in(words_at(atlases, **position))


def test_the_same_keys_are_written_everywhere(atlases, known):
    for workload, reservation in product(values("workload"), values("reservation")):
        there = words_at(atlases, workload=workload, reservation=reservation)
        assert list(there) == list(known)


def test_the_assumptions_name_the_traffic(atlases):
    for workload in values("workload"):
        said = words_at(atlases, workload=workload)["assumptions"]
        names = {
            other: words.fill(f"workload_{other}") in said
            for other in values("workload")
            if other != "exponential"
        }
        assert names == {other: other == workload for other in names}
        assert said.endswith(".")


@pytest.mark.parametrize(
    ("reservation", "reserving", "note"),
    [
        ("slots", "8_192\N{NO-BREAK SPACE}tokens for each", ""),
        ("buddy-max", "8_192\N{NO-BREAK SPACE}tokens for each", ""),
        ("firstfit-max", "8_192\N{NO-BREAK SPACE}tokens for each", ""),
        ("buddy-pow2", "next power of two", "within a factor of two"),
        ("firstfit-pow2", "next power of two", "within a factor of two"),
        ("buddy-oracle", "just what each will need", "An oracle"),
        ("firstfit-oracle", "just what each will need", "An oracle"),
    ],
)
def test_the_reservation_is_named(atlases, reservation, reserving, note):
    known = words_at(atlases, reservation=reservation)
    assert reserving.replace("_", NARROW) in known["reserving"]
    assert known["reserving"] in known["finding_capacity"]
    assert note in known["reservation_note"]
    assert bool(note) == bool(known["reservation_note"])


@pytest.mark.parametrize(
    ("contiguous", "paged", "verdict"),
    [(10.0, 17.0, "more"), (10.0, 10.2, "same"), (10.0, 9.8, "same"), (10.0, 9.0, "less")],
)
def test_the_verdict_follows_the_sustained_rates(atlases, contiguous, paged, verdict):
    plates = atlases["exponential"]
    reading = read(plates, Settings())
    other = replace(
        reading,
        contiguous=replace(reading.contiguous, sustained_per_s=contiguous),
        paged=replace(reading.paged, sustained_per_s=paged),
    )
    known = words.live_words(other, words.constant_words(plates.constants, plates.axes))
    assert known["verdict"] == words.fill(f"verdict_{verdict}")


@pytest.mark.parametrize(
    ("saved", "said", "names"),
    [
        ((0, 4, -3), "none, as twice of any would save less than 5 %", "none"),
        ((0, 43, 3), "arithmetic (43 %)", "arithmetic"),
        ((95, 40, 98), "memory (95 %) or bandwidth (98 %), either would do", "memory, bandwidth"),
        (
            (98, 94, 98),
            "memory (98 %), arithmetic (94 %) or bandwidth (98 %), any of the three would do",
            "memory, arithmetic, bandwidth",
        ),
    ],
)
def test_limits_are_named_with_what_twice_of_them_saves(saved, said, names):
    assert words.limit(saved).replace(NARROW, " ") == said
    assert words.limit_names(saved) == names


def test_both_limits_and_the_doubled_rates_are_in_the_lines(atlases, known):
    plates = atlases["exponential"]
    reading = read(plates, Settings())
    for kind in ("contiguous", "paged"):
        assert known[f"{kind}_limit"] in known["limit_line"]
        for rate in getattr(reading, kind).doubled_per_s:
            assert words.fixed(rate, 1) in known["doubled_line"]
    assert known["rate"] in known["limit_line"]


def test_the_clock_stands_at_the_end_of_the_minute(known):
    assert known["clock"] == f"60{NARROW}s"
    assert known["finding_cache"].startswith(f"After {known['clock']}")


def test_a_sentence_asks_for_nothing_that_python_does_not_know(known):
    """Also for those that only the script fills in: their fields are in its code."""
    code = "".join(path.read_text("utf-8") for path in STATIC.glob("*.js"))
    for name, template in ENGLISH.items():
        if name.startswith(("sharing_", "overcommit_", "own_config")):
            continue  # see test_sharing_words.py, test_sharing_figure.py, test_overcommit.py and
            # browser/test_your_server.py
        fields = set(re.findall(r"\{(\w+)\}", template))
        # A card has the same words twice: of where it begins and leads.
        for field in {re.sub("^(start|goal)_", "", each) for each in fields} - set(known):
            assert re.search(rf"\b{field}\b", code), (name, field)


def test_the_word_file_is_one_flat_table_of_plain_text():
    text = (STATIC / "words.en.json").read_text("utf-8")
    pairs = json.loads(text, object_pairs_hook=list)
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names))
    assert all(isinstance(sentence, str) and "<" not in sentence for _, sentence in pairs)
