"""Every pass of a run, worked out from the stays: its batch, its work, when it ran."""

from dataclasses import dataclass

import numpy as np

from kvsim.allocation import Allocation
from kvsim.roofline import Roofline
from kvsim.server import Server
from kvsim.stays import Stays
from kvsim.workload import FloatArray, IntArray, Requests


@dataclass(frozen=True, eq=False)
class Passes:
    """One entry for each pass, in order."""

    batch: IntArray  # running requests
    processed_tokens: IntArray
    attended_tokens: IntArray  # positions that the processed ones attend to
    cached_tokens: IntArray  # of the running requests, when the pass ends
    moved_tokens: IntArray  # to and from the host
    start_s: FloatArray
    end_s: FloatArray


def passes_of(requests: Requests, server: Server, allocation: Allocation, stays: Stays) -> Passes:
    """Add up what the stays bring to each pass, and let the passes follow one another."""
    count = int(stays.last_pass.max(initial=-1)) + 1

    def entering(amount: IntArray | int) -> IntArray:
        """Sum an amount over the stays that begin with each pass."""
        total = np.zeros(count, np.int64)
        np.add.at(total, stays.first_pass, amount)
        return total

    def leaving(amount: IntArray | int) -> IntArray:
        """Sum an amount over the stays that ended before each pass."""
        total = np.zeros(count + 1, np.int64)
        np.add.at(total, stays.last_pass + 1, amount)
        return total[:count]

    last_tokens = stays.tokens_in(stays.last_pass)
    batch = np.cumsum(entering(1) - leaving(1))
    # Every running request caches a token a pass; those that enter bring what they have beside it.
    cached = np.cumsum(batch + entering(stays.first_tokens - 1) - leaving(last_tokens))

    # Who enters prefills all of its tokens, unless it is swapped in, and then decodes one.
    swapped_in = stays.again & allocation.swaps
    prefilled = np.where(swapped_in, 1, stays.first_tokens)
    attends = np.where(
        swapped_in, stays.first_tokens, stays.first_tokens * (stays.first_tokens + 1) // 2
    )
    processed = batch + entering(prefilled - 1)
    attended = cached + entering(attends - stays.first_tokens)
    moved_in = entering((stays.first_tokens - 1) * swapped_in)
    moved_out = leaving(last_tokens * (stays.evicted & allocation.swaps))
    moved = moved_in + moved_out

    roofline = Roofline(server, allocation.read_factor)
    duration_s = roofline.passes_s(processed, attended, cached, moved)
    elapsed_s = np.cumsum(duration_s)
    # A pass starts when the one before it ends or, on an idle server, with the arrival that it
    # admits: the clock is ahead of the sum of durations by the longest such delay so far.
    arrival_s = np.zeros(count)
    np.maximum.at(arrival_s, stays.first_pass, requests.arrival_s[stays.request])
    idle_s = np.maximum.accumulate(arrival_s - (elapsed_s - duration_s))
    end_s = elapsed_s + idle_s
    start_s = np.maximum(np.append(0.0, end_s)[:count], arrival_s)
    return Passes(batch, processed, attended, cached, moved, start_s, end_s)
