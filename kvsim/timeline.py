"""What came out of a run: when each request was answered, and what the cache held at any time.

A timeline keeps a few numbers for each stay of a request in the cache. The batch and the duration
of every pass, and so the clock, follow from them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kvsim.allocation import Allocation
from kvsim.roofline import Roofline
from kvsim.server import Server
from kvsim.workload import FloatArray, IntArray, Requests


@dataclass(frozen=True, eq=False)
class Stays:
    """The stays of requests in the cache, in order of admission; a pre-empted one has several.

    In pass ``q``, from ``first_pass`` to ``last_pass``, a stay holds
    ``first_tokens + q - first_pass`` cached tokens when the pass ends.
    """

    request: IntArray
    first_pass: IntArray
    first_tokens: IntArray
    last_pass: IntArray

    def tokens_in(self, q: IntArray | int) -> IntArray:
        """Cached tokens of each stay in pass ``q`` (of its own, where ``q`` is an array)."""
        return self.first_tokens + q - self.first_pass


@dataclass(frozen=True, eq=False)
class Passes:
    """Every pass of a run, in order: what it worked on, when it ran."""

    batch: IntArray  # running requests
    processed_tokens: IntArray
    attended_tokens: IntArray
    cached_tokens: IntArray  # of the running requests, when the pass ends
    moved_tokens: IntArray  # to and from the host
    start_s: FloatArray
    end_s: FloatArray


@dataclass(frozen=True, eq=False)
class Timeline:
    """One run. Arrays are in the order of the requests; times are in seconds."""

    requests: Requests
    server: Server
    allocation: Allocation
    ttft_s: FloatArray  # from arrival to the end of the pass that produced the first token
    finish_s: FloatArray
    stays: Stays

    @cached_property
    def preemptions(self) -> IntArray:
        """How often each request was pre-empted."""
        return np.bincount(self.stays.request, minlength=len(self.requests)) - 1

    @property
    def passes(self) -> int:
        """Number of forward passes."""
        return len(self.pass_log.batch)

    @property
    def peak_running(self) -> int:
        """Most requests that ran in one pass."""
        return int(self.pass_log.batch.max(initial=0))

    @cached_property
    def pass_log(self) -> Passes:
        """Every pass, worked out from the stays."""
        stays = self.stays
        count = int(stays.last_pass.max(initial=-1)) + 1

        def per_pass(q: IntArray, amount: IntArray | int) -> IntArray:
            """Sum ``amount`` over the stays for which ``q`` is the pass."""
            total = np.zeros(count + 1, np.int64)
            np.add.at(total, q, amount)
            return total

        after = stays.last_pass + 1
        leaving = np.cumsum(per_pass(stays.first_pass, 1) - per_pass(after, 1))
        batch = leaving[:count]
        # Cached tokens grow by the batch; a stay brings its first ones and takes its last ones.
        brought = per_pass(stays.first_pass, stays.first_tokens - 1)
        taken = per_pass(after, stays.tokens_in(stays.last_pass))
        cached = np.cumsum(batch + (brought - taken)[:count])

        first_stay = np.zeros(len(stays.request), bool)
        first_stay[np.unique(stays.request, return_index=True)[1]] = True
        decoded_first = ~first_stay & self.allocation.swaps
        work = np.where(decoded_first, 1, stays.first_tokens)
        attends = stays.first_tokens * (stays.first_tokens + 1) // 2
        attends[decoded_first] = stays.first_tokens[decoded_first]
        # What joins a pass by prefill differs from a decode by its further tokens and positions.
        processed = batch + per_pass(stays.first_pass, work - 1)[:count]
        attended = cached + per_pass(stays.first_pass, attends - stays.first_tokens)[:count]
        moved_in = per_pass(stays.first_pass, (stays.first_tokens - 1) * decoded_first)
        evicted = stays.tokens_in(stays.last_pass) < self.requests.final_tokens[stays.request]
        moved_out = per_pass(after, stays.tokens_in(stays.last_pass) * evicted)
        moved = (moved_in + moved_out * self.allocation.swaps)[:count]

        roofline = Roofline(self.server, self.allocation.read_factor)
        duration_s = roofline.passes_s(processed, attended, cached, moved)
        elapsed_s = np.cumsum(duration_s)
        # A pass starts when the one before it ends, or, on an idle server, with the arrival that
        # it admits: the clock is behind the sum of durations by the longest such wait so far.
        arrival_s = np.zeros(count)
        np.maximum.at(arrival_s, stays.first_pass, self.requests.arrival_s[stays.request])
        idle_s = np.maximum.accumulate(arrival_s - (elapsed_s - duration_s))
        end_s = elapsed_s + idle_s
        return Passes(batch, processed, attended, cached, moved, end_s - duration_s, end_s)

    def pass_start_s(self, q: int) -> float:
        """When pass ``q`` started. Raises ``IndexError`` beyond the last pass."""
        return float(self.pass_log.start_s[q])

    def pass_end_s(self, q: int) -> float:
        """When pass ``q`` ended. Raises ``IndexError`` beyond the last pass."""
        return float(self.pass_log.end_s[q])

    def pass_at(self, time_s: float) -> int | None:
        """Number of the pass under way at a time; None while the server is idle."""
        q = int(np.searchsorted(self.pass_log.start_s, time_s, side="right")) - 1
        return q if q >= 0 and time_s < self.pass_log.end_s[q] else None

    def content_at(self, time_s: float) -> tuple[IntArray, IntArray]:
        """Return the running requests, oldest admission first, and the cached tokens of each.

        Both are those of the pass under way at ``time_s``, which has its memory from its start.
        """
        q = self.pass_at(time_s)
        if q is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        here = (self.stays.first_pass <= q) & (q <= self.stays.last_pass)
        return self.stays.request[here], self.stays.tokens_in(q)[here]

    def waiting_at(self, time_s: float) -> int:
        """Requests that have arrived, have not finished, and are not running."""
        arrived = np.searchsorted(self.requests.arrival_s, time_s, side="right")
        finished = np.count_nonzero(self.finish_s <= time_s)
        return int(arrived - finished) - len(self.content_at(time_s)[0])
