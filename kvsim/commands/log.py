"""``kvsim log``: what a server's start-up says about its cache."""

import argparse
import json

from kvsim.commands.arguments import number
from kvsim.commands.inputs import fail_at, read_input
from kvsim.logs.facts import NAMES, log_facts
from kvsim.logs.server_log import read_log
from kvsim.logs.text import MAX_LOG_BYTES


def add_log(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser's."""
    log = commands.add_parser("log", help="read the cache of a server from its start-up's lines")
    log.add_argument("file", metavar="FILE", help="the lines; - for standard input")
    log.add_argument(
        "--bytes-per-token",
        type=number("number of bytes"),
        metavar="BYTES",
        help="what a token takes on one GPU, for a log that has no tokens and no blocks",
    )
    log.add_argument("--json", action="store_true", help="print one JSON object")
    log.set_defaults(run=lambda given: _log(given.file, given.bytes_per_token, given.json))


def _log(name: str, bytes_per_token: float | None, as_json: bool) -> int:
    try:
        log = read_log(read_input(name, MAX_LOG_BYTES))
    except (OSError, ValueError) as error:
        return fail_at(name, error)
    facts = log_facts(log, bytes_per_token)
    if as_json:
        print(json.dumps(facts, indent=2))
        return 0
    print(f"engine: {' '.join(filter(None, (log.engine, log.generation))) or 'unknown'}")
    for key, called in NAMES.items():
        if key in log.figures:
            printed = log.figures[key]
            value = printed.value
            shown = value if isinstance(value, str) else f"{value:,}"
            print(f"{called}: {shown} (line {printed.line})")
    capacity = facts["capacity"]
    print(f"\n{capacity['sentence'] if capacity else facts['capacity_problem']}\n")
    for said in (*facts["remarks"], *facts["unread"]):
        print(f"- {said['sentence']}")
    return 0
