"""The one table of controls."""

import pytest

from kvsim_app import words
from kvsim_app.settings import BLOCK_OVERHEAD_TOKENS, NAMES, Settings, choices, values

TABLE = dict(choices())


def test_what_can_be_set_and_where_it_stands_at_first():
    assert {name: (values(name), choice.default) for name, choice in TABLE.items()} == {
        "block_size": ([1, 2, 4, 8, 16, 32, 64, 128, 256], 16),
        "max_length": ([1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072], 8192),
        "rate": (list(range(1, 41)), 18),
        "block_overhead": ([0.0, BLOCK_OVERHEAD_TOKENS], 0.0),
        "workload": (
            ["exponential", "sharegpt", "azure-conversation", "azure-code"],
            "exponential",
        ),
        "reservation": (
            [
                "slots",
                *("buddy-max", "buddy-pow2", "buddy-oracle"),
                *("firstfit-max", "firstfit-pow2", "firstfit-oracle"),
            ],
            "slots",
        ),
    }


def test_every_control_is_in_the_table():
    assert set(TABLE) == set(Settings.param) - {"name"}
    assert tuple(TABLE) == NAMES


@pytest.mark.parametrize("name", TABLE)
def test_a_control_has_what_page_and_link_need(name):
    choice = TABLE[name]
    assert choice.label
    assert choice.doc
    assert choice.unit in ("tokens", "requests/s") or choice.kind == "select"
    assert choice.key.isascii()
    assert choice.key.isalpha()


def test_each_is_set_with_what_fits_its_values():
    kinds = {name: choice.kind for name, choice in TABLE.items()}
    assert kinds == {
        **dict.fromkeys(("block_size", "max_length", "rate"), "range"),
        "block_overhead": "switch",
        **dict.fromkeys(("workload", "reservation"), "select"),
    }


@pytest.mark.parametrize("name", TABLE)
def test_a_link_spells_each_value_otherwise(name):
    spelt = [TABLE[name].spell(value) for value in values(name)]
    assert len(set(spelt)) == len(spelt)
    for value, text in zip(values(name), spelt, strict=True):
        assert type(value)(text) == value
        assert text.isascii()
        assert not set(text) & set(" &=?#%+")


def test_what_is_allowed_is_said_in_words():
    assert TABLE["rate"].allowed == "1 to 40"
    assert TABLE["block_overhead"].allowed == "0 or 3.7"
    assert TABLE["block_size"].allowed == "1, 2, 4, 8, 16, 32, 64, 128 or 256"
    assert TABLE["workload"].allowed == "exponential, sharegpt, azure-conversation or azure-code"


@pytest.mark.parametrize("name", ["workload", "reservation"])
def test_each_name_has_its_words(name):
    shown = [words.fill(f"{name}_{value}") for value in values(name)]
    assert len(set(shown)) == len(shown)


def test_no_two_controls_share_a_key():
    assert len({choice.key for choice in TABLE.values()}) == len(TABLE)


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("value", [-1, 0.5, 1e9, "16", "", "Slots", None])
def test_what_is_not_offered_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        Settings(**{name: value})


def test_lists_of_values_are_copies():
    values("rate").clear()
    assert values("rate") == list(range(1, 41))
