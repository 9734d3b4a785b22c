"""A made-up language: English with every letter replaced, so that what was left out stands out."""

import json
import re

from kvsim_app.languages import ENGLISH, load_language
from kvsim_app.paths import TEMPLATES

NAME = "xx"
_TO_WIDE = {ord(letter): ord(letter) + 0xFEE0 for letter in map(chr, range(ord("A"), ord("z") + 1))}
_TO_WIDE = {code: wide for code, wide in _TO_WIDE.items() if chr(code).isalpha()}
# What is no prose: fields of sentences; code, tags and entities of templates.
_FIELD = re.compile(r"\{\w+\}")
_MARKUP = re.compile(
    r"{#.*?#}|{{.*?}}|{%.*?%}|<style>.*?</style>|<(?:{{.*?}}|{%.*?%}|[^<>])*>|&#?\w+;", re.S
)
_CODE = re.compile(r"{{.*?}}|{%.*?%}", re.S)
_READ_OUT = re.compile(
    r'(\b(?:aria-label|alt|title|placeholder|data-label)=")((?:{{.*?}}|{%.*?%}|[^"{])*)', re.S
)
# Within a template's code, a string with a space or a capital is prose, and so is what a table
# of its own gives for a name.
_STRING = re.compile(r'"([^"]*)"')
_PROSE = re.compile(r"[A-Z][a-z-]+|.*[a-z],? .*")


def _widened(text):
    return text.translate(_TO_WIDE)


def _translated_around(pattern, text, within=lambda kept: kept):
    parts = []
    end = 0
    for match in pattern.finditer(text):
        parts += [_widened(text[end : match.start()]), within(match[0])]
        end = match.end()
    return "".join([*parts, _widened(text[end:])])


def _markup(kept):
    if kept.startswith("<"):
        kept = _READ_OUT.sub(
            lambda match: match[1] + _translated_around(_CODE, match[2], _markup), kept
        )
    elif kept.startswith("{{") or kept.startswith("{%"):
        kept = _STRING.sub(_string, kept)
    return kept


def _string(match):
    prose = match.string[: match.start()].endswith('": ') or _PROSE.fullmatch(match[1])
    return _widened(match[0]) if prose else match[0]


def words():
    """The word file of the language."""
    translated = {key: _translated_around(_FIELD, text) for key, text in ENGLISH.items()}
    return {**translated, "lang": NAME, "decimal_mark": ","}


def made_up_language(folder):
    """Write its word file and its templates into a folder, and read them as the page does."""
    (folder / f"words.{NAME}.json").write_text(json.dumps(words()), "utf-8")
    own = folder / NAME
    own.mkdir()
    for template in TEMPLATES.glob("*.html"):
        text = _translated_around(_MARKUP, template.read_text("utf-8"), _markup)
        (own / template.name).write_text(text, "utf-8")
    return load_language(NAME, folder, folder)
