"""The one table of controls."""

import pytest

from kvsim_app.settings import BLOCK_OVERHEAD_TOKENS, Settings, choices, values

TABLE = dict(choices())


def test_what_can_be_set_and_where_it_stands_at_first():
    assert {name: (values(name), choice.default) for name, choice in TABLE.items()} == {
        "block_size": ([1, 2, 4, 8, 16, 32, 64, 128, 256], 16),
        "max_length": ([1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072], 8192),
        "rate": (list(range(1, 41)), 18),
        "block_overhead": ([0.0, BLOCK_OVERHEAD_TOKENS], 0.0),
    }


def test_every_control_is_in_the_table():
    assert set(TABLE) == set(Settings.param) - {"name"}


@pytest.mark.parametrize("name", TABLE)
def test_a_control_has_what_page_and_link_need(name):
    choice = TABLE[name]
    assert choice.label
    assert choice.doc
    assert choice.unit in ("tokens", "requests/s")
    assert choice.key.isascii()
    assert choice.key.isalpha()


def test_no_two_controls_share_a_key():
    assert len({choice.key for choice in TABLE.values()}) == len(TABLE)


@pytest.mark.parametrize("name", TABLE)
@pytest.mark.parametrize("value", [-1, 0.5, 1e9, "16", None])
def test_what_is_not_offered_is_refused(name, value):
    with pytest.raises(ValueError, match=name):
        Settings(**{name: value})


def test_lists_of_values_are_copies():
    values("rate").clear()
    assert values("rate") == list(range(1, 41))
