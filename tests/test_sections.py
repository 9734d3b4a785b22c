"""The tables of controls of the page's further sections."""

import pytest

from kvsim_app import words
from kvsim_app.page import controls
from kvsim_app.sections.controls import SECTIONS, Sharing
from kvsim_app.settings import Settings, choices

TABLES = (Settings, *SECTIONS.values())
CHOICES = {name: choice for table in SECTIONS.values() for name, choice in choices(table)}


def test_what_can_be_set_for_shared_blocks():
    table = dict(choices(Sharing))
    assert {name: (list(choice.objects), choice.default) for name, choice in table.items()} == {
        "samples": ([1, 2, 3, 4, 5, 6, 7, 8], 4),
        "system_tokens": ([0, 64, 128, 256, 512, 1024, 2048, 4096], 512),
        "prompt_rate": ([0.25, 0.5, 1, 2, 4, 8, 16, 32], 0.5),
        "keep_prefixes": ([0, 1], 0),
    }
    assert [table[name].kind for name in table] == ["range", "range", "range", "switch"]


@pytest.mark.parametrize("what", ["name", "key", "label"])
def test_one_link_tells_all_controls_of_the_page_apart(what):
    of_all = [each[what] for table in TABLES for each in controls(table())]
    assert len(set(of_all)) == len(of_all)


@pytest.mark.parametrize("name", CHOICES)
def test_a_control_has_what_page_and_link_need(name):
    choice = CHOICES[name]
    assert choice.label
    assert choice.doc
    assert choice.kind != "range" or choice.unit in words.UNITS
    assert choice.key.isascii()
    assert choice.key.isalpha()
    spelt = [choice.spell(value) for value in choice.objects]
    assert len(set(spelt)) == len(spelt)


def test_a_control_writes_its_values_with_their_unit():
    shown = {each["name"]: each["shown"] for each in controls(Sharing())}
    assert shown["samples"][:2] == ["1\N{NO-BREAK SPACE}sample", "2\N{NO-BREAK SPACE}samples"]
    assert shown["system_tokens"][0] == words.tokens(0)
    assert shown["keep_prefixes"] == ["off", "on"]
