"""Fields of what a page asks for: each is taken once, checked, and refused in one sentence."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

_SHOWN = 60


class Fields:
    """A JSON object, whose fields are taken one by one; null counts as left out.

    The methods raise ``ValueError`` that names the field, its value, what is allowed, and so what
    to do.
    """

    def __init__(self, given: object) -> None:
        if not isinstance(given, Mapping):
            raise ValueError(f"This is {shown(given)}: it must be a JSON object of fields.")
        self._given = {name: value for name, value in given.items() if value is not None}
        self._known: list[str] = []

    def take(self, name: str) -> Any:
        """Return a field as it stands, or None."""
        self._known.append(name)
        return self._given.get(name)

    def whole(self, name: str, least: int, most: int) -> int | None:
        """Return a field that is a whole number, or None."""
        value = self.take(name)
        if value is None:
            return None
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(
                f"{name} is {shown(value)}: it must be a whole number from {least:,} to {most:,}."
            )
        return value

    def number(
        self, name: str, most: float, *, least: float = 0.0, zero: bool = False
    ) -> float | None:
        """Return a field that is a number above 0 (or 0, if ``zero``) and at most ``most``.

        With ``least`` it is at least that.
        """
        value = self.take(name)
        if value is None:
            return None
        fits = (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and (0 < value <= most or (zero and value == 0))
            and value >= least
            and math.isfinite(value)
        )
        if not fits:
            above = f"from {least:g}" if zero or least else "above 0 and up"
            raise ValueError(f"{name} is {shown(value)}: it must be a number {above} to {most:,}.")
        return float(value)

    def one_of(self, name: str, choices: Sequence[str]) -> str | None:
        """Return a field that is one of some texts, or None."""
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, str) or value not in choices:
            raise ValueError(f"{name} is {shown(value)}: choose one of {', '.join(choices)}.")
        return value

    def refuse(self, name: str, sentence: str) -> None:
        """Raise if a field is given that would make no difference; ``sentence`` says why."""
        if self.take(name) is not None:
            raise ValueError(f"{name} is {shown(self._given[name])}: {sentence}")

    def refuse_unknown(self) -> None:
        """Raise if there are fields that nobody has taken."""
        for name in self._given:
            if name not in self._known:
                raise ValueError(
                    f"{shown(name)} is no field: there are {', '.join(dict.fromkeys(self._known))}."
                )


def shown(value: object) -> str:
    """Write a value, cut where it is long."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # too deep, or a number too long to be written
        return "too large to be shown"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
