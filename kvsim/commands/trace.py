"""``kvsim trace``: what a file of arrivals and lengths holds."""

import argparse
import json
from dataclasses import asdict

from kvsim.commands.inputs import fail_at, read_input
from kvsim.traces.rows import MAX_TRACE_BYTES, TraceError
from kvsim.traces.trace import read_trace, trace_facts


def add_trace(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser's."""
    trace = commands.add_parser("trace", help="read arrivals and lengths of requests from a file")
    trace.add_argument("file", metavar="FILE", help="CSV, or JSON lines; - for standard input")
    trace.add_argument(
        "--leave-out-bad-rows", action="store_true", help="report bad rows, and use the others"
    )
    trace.add_argument("--json", action="store_true", help="print one JSON object")
    trace.set_defaults(run=lambda given: _trace(given.file, given.leave_out_bad_rows, given.json))


def _trace(name: str, leave_out: bool, as_json: bool) -> int:
    try:
        trace = read_trace(read_input(name, MAX_TRACE_BYTES), leave_out_bad_rows=leave_out)
    except TraceError as error:
        if as_json:
            bad = [asdict(row) for row in error.bad_rows]
            print(json.dumps({"error": str(error), "bad_rows": bad}, indent=2))
        else:
            for row in error.bad_rows:
                print(row.sentence)
        return fail_at(name, error)
    except OSError as error:
        return fail_at(name, error)
    if as_json:
        print(json.dumps(trace_facts(trace), indent=2))
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
