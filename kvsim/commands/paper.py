"""``kvsim paper``: what Kwon et al. (SOSP 2023) measured, simulated."""

import argparse
import json

from kvsim.commands.arguments import add_workers, whole
from kvsim.commands.terminal import fail


def add_paper(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser's."""
    parser = commands.add_parser(
        "paper", help="simulate what Kwon et al. (SOSP 2023) measured, and print both"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--seeds", type=whole(1, 1000, "number of seeds"), default=5, help="runs; default 5"
    )
    add_workers(parser)
    parser.set_defaults(run=lambda given: _paper(given.seeds, given.workers, given.json))


def _paper(seeds: int, workers: int | None, as_json: bool) -> int:
    # The paper's experiments are not needed by the other commands.
    from concurrent.futures import BrokenExecutor

    from kvsim.paper import figure_19
    from kvsim.paper.sharing import reproduce_all
    from kvsim.paper.text import notes, text

    try:
        result = reproduce_all(seeds, workers) | {"figure_19": figure_19.compared()}
    except BrokenExecutor:
        return fail(
            "A process that simulated was ended from outside, perhaps for want of memory: "
            "fewer --workers need less."
        )
    except KeyboardInterrupt:
        return fail("Stopped; nothing is kept.")
    print(json.dumps(result | {"notes": notes(result)}, indent=2) if as_json else text(result))
    return 0
