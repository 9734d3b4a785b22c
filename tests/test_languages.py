"""Word files of further languages: what is wrong with one is said in a sentence."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_language import NAME, made_up_language
from made_up_language import words as made_up_words
from page_text import Page

from kvsim_app import words
from kvsim_app.assets import LINKED, linked_page
from kvsim_app.languages import (
    ENGLISH,
    PLATES_OWN,
    WordsError,
    language_names,
    load_language,
    speaking,
    spoken,
)
from kvsim_app.results.files import load_results
from kvsim_app.settings import choices

ADDRESSES = {path: f"assets/{path.name}" for path in LINKED}


def refused(folder, content):
    """What is said about a word file with this content."""
    if content is not None:
        (folder / f"words.{NAME}.json").write_text(content, "utf-8")
    with pytest.raises(WordsError) as caught:
        load_language(NAME, folder)
    said = str(caught.value)
    assert said.endswith(".")
    assert "\n" not in said
    assert f"words.{NAME}.json" in said
    return said


def test_english_is_there_without_being_asked_for():
    assert load_language("en") is PLATES_OWN
    assert language_names()[0] == "en"
    assert spoken() is ENGLISH


def test_a_further_file_is_a_further_language(tmp_path):
    made_up_language(tmp_path)
    assert language_names(tmp_path) == ["en", NAME]


def test_what_controls_are_called_is_asked_of_a_translation():
    for name, choice in choices():
        assert ENGLISH[f"label_{name}"] == choice.label
        assert ENGLISH[f"hint_{name}"] == (choice.doc or "")


def test_a_language_is_spoken_within_its_block_only(tmp_path):
    language = made_up_language(tmp_path)
    with speaking(language):
        assert words.tokens(2).startswith("2")
        assert "tokens" not in words.tokens(2)
        assert words.fixed(1234.5, 1).endswith(",5")
    assert words.tokens(2).split() == ["2", "tokens"]
    assert words.fixed(1.5, 1) == "1.5"


def test_a_template_that_is_missing_stays_english(tmp_path):
    language = made_up_language(tmp_path)
    (language.templates / "sources.html").unlink()
    page = Page(linked_page(load_results(), ADDRESSES, language))
    assert page.one("html")["lang"] == NAME
    assert "Operating Systems Principles" in page.one(id="sources").text
    assert "Operating" not in page.one(id="essay").text


def test_a_missing_file_is_named(tmp_path):
    assert "No such file" in refused(tmp_path, None)


@pytest.mark.parametrize("content", ["", "{", "\ufeff[]x"])
def test_what_is_not_json_is_named(tmp_path, content):
    assert "not JSON" in refused(tmp_path, content)


@pytest.mark.parametrize("content", ["[]", '"words"', '{"tokens": 1}', '{"tokens": {}}'])
def test_what_is_no_table_of_texts_is_named(tmp_path, content):
    assert "one table of texts" in refused(tmp_path, content)


@pytest.mark.parametrize("key", ["tokens", "label_rate", "card_longest_ask"])
def test_a_sentence_that_is_missing_is_named(tmp_path, key):
    lacking = {name: text for name, text in made_up_words().items() if name != key}
    assert f"lacks {key}." in refused(tmp_path, json.dumps(lacking))


def test_many_that_are_missing_are_counted(tmp_path):
    assert f"and {len(ENGLISH) - 5} more" in refused(tmp_path, "{}")


def test_a_sentence_that_is_unknown_is_named(tmp_path):
    assert "tokns" in refused(tmp_path, json.dumps({**made_up_words(), "tokns": ""}))


@pytest.mark.parametrize("text", ["{cuont}", "{count", "count}", "{count!r}", "{}", "{count.x}"])
def test_a_field_that_the_page_does_not_fill_is_named(tmp_path, text):
    said = refused(tmp_path, json.dumps({**made_up_words(), "tokens": text}))
    assert "'tokens'" in said
    assert "count" in said


SENTENCES = ("tokens", "band", "card_do", "part_free")


@given(st.sampled_from(SENTENCES), st.text("{}!:.[]0 acountlwmves"))
def test_a_sentence_that_is_taken_can_be_filled_in(key, text):
    """Whatever stands in a word file is refused, or works."""
    with TemporaryDirectory() as folder:
        content = json.dumps({**made_up_words(), key: text})
        (Path(folder) / f"words.{NAME}.json").write_text(content, "utf-8")
        try:
            language = load_language(NAME, Path(folder))
        except WordsError:
            assert "{" in text or "}" in text
            return
    with speaking(language):
        known = dict.fromkeys(("count", "low", "high", "moves", "share"), "x")
        assert "{" not in words.fill(key, **known)
