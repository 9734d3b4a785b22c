"""Every pass of a run, worked out from the stays: its batch, its work, when it ran."""

from dataclasses import dataclass

import numpy as np

from kvsim.allocation import Allocation
from kvsim.roofline import Roofline
from kvsim.server import Server
from kvsim.stays import Moves, Stays
from kvsim.workload import FloatArray, IntArray, Requests


@dataclass(frozen=True, eq=False)
class Passes:
    """One entry for each pass, in order."""

    batch: IntArray  # running requests
    processed_tokens: IntArray
    attended_tokens: IntArray  # positions that the processed ones attend to
    cached_tokens: IntArray  # of the running requests, when the pass ends
    moved_tokens: IntArray  # to and from the host
    moved_blocks: IntArray  # that held them
    start_s: FloatArray
    end_s: FloatArray


def passes_of(
    requests: Requests, server: Server, allocation: Allocation, stays: Stays, moves: Moves
) -> Passes:
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

    # Who enters computes what is not ready, in place of the one token of a decode.
    processed = batch + entering(stays.first_tokens - stays.ready_tokens - 1)
    attended = cached + entering(
        positions(stays.first_tokens) - positions(stays.ready_tokens) - stays.first_tokens
    )
    moved, moved_blocks = np.zeros((2, count), np.int64)
    np.add.at(moved, moves.in_pass, moves.tokens)
    np.add.at(moved_blocks, moves.in_pass, moves.blocks)

    roofline = Roofline(server, allocation.read_factor)
    duration_s = roofline.passes_s(processed, attended, cached, moved, moved_blocks)
    elapsed_s = np.cumsum(duration_s)
    # A pass starts when the one before it ends or, on an idle server, with the arrival that it
    # admits: the clock is ahead of the sum of durations by the longest such delay so far.
    arrival_s = np.zeros(count)
    np.maximum.at(arrival_s, stays.first_pass, requests.arrival_s[stays.request])
    idle_s = np.maximum.accumulate(arrival_s - (elapsed_s - duration_s))
    end_s = elapsed_s + idle_s
    start_s = np.maximum(np.append(0.0, end_s)[:count], arrival_s)
    return Passes(batch, processed, attended, cached, moved, moved_blocks, start_s, end_s)


def positions(tokens: IntArray) -> IntArray:
    """Positions that the first ``tokens`` of a sequence attend to, themselves among them."""
    return tokens * (tokens + 1) // 2
