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
    ``first_tokens + q - first_pass`` cached tokens when the pass ends. ``final_tokens`` are those
    of its request when the request ends.
    """

    request: IntArray
    first_pass: IntArray
    first_tokens: IntArray
    last_pass: IntArray
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
