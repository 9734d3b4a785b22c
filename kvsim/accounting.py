"""What every token of the cache is used for, in the paper's terms: parts that add up to the whole.

Kwon et al. (SOSP 2023, section 3.1 and figure 2) tell apart what a reservation holds; their
"external fragmentation and others" is here divided by its causes.
"""

from dataclasses import dataclass, fields

import numpy as np

from kvsim.kinds import of_kind
from kvsim.placement import Placement
from kvsim.workload import IntArray


@dataclass(frozen=True, eq=False)
class Accounting:
    """Tokens of the cache by use, one entry for each pass; together they are its capacity."""

    token_states: IntArray  # cached, when the pass ends
    reserved: IntArray  # to be used: by tokens that running requests will still produce
    internal: IntArray  # reserved, and never used: the request ends before
    unfilled: IntArray  # ends of last blocks
    rounding: IntArray  # of runs to a power of two
    external: IntArray  # free: enough for the head of the queue, but in holes too small for it
    free: IntArray  # all other, among it what is left over from the division into units

    def parts(self) -> dict[str, IntArray]:
        """Return all uses by name, in the order of a bar."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def account(placement: Placement) -> Accounting:
    """Say of all tokens of the cache, in every pass of a run, what they are used for."""
    of_kind("placement", placement, Placement)
    timeline = placement.timeline
    stay, q, cached = timeline.stays.rows()
    reserved, units = timeline.held(stay, cached)
    request = timeline.stays.request[stay]
    length = timeline.requests.prompt_tokens[request] + timeline.requests.output_tokens[request]
    size = timeline.allocation.unit_tokens
    in_whole_units = -(-reserved // size) * size
    used = np.minimum(reserved, length)  # sooner or later; the last output token as well

    def in_each_pass(tokens: IntArray) -> IntArray:
        # Whole numbers below 2**53 add up exactly.
        return np.bincount(q, tokens, timeline.passes).astype(np.int64)

    held = in_each_pass(units * size)
    free_units = timeline.allocation.units(timeline.server) * size - held
    external = np.where(placement.scattered, free_units, 0)
    return Accounting(
        token_states=in_each_pass(cached),
        reserved=in_each_pass(used - cached),
        internal=in_each_pass(reserved - used),
        unfilled=in_each_pass(in_whole_units - reserved),
        rounding=in_each_pass(units * size - in_whole_units),
        external=external,
        free=timeline.server.capacity_tokens - held - external,
    )
