"""What came out of a run: when each request was answered, and what the cache held at any time.

A timeline keeps a few numbers for each stay of a request in the cache. The batch and the duration
of every pass, and so the clock, follow from them.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kvsim import checks
from kvsim.allocation import Allocation
from kvsim.passes import Passes, passes_of
from kvsim.server import Server
from kvsim.stays import Moves, Stays
from kvsim.workload import FloatArray, IntArray, Requests


@dataclass(frozen=True, eq=False)
class Timeline:
    """One run. Arrays are in the order of the requests; times are in seconds."""

    requests: Requests
    server: Server
    allocation: Allocation
    ttft_s: FloatArray  # from arrival to the end of the pass that produced the first token
    finish_s: FloatArray
    stays: Stays
    moves: Moves

    @cached_property
    def preemptions(self) -> IntArray:
        """How often each request was pre-empted."""
        return np.bincount(self.stays.request, minlength=len(self.requests)) - 1

    @cached_property
    def latency_s(self) -> FloatArray:
        """From the arrival of each request to its last token."""
        return self.finish_s - self.requests.arrival_s

    @cached_property
    def tpot_s(self) -> FloatArray:
        """Time per output token after the first, for each request; NaN where there is only one."""
        following = self.requests.output_tokens - 1
        tpot_s = np.full(len(following), np.nan)
        np.divide(self.latency_s - self.ttft_s, following, out=tpot_s, where=following > 0)
        return tpot_s

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
        return passes_of(self.requests, self.server, self.allocation, self.stays, self.moves)

    @cached_property
    def held_tokens(self) -> IntArray:
        """Tokens that the running requests hold memory for, in each pass; what they share, once."""
        held = self.unshared_units - self.allocation.saved_units(self.requests, self.stays)
        return held * self.allocation.unit_tokens

    @cached_property
    def unshared_units(self) -> IntArray:
        """Units of memory that the running requests would hold in each pass if nobody shared."""
        stay, q, cached = self.stays.rows()
        units = self.held(stay, cached)[1]
        return np.bincount(q, units, self.passes).astype(np.int64)

    @property
    def saved_share(self) -> float:
        """Memory saved by sharing: blocks saved / blocks without sharing, summed over all passes.

        As Kwon et al. (SOSP 2023, figure 15) define it. NaN if nothing ran.
        """
        saved = self.allocation.saved_units(self.requests, self.stays)
        without = self.unshared_units.sum()
        return float(np.sum(saved) / without) if without else float("nan")

    def held(self, stay: IntArray, cached: IntArray) -> tuple[IntArray, IntArray]:
        """Return the tokens that stays hold memory for, with ``cached`` in it, and the units."""
        request = self.stays.request[stay]
        reserved = self.allocation.reserved_tokens(
            self.requests.prompt_tokens[request], self.requests.output_tokens[request], cached
        )
        return reserved, self.allocation.units_held(reserved)

    def pass_start_s(self, q: int) -> float:
        """When pass ``q`` started. Raises ``IndexError`` beyond the last pass."""
        return float(self.pass_log.start_s[q])

    def pass_end_s(self, q: int) -> float:
        """When pass ``q`` ended. Raises ``IndexError`` beyond the last pass."""
        return float(self.pass_log.end_s[q])

    def pass_at(self, time_s: float) -> int | None:
        """Number of the pass under way at a time; None while the server is idle."""
        time_s = checks.finite_number("time_s", time_s)
        q = int(np.searchsorted(self.pass_log.start_s, time_s, side="right")) - 1
        return q if q >= 0 and time_s < self.pass_log.end_s[q] else None

    def content_at(self, time_s: float) -> tuple[IntArray, IntArray]:
        """Return the running requests, oldest admission first, and the cached tokens of each.

        Both are those of the pass under way at ``time_s``, which has its memory from its start.
        """
        q = self.pass_at(time_s)
        if q is None:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        here = self.stays.running_in(q)
        return self.stays.request[here], self.stays.tokens_in(q)[here]

    def waiting_at(self, time_s: float) -> int:
        """Requests that have arrived, have not finished, and are not in the pass under way.

        At the start of a pass these are the ones for which there was no room.
        """
        q = self.pass_at(time_s)
        if q is None:
            return 0
        arrived = np.searchsorted(self.requests.arrival_s, time_s, side="right")
        finished = ~self.stays.evicted & (self.stays.last_pass < q)
        return int(arrived - np.count_nonzero(finished | self.stays.running_in(q)))
