"""The door for objects: what kind they must be, and the one sentence that is said if they are not.

For numbers see :mod:`kvsim.checks`.
"""

from collections.abc import Iterable
from typing import Any

_SHOWN = 80  # characters of what somebody gave


def of_kind(name: str, value: object, *kinds: type[Any]) -> None:
    """Raise ``ValueError`` unless a value is of one of these kinds.

    A protocol is met by whatever has its methods.
    """
    if not any(_is(value, kind) for kind in kinds):
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(f"{name} is {shown(value)}: it must be of type {wanted}.")


def all_of_kind(name: str, values: Iterable[object], *kinds: type[Any]) -> list[Any]:
    """Return ``values`` as a list; raise ``ValueError`` unless each is of one of these kinds.

    An iterator can be read only once, so it is the list that is used from then on.
    """
    try:
        several = list(values)
    except TypeError:
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise ValueError(
            f"{name} is {shown(values)}: give a list, each of type {wanted}."
        ) from None
    for index, value in enumerate(several):
        of_kind(f"{name}[{index}]", value, *kinds)
    return several


def one_of(name: str, value: object, choices: tuple[str, ...]) -> None:
    """Raise ``ValueError`` unless a value is one of these names."""
    if not isinstance(value, str) or value not in choices:
        *most, last = map(repr, choices)
        raise ValueError(f"{name} is {shown(value)}: choose {', '.join(most)} or {last}.")


def shown(value: object) -> str:
    """Write a value in one line, cut where it is long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # too deep, too long a number, or no way to write it
        return f"of type {type(value).__name__}"
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _is(value: object, kind: type[Any]) -> bool:
    if not getattr(kind, "_is_protocol", False):
        return isinstance(value, kind)
    names = [name for name in vars(kind) if not name.startswith("_")]
    return not isinstance(value, type) and all(hasattr(value, name) for name in names)
