"""The commands of the simulation, for ``python -m kvsim`` and for ``kvsim``."""

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import replace

from kvsim import checks
from kvsim.hardware import GPU, H100

# Of the GPU's rates: with less, a pass would take longer than any traffic lasts.
LEAST_SHARE = 0.001
_SHOWN = 200  # characters of what somebody gave


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands to a parser's; each sets ``run``, which returns what the shell is told."""
    paper = commands.add_parser(
        "paper", help="simulate what Kwon et al. (SOSP 2023) measured, and print both"
    )
    paper.add_argument("--json", action="store_true", help="print one JSON object")
    paper.add_argument(
        "--seeds", type=whole(1, 1000, "number of seeds"), default=5, help="runs; default 5"
    )
    add_workers(paper)
    paper.set_defaults(run=lambda given: _paper(given.seeds, given.workers, given.json))
    # These read their arguments with the help of this module.
    from kvsim.capacity_command import add_capacity
    from kvsim.input_commands import add_input_commands
    from kvsim.limits_command import add_limits
    from kvsim.run_command import add_run

    add_capacity(commands)
    add_run(commands)
    add_limits(commands)
    add_input_commands(commands)


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


def _paper(seeds: int, workers: int | None, as_json: bool) -> int:
    # The paper's experiments are not needed by the other commands.
    from concurrent.futures import BrokenExecutor

    from kvsim import figure_19
    from kvsim.paper_sharing import reproduce_all
    from kvsim.paper_text import notes, text

    try:
        result = reproduce_all(seeds, workers) | {"figure_19": figure_19.compared()}
    except BrokenExecutor:
        print(
            "A process that simulated was ended from outside, perhaps for want of memory: "
            "fewer --workers need less.",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print("Stopped; nothing is kept.", file=sys.stderr)
        return 1
    print(json.dumps(result | {"notes": notes(result)}, indent=2) if as_json else text(result))
    return 0
