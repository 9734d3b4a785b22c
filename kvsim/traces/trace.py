"""Traces: arrivals and lengths of real requests from a file, to be replayed or drawn from.

Read :func:`read_trace` first; :mod:`kvsim.traces.rows` says what a row may be.
"""

import hashlib
import io
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from kvsim import checks
from kvsim.kinds import of_kind
from kvsim.timeline import Timeline
from kvsim.traces.lengths import TraceLengths
from kvsim.traces.rows import KINDS, MAX_ARRIVAL_S, BadRow, TraceError, bad_rows_sentence, read_rows
from kvsim.workload import FloatArray, IntArray, Requests


@dataclass(frozen=True)
class Spread:
    """A column in short: mean, quantiles and greatest value, in tokens."""

    mean: float
    p50: float
    p90: float
    p99: float
    greatest: int


@dataclass(frozen=True, eq=False)
class Trace:
    """Requests of a trace in order of arrival.

    ``kind`` names whose columns they came with; ``bad_rows`` are those that were left out;
    ``late_rows`` is how many rows had arrived before the row above them; ``further_columns`` are
    the names of columns that were not read.
    """

    arrival_s: FloatArray
    prompt_tokens: IntArray
    output_tokens: IntArray
    kind: str = KINDS[0].kind
    bad_rows: tuple[BadRow, ...] = ()
    late_rows: int = 0
    further_columns: tuple[str, ...] = ()

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self.arrival_s)

    @property
    def duration_s(self) -> float:
        """Seconds from the first arrival to the last."""
        return float(self.arrival_s[-1] - self.arrival_s[0])

    @property
    def rate_per_s(self) -> float:
        """Requests per second between the first arrival and the last; infinite if all are at once.

        One request has no rate, and counts as all at once.
        """
        return (len(self) - 1) / self.duration_s if self.duration_s > 0 else float("inf")

    def requests(self) -> Requests:
        """Return the requests at their own times."""
        return Requests(self.arrival_s, self.prompt_tokens, self.output_tokens)

    def at_rate(self, rate_per_s: float) -> Requests:
        """Return the requests with all gaps stretched alike, so that they come at this rate.

        The first arrives at 0. Raises ``ValueError`` for a rate that is not above 0, and if all
        arrive at once, for then there is no gap to stretch.
        """
        rate_per_s = checks.positive("rate_per_s", rate_per_s)
        if self.duration_s == 0:
            raise ValueError(
                f"rate_per_s is {rate_per_s!r}, but all {len(self):,} requests of the trace arrive "
                "at once: replay it at its own times."
            )
        if (len(self) - 1) / rate_per_s > MAX_ARRIVAL_S:
            raise ValueError(
                f"rate_per_s is {rate_per_s!r}, at which the {len(self):,} requests of the trace "
                f"take more than {MAX_ARRIVAL_S:,} s: choose a higher one."
            )
        # Divided first: times of day are large, and the gaps small.
        since = (self.arrival_s - self.arrival_s[0]) / self.duration_s
        return Requests(
            since * ((len(self) - 1) / rate_per_s), self.prompt_tokens, self.output_tokens
        )

    def lengths(self, max_length: int | None = None) -> TraceLengths:
        """Return the lengths to draw from, cut at ``max_length``; by default nothing is cut."""
        longest = int((self.prompt_tokens + self.output_tokens).max())
        return TraceLengths(
            self.prompt_tokens, self.output_tokens, longest if max_length is None else max_length
        )

    def cut(self, max_length: int) -> "Trace":
        """Return the trace with requests cut at ``max_length``, as :class:`TraceLengths` does."""
        cut = self.lengths(max_length)
        return replace(self, prompt_tokens=cut.prompt_tokens, output_tokens=cut.output_tokens)

    @cached_property
    def digest(self) -> str:
        """Name of the content: two traces of the same requests have the same."""
        columns = (self.arrival_s, self.prompt_tokens, self.output_tokens)
        return hashlib.sha256(
            b"".join(c.astype(c.dtype.newbyteorder("<")).tobytes() for c in columns)
        ).hexdigest()

    @property
    def prompt_spread(self) -> Spread:
        """Prompts in short."""
        return _spread(self.prompt_tokens)

    @property
    def output_spread(self) -> Spread:
        """Outputs in short."""
        return _spread(self.output_tokens)

    @property
    def remarks(self) -> list[str]:
        """Sentences about how the trace was read: what was left out, sorted or not read."""
        said = []
        if self.bad_rows:
            said.append(bad_rows_sentence(self.bad_rows, "left out"))
        if self.late_rows:
            rows = "1 row arrives" if self.late_rows == 1 else f"{self.late_rows:,} rows arrive"
            said.append(f"{rows} before the row above: the rows were sorted by arrival.")
        if self.further_columns:
            names = ", ".join(map(repr, self.further_columns[:5]))
            names = names if len(names) <= 100 else names[:99] + "…"
            said.append(f"Columns that are not used: {names}.")
        return said


def _spread(tokens: IntArray) -> Spread:
    p50, p90, p99 = (float(quantile) for quantile in np.quantile(tokens, (0.5, 0.9, 0.99)))
    return Spread(float(tokens.mean()), p50, p90, p99, int(tokens.max()))


def read_trace(data: str | bytes, *, leave_out_bad_rows: bool = False) -> Trace:
    """Read a trace: CSV with a line of names, or a JSON object a line.

    Names are ``arrival_s,prompt_tokens,output_tokens`` (seconds from 0), those of the Azure
    traces (``TIMESTAMP,ContextTokens,GeneratedTokens``, dates and times), or of the Mooncake
    traces (``timestamp,input_length,output_length``, in ms); upper and lower case, order and
    further columns do not matter. Rows are sorted by arrival. Raises ``TraceError``, a
    ``ValueError`` that lists every bad row, if there are any and they are not to be left out, if
    no row is good, and for more than ``MAX_TRACE_BYTES`` bytes or ``MAX_TRACE_ROWS`` rows.
    """
    of_kind("data", data, str, bytes)
    rows = read_rows(data)
    if rows.bad and not (leave_out_bad_rows and len(rows.arrival_s)):
        them = "it" if len(rows.bad) == 1 else "them"
        others = len(rows.arrival_s)
        remedy = f"correct {them}, or leave {them} out" if others else "no other is left"
        raise TraceError(bad_rows_sentence(rows.bad, remedy), rows.bad)
    if not len(rows.arrival_s):
        raise TraceError("The trace has names of columns and no rows: give a row for each request.")
    order = np.argsort(rows.arrival_s, kind="stable")
    late = int(np.count_nonzero(np.diff(rows.arrival_s) < 0))
    columns = (rows.arrival_s[order], rows.prompt_tokens[order], rows.output_tokens[order])
    for column in columns:
        column.flags.writeable = False
    return Trace(*columns, rows.columns.kind, rows.bad, late, rows.further_columns)


def write_trace(source: Requests | Timeline | Trace) -> str:
    """Return requests, or those of a run, as CSV that :func:`read_trace` reads back exactly.

    Arrivals and lengths are all that a trace has: samples of one prompt become requests apart.
    """
    of_kind("source", source, Requests, Timeline, Trace)
    requests = source.requests if isinstance(source, Timeline) else source
    out = io.StringIO()
    out.write(",".join(KINDS[0].names) + "\n")
    columns = (requests.arrival_s, requests.prompt_tokens, requests.output_tokens)
    for row in zip(*(column.tolist() for column in columns), strict=True):
        out.write("{!r},{},{}\n".format(*row))
    return out.getvalue()


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
