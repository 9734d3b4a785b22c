"""The stays of requests in the cache: the few numbers from which a run's content follows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from kvsim.workload import IntArray


@dataclass(frozen=True, eq=False)
class Stays:
    """All stays of a run, in order of admission; a pre-empted request has several.

    In pass ``q``, from ``first_pass`` to ``last_pass``, a stay holds
    ``first_tokens + q - first_pass`` cached tokens when the pass ends. Of its ``first_tokens`` the
    first pass computes all but ``ready_tokens``: those were in the cache already, come from the
    host, or are computed for another sample of the same prompt. ``final_tokens`` are those of its
    request when the request ends.
    """

    request: IntArray
    first_pass: IntArray
    first_tokens: IntArray
    last_pass: IntArray
    ready_tokens: IntArray
    final_tokens: IntArray

    def tokens_in(self, q: IntArray | int) -> IntArray:
        """Cached tokens of each stay in pass ``q`` (of its own, where ``q`` is an array)."""
        return self.first_tokens + q - self.first_pass

    def rows(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return stay, pass and cached tokens, once for each pass of each stay.

        That is one row for every output token of the run.
        """
        passes = self.last_pass - self.first_pass + 1
        stay = np.repeat(np.arange(len(passes)), passes)
        since_first = np.arange(len(stay)) - np.repeat(np.cumsum(passes) - passes, passes)
        return stay, self.first_pass[stay] + since_first, self.first_tokens[stay] + since_first

    def running_in(self, q: int) -> NDArray[np.bool_]:
        """Whether each stay lasts through pass ``q``."""
        running: NDArray[np.bool_] = (self.first_pass <= q) & (q <= self.last_pass)
        return running

    @cached_property
    def evicted(self) -> NDArray[np.bool_]:
        """Whether each stay ended in pre-emption, and not with its request."""
        evicted: NDArray[np.bool_] = self.tokens_in(self.last_pass) < self.final_tokens
        return evicted

    @cached_property
    def again(self) -> NDArray[np.bool_]:
        """Whether each stay is a return after pre-emption."""
        again = np.ones(len(self.request), bool)
        again[np.unique(self.request, return_index=True)[1]] = False
        return again

    @cached_property
    def recomputed_tokens(self) -> IntArray:
        """Tokens of each stay that were cached before and are computed again.

        The last one that its first pass computes is new: it would have been decoded anyway.
        """
        return (self.first_tokens - self.ready_tokens - 1) * self.again


@dataclass(frozen=True, eq=False)
class Moves:
    """What pre-emption by swapping moved between the cache and the host, one entry for each way.

    ``stay`` is the one that was evicted or that began (of several samples, the first);
    ``in_pass`` the pass that waited for it.
    """

    stay: IntArray
    in_pass: IntArray
    tokens: IntArray
    blocks: IntArray
