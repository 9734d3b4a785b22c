"""The commands of the simulation: ``paper``, for ``python -m kvsim`` and for ``kvsim``."""

import argparse
import json
import sys
from collections.abc import Callable


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


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Let a command be told over how many processes to spread its work."""
    parser.add_argument(
        "--workers",
        type=whole(1, 1024, "number of processes"),
        help="processes; default, one for each core",
    )


def whole(least: int, most: int, what: str) -> Callable[[str], int]:
    """Return a reader of whole numbers within limits, which says what it reads if it cannot."""

    def read(text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= 18
        if not digits or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(
                f"{text!r} is no {what}: give a number from {least} to {most}"
            )
        return int(text)

    return read


def _paper(seeds: int, workers: int | None, as_json: bool) -> int:
    # The paper's experiments are not needed by the other commands.
    from concurrent.futures import BrokenExecutor

    from kvsim.paper import reproduce
    from kvsim.paper_text import notes, text

    try:
        result = reproduce(seeds, workers)
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
