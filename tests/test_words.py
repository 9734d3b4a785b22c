"""Numbers and sentences as Python writes them into the page before any script.

browser/test_words.py holds the script against the same.
"""

import json
import re

import pytest

from kvsim_app import words
from kvsim_app.atlas import load
from kvsim_app.paths import ATLAS
from kvsim_app.reading import read
from kvsim_app.settings import Settings

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
        (0.0996, "0.100"),
        (0.1, "0.10"),
        (0.234, "0.23"),
        (0.996, "1.00"),
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


@pytest.fixture
def known():
    atlas = load(ATLAS)
    return words.live_words(
        read(atlas, Settings()), words.constant_words(atlas.constants, atlas.axes)
    )


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


def test_every_sentence_is_filled_in(known):
    for key, text in known.items():
        assert text, key
        assert not re.search(r"[{}]|None|nan|undefined", text), text


def test_a_sentence_asks_for_nothing_that_python_does_not_know(known):
    """Also for those that only the script fills in: their fields are in its code."""
    by_script = {"key", "keys", "value", "label", "allowed", "shown", "reason", "count"}
    by_script |= {"low", "high", "more"}
    # Of the film: its ledger, and the request that is pointed out.
    by_script |= {"running", "waiting", "share", "film_rate", "number", "prompt", "output"}
    by_script |= {"produced", "reserved", "empty", "place", "blocks", "tokens"}
    by_script |= {"first", "last", "filled", "unit"}
    for name, template in words.TEMPLATES.items():
        fields = set(re.findall(r"\{(\w+)\}", template))
        assert fields <= set(known) | by_script, name


def test_the_word_file_is_one_flat_table_of_plain_text():
    text = (ATLAS.parent / "words.en.json").read_text("utf-8")
    pairs = json.loads(text, object_pairs_hook=list)
    names = [name for name, _ in pairs]
    assert len(names) == len(set(names))
    assert all(isinstance(sentence, str) and "<" not in sentence for _, sentence in pairs)
