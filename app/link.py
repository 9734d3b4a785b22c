"""The link, read in Python: settings and view from its query; static/link.js reads the same."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from .sections.controls import Sections, every_choice, opened
from .settings import NAMES, Choice, Settings, choices

VIEW_KEYS = ("embed", "show", "hide", "theme")
_MOST_CHARACTERS = 40  # of what somebody gave that are worth repeating


@dataclass(frozen=True)
class Link:
    """What a link asks for: settings of the workshop and of the sections, and the view of the page,
    each of its keys as it stands.
    """

    settings: Settings
    sections: Sections
    view: dict[str, str]

    @property
    def view_query(self) -> str:
        """The view as the part of a link that says it."""
        return urlencode(self.view, safe=",")


def read(text: str, parts: Collection[str]) -> Link:
    """Read a whole link, or only its query. ``parts`` are those that the page has.

    Raises ``ValueError`` with a sentence about the first thing in it that is not offered.
    """
    given = _pairs(text)
    view = {key: given.pop(key) for key in VIEW_KEYS if key in given}
    values = _values(given, every_choice(), VIEW_KEYS)
    own = {name: values[name] for name in NAMES if name in values}
    return Link(Settings(**own), opened(values), _checked(view, parts))


def read_view(text: str, parts: Collection[str]) -> str:
    """Read the query of a link that holds a view and no settings; return it as a link says it.

    Raises ``ValueError`` like :func:`read`.
    """
    given = _pairs(text)
    for key in given:
        if key not in VIEW_KEYS:
            raise ValueError(f"{_short(key)} is no view: there are {', '.join(VIEW_KEYS)}.")
    return Link(Settings(), opened({}), _checked(given, parts)).view_query


def _pairs(text: str) -> dict[str, str]:
    """Return the keys of a link and their values; a text without ``?`` is a query already."""
    text = text.strip()
    try:
        query = urlsplit(text).query if "?" in text else text
        pairs = parse_qsl(query, keep_blank_values=True, errors="replace")
    except ValueError as error:
        raise ValueError(f"{_short(text)} cannot be read as a link ({error}).") from error
    given = {key: value.strip() for key, value in pairs}
    if len(given) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise ValueError(f"{_short(repeated)} stands in the link twice: give it once.")
    return given


def settings(given: Mapping[str, str]) -> Settings:
    """Return the workshop's settings that keys name; those left out stand at their defaults.

    Raises ``ValueError`` with a sentence.
    """
    return Settings(**_values(given, choices()))


def _values(
    given: Mapping[str, str], table: Iterable[tuple[str, Choice]], further: Collection[str] = ()
) -> dict[str, Any]:
    """Return the values that keys name, by the names of their controls.

    ``further`` keys are said to be there too. Raises ``ValueError`` with a sentence.
    """
    known = {choice.key: (name, choice) for name, choice in table}
    for key in given:
        if key not in known:
            allowed = ", ".join([*known, *further])
            raise ValueError(f"{_short(key)} is no setting: there are {allowed}.")
    return {
        name: _value(choice, given[key]) for key, (name, choice) in known.items() if key in given
    }


def _value(choice: Choice, text: str) -> Any:
    for value in choice.objects:
        if text == choice.spell(value):
            return value
    raise _refusal(choice.key, text, choice.allowed)


def _checked(view: dict[str, str], parts: Collection[str]) -> dict[str, str]:
    keys = [choice.key for _, choice in every_choice()]
    for key, value in view.items():
        if key == "embed" and value != "1":
            raise _refusal(key, value, "1")
        if key == "theme" and value not in ("light", "dark"):
            raise _refusal(key, value, "light or dark")
        if key in ("show", "hide"):
            known = parts if key == "show" else keys
            names = [name.strip() for name in value.split(",")]
            unknown = [name for name in names if name not in known]
            if unknown:
                raise _refusal(key, unknown[0], f"any of {', '.join(known)}, with commas")
    return view


def _refusal(key: str, value: str, allowed: str) -> ValueError:
    return ValueError(f"{key} is {_short(value)}: it can be {allowed}.")


def _short(text: str) -> str:
    return repr(text[:_MOST_CHARACTERS])
