"""The languages of the page: one word file for each, static/words.LANGUAGE.json.

English is there. A further language is a further file with the same names, and, for the prose, a
folder templates/LANGUAGE/ with its own version of any template; what it leaves out stays English.
No code knows which languages there are.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .paths import STATIC, TEMPLATES
from .results.container import ResultsError
from .sections.controls import every_choice

_ENGLISH = "en"
_FIELD = re.compile(r"\{(\w*)\}")


class WordsError(ResultsError):
    """A word file cannot be used; the message names it and says why."""


def english() -> dict[str, str]:
    """Read the sentences of static/words.en.json.

    With them, under ``label_NAME`` and ``hint_NAME``, what app/settings.py calls the controls.
    """
    words: dict[str, str] = json.loads((STATIC / f"words.{_ENGLISH}.json").read_text("utf-8"))
    for name, choice in every_choice():
        words[f"label_{name}"] = str(choice.label)
        words[f"hint_{name}"] = choice.doc or ""
    return words


ENGLISH = english()
_spoken: ContextVar[Mapping[str, str]] = ContextVar("spoken", default=ENGLISH)


@dataclass(frozen=True)
class Language:
    """A language: its sentences, and the folder whose templates go before the English ones."""

    name: str
    words: Mapping[str, str]
    templates: Path


PLATES_OWN = Language(_ENGLISH, ENGLISH, TEMPLATES)


def language_names(folder: Path = STATIC) -> list[str]:
    """Name the languages for which there is a word file, the plate's own first."""
    found = {path.name.split(".")[1] for path in folder.glob("words.*.json")}
    return [_ENGLISH, *sorted(found - {_ENGLISH})]


def load_language(name: str, folder: Path = STATIC, templates: Path = TEMPLATES) -> Language:
    """Read the word file of a language, a flat table.

    Raises ``WordsError`` if the file is missing or no such table, or if a sentence is missing,
    unknown, or asks for a field that the English one has not.
    """
    if name == _ENGLISH:
        return PLATES_OWN
    path = folder / f"words.{name}.json"
    try:
        words = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise WordsError(f"{path} cannot be read ({error.strerror}).") from error
    except ValueError as error:
        raise WordsError(f"{path.name} is not JSON in UTF-8 ({error}).") from error
    _check(path.name, words)
    return Language(name, dict(words), templates / name)


def _check(name: str, words: Any) -> None:
    if not isinstance(words, dict) or not all(isinstance(text, str) for text in words.values()):
        raise WordsError(f"{name} must be one table of texts, as words.{_ENGLISH}.json is.")
    for problem, keys in (
        ("lacks", ENGLISH.keys() - words.keys()),
        ("has, unknown to the page,", words.keys() - ENGLISH.keys()),
    ):
        if keys:
            raise WordsError(f"{name} {problem} {_listed(keys)}.")
    for key, text in words.items():
        unknown = set(_FIELD.findall(text)) - set(_FIELD.findall(ENGLISH[key]))
        if unknown or re.search(r"[{}]", _FIELD.sub("", text)):
            raise WordsError(
                f"{name}: {key!r} may hold the fields of the English sentence only, in braces: "
                f"{_listed(_FIELD.findall(ENGLISH[key])) or 'none'}."
            )


def _listed(keys: Any) -> str:
    first, more = sorted(keys)[:5], len(keys) - 5
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")


def spoken() -> Mapping[str, str]:
    """Return the sentences of the language that is spoken now: English, or see ``speaking``."""
    return _spoken.get()


@contextmanager
def speaking(language: Language) -> Iterator[None]:
    """Let everything that is written within the block be in a language."""
    token = _spoken.set(language.words)
    try:
        yield
    finally:
        _spoken.reset(token)
