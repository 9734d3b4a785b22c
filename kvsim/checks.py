"""The door: what a value must be, and the one sentence that is said when it is not."""

import math
from collections.abc import Callable
from contextlib import suppress
from numbers import Integral, Real

from kvsim.kinds import shown


def finite_number(name: str, value: object) -> float:
    """Return ``value`` as a finite float, or raise ``ValueError``."""
    number = math.nan
    if not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):
            number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{name} is {shown(value)}: it must be a finite number.")
    return number


def positive(name: str, value: object) -> float:
    """Return ``value`` as a float above zero, or raise ``ValueError``."""
    number = finite_number(name, value)
    if number <= 0:
        raise ValueError(f"{name} is {shown(value)}: it must be above 0.")
    return number


def not_negative(name: str, value: object) -> float:
    """Return ``value`` as a float of at least zero, or raise ``ValueError``."""
    number = finite_number(name, value)
    if number < 0:
        raise ValueError(f"{name} is {shown(value)}: it must be 0 or more.")
    return number


def share(name: str, value: object) -> float:
    """Return ``value`` as a float above 0 and up to 1, or raise ``ValueError``."""
    number = finite_number(name, value)
    if not 0 < number <= 1:
        raise ValueError(f"{name} is {shown(value)}: it must be a share above 0 and at most 1.")
    return number


def whole(name: str, value: object, least: int = 1) -> int:
    """Return ``value`` as an int of at least ``least``, or raise ``ValueError``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(
            f"{name} is {shown(value)}: it must be a whole number of at least {least}."
        )
    return int(value)


def length(name: str, value: object) -> int:
    """Return ``value`` as an int of at least 2: a token of prompt and one of output."""
    return whole(name, value, least=2)


def keep(owner: object, check: Callable[[str, object], object], *names: str) -> None:
    """Check fields of a frozen dataclass, and keep them as the plain numbers that they are."""
    for name in names:
        object.__setattr__(owner, name, check(name, getattr(owner, name)))
