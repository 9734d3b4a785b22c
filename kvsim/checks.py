"""The door: what a value must be, and the one sentence that is said when it is not."""

import math
from numbers import Integral, Real


def finite_number(name: str, value: object) -> float:
    """Return ``value`` as a finite float, or raise ``ValueError``."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise ValueError(f"{name} is {value!r}: it must be a finite number.")
    return float(value)


def positive(name: str, value: object) -> float:
    """Return ``value`` as a float above zero, or raise ``ValueError``."""
    number = finite_number(name, value)
    if number <= 0:
        raise ValueError(f"{name} is {value!r}: it must be above 0.")
    return number


def not_negative(name: str, value: object) -> float:
    """Return ``value`` as a float of at least zero, or raise ``ValueError``."""
    number = finite_number(name, value)
    if number < 0:
        raise ValueError(f"{name} is {value!r}: it must be 0 or more.")
    return number


def share(name: str, value: object) -> float:
    """Return ``value`` as a float above 0 and up to 1, or raise ``ValueError``."""
    number = finite_number(name, value)
    if not 0 < number <= 1:
        raise ValueError(f"{name} is {value!r}: it must be a share above 0 and at most 1.")
    return number


def whole(name: str, value: object, least: int = 1) -> int:
    """Return ``value`` as an int of at least ``least``, or raise ``ValueError``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        raise ValueError(f"{name} is {value!r}: it must be a whole number of at least {least}.")
    return int(value)
