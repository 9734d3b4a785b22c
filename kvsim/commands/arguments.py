"""Arguments that several commands read."""

import argparse
from collections.abc import Callable
from dataclasses import replace

from kvsim import checks
from kvsim.hardware import GPU, H100
from kvsim.setting import LEAST_SHARE

_SHOWN = 200  # characters of what somebody gave


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Let a command be told over how many processes to spread its work."""
    parser.add_argument(
        "--workers",
        type=whole(1, 1024, "number of processes"),
        help="processes; default, one for each core",
    )


def number(what: str, least: float = 0.0, most: float | None = None) -> Callable[[str], float]:
    """Return a reader of numbers above zero, from ``least`` up to ``most`` if they are given.

    It says what it reads if it cannot.
    """
    if most is None:
        allowed = "above 0"
    else:
        allowed = (
            f"from {least:g} to {most:,.10g}" if least else f"above 0 and at most {most:,.10g}"
        )

    def read(text: str) -> float:
        try:
            value = checks.positive(what, float(text))
            if value >= least and (most is None or value <= most):
                return value
        except ValueError:
            pass
        raise argparse.ArgumentTypeError(f"{text[:_SHOWN]!r} is no {what}: give a number {allowed}")

    return read


def add_efficiencies(parser: argparse.ArgumentParser) -> None:
    """Let a command be told which shares of the GPU's published rates are reached."""
    for name, what in (("compute", "arithmetic"), ("bandwidth", "bandwidth")):
        default = getattr(H100, f"{name}_share")
        parser.add_argument(
            f"--{name}-share",
            type=number("share", LEAST_SHARE, 1),
            default=default,
            help=f"of the GPU's published {what}; default {default}",
        )


def efficient(gpu: GPU, given: argparse.Namespace) -> GPU:
    """Return a GPU with the shares that were given."""
    return replace(gpu, compute_share=given.compute_share, bandwidth_share=given.bandwidth_share)


def whole(least: int, most: int, what: str) -> Callable[[str], int]:
    """Return a reader of whole numbers within limits, which says what it reads if it cannot."""

    def read(text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= len(str(most))
        if not digits or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"{text[:_SHOWN]!r} is no {what}: give a number from {least} to {most}"
            )
        return int(text)

    return read
