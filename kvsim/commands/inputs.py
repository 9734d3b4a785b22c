"""The commands that read what others have written: ``log`` and ``trace``."""

import argparse
import errno
import json
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from kvsim.commands.arguments import number
from kvsim.logs.capacity import cache_of
from kvsim.logs.remarks import remarks
from kvsim.logs.server_log import ServerLog, read_log
from kvsim.logs.text import MAX_LOG_BYTES
from kvsim.traces.rows import MAX_TRACE_BYTES, TraceError
from kvsim.traces.trace import Trace, read_trace

_SHOWN = 200  # characters of a name that somebody gave
# What the figures of a log are called where they are listed.
NAMES = {
    "model": "model",
    "version": "version",
    "cache_gib": "cache on a GPU, GiB",
    "tokens": "tokens",
    "blocks": "blocks",
    "cpu_blocks": "blocks in CPU memory",
    "block_size": "block size, tokens",
    "max_length": "maximum length, tokens",
    "max_concurrency": "maximum concurrency",
    "max_num_seqs": "requests at once, at most",
    "tensor_parallel": "tensor parallel, GPUs",
    "pipeline_parallel": "pipeline parallel, stages",
    "kv_dtype": "type of the cache",
}


def add_input_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands to a parser's; each sets ``run``, which returns what the shell is told."""
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

    trace = commands.add_parser("trace", help="read arrivals and lengths of requests from a file")
    trace.add_argument("file", metavar="FILE", help="CSV, or JSON lines; - for standard input")
    trace.add_argument(
        "--leave-out-bad-rows", action="store_true", help="report bad rows, and use the others"
    )
    trace.add_argument("--json", action="store_true", help="print one JSON object")
    trace.set_defaults(run=lambda given: _trace(given.file, given.leave_out_bad_rows, given.json))


def _log(name: str, bytes_per_token: float | None, as_json: bool) -> int:
    try:
        log = read_log(_read(name, MAX_LOG_BYTES))
    except (OSError, ValueError) as error:
        return _fail(name, error)
    found, problem = _capacity(log, bytes_per_token)
    if as_json:
        _print_json(log_facts(log, bytes_per_token))
        return 0
    print(f"engine: {' '.join(filter(None, (log.engine, log.generation))) or 'unknown'}")
    for key, called in NAMES.items():
        if key in log.figures:
            printed = log.figures[key]
            value = printed.value
            shown = value if isinstance(value, str) else f"{value:,}"
            print(f"{called}: {shown} (line {printed.line})")
    print(f"\n{found['sentence'] if found else problem}\n")
    for sentence in (
        *(remark.sentence for remark in remarks(log)),
        *(unread.sentence for unread in log.unread),
    ):
        print(f"- {sentence}")
    return 0


def _capacity(
    log: ServerLog, bytes_per_token: float | None
) -> tuple[dict[str, Any] | None, str | None]:
    """Return what the cache holds, or why that is not known, which is no error of a log."""
    try:
        found = cache_of(log, bytes_per_token)
    except ValueError as error:
        return None, str(error)
    return asdict(found) | {"sentence": found.sentence}, None


def log_facts(log: ServerLog, bytes_per_token: float | None = None) -> dict[str, Any]:
    """Return all that was read in a log, ready for JSON."""
    found, problem = _capacity(log, bytes_per_token)
    return {
        "engine": log.engine,
        "generation": log.generation,
        "figures": {
            name: {"value": printed.value, "line": printed.line, "worker": printed.worker}
            for name, printed in log.figures.items()
        },
        "remarks": [
            {"name": remark.name, "values": dict(remark.values), "sentence": remark.sentence}
            for remark in remarks(log)
        ],
        "unread": [asdict(unread) | {"sentence": unread.sentence} for unread in log.unread],
        "capacity": found,
        "capacity_problem": problem,
    }


def _trace(name: str, leave_out: bool, as_json: bool) -> int:
    try:
        trace = read_trace(_read(name, MAX_TRACE_BYTES), leave_out_bad_rows=leave_out)
    except TraceError as error:
        bad = error.bad_rows
        if as_json:
            _print_json({"error": str(error), "bad_rows": [asdict(row) for row in bad]})
        else:
            for row in bad:
                print(row.sentence)
        return _fail(name, error)
    except OSError as error:
        return _fail(name, error)
    if as_json:
        _print_json(trace_facts(trace))
        return 0
    print(f"requests: {len(trace):,}, as {trace.kind} names the columns")
    rate = f"{trace.rate_per_s:,.4g} a second" if trace.duration_s else "all at once"
    print(f"arrivals: {rate}, over {trace.duration_s:,.6g} s")
    for called, spread in (("prompts", trace.prompt_spread), ("outputs", trace.output_spread)):
        print(
            f"{called}, tokens: mean {spread.mean:,.2f}, p50 {spread.p50:,.6g}, "
            f"p90 {spread.p90:,.6g}, p99 {spread.p99:,.6g}, at most {spread.greatest:,}"
        )
    for sentence in trace.remarks:
        print(f"- {sentence}")
    for row in trace.bad_rows:
        print(f"  {row.sentence}")
    return 0


def trace_facts(trace: Trace) -> dict[str, Any]:
    """Return what a trace holds in short, ready for JSON."""
    return {
        "kind": trace.kind,
        "requests": len(trace),
        "duration_s": trace.duration_s,
        "rate_per_s": trace.rate_per_s if trace.duration_s else None,
        "longest_tokens": trace.lengths().max_length,
        "prompt_tokens": asdict(trace.prompt_spread),
        "output_tokens": asdict(trace.output_spread),
        "remarks": trace.remarks,
        "bad_rows": [asdict(row) for row in trace.bad_rows],
    }


def _read(name: str, most: int) -> bytes:
    """Read a file or standard input, of which one byte beyond ``most`` is enough to refuse it."""
    if name == "-":
        if sys.stdin is None:  # closed by whoever started this
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return sys.stdin.buffer.read(most + 1)
    if "\0" in name:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    with Path(name).open("rb") as file:
        return file.read(most + 1)


def _print_json(found: dict[str, Any]) -> None:
    print(json.dumps(found, indent=2))


def _fail(name: str, error: Exception) -> int:
    if isinstance(error, OSError):
        sentence = (
            f"{name[:_SHOWN]!r} cannot be read ({error.strerror}): give a file, or - for the input."
        )
    else:
        sentence = str(error)
    print(sentence, file=sys.stderr)
    return 1
