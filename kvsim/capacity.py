"""How many requests fit at once, and how much of what they reserve holds tokens: closed forms."""

from dataclasses import dataclass

import numpy as np

from kvsim.allocation import Allocation, Contiguous, Paged
from kvsim.kinds import of_kind, shown
from kvsim.server import Server
from kvsim.workload import Lengths


@dataclass(frozen=True)
class Capacity:
    """What a full cache holds on average, with requests of one distribution of lengths."""

    requests: float
    share_in_use: float  # of the reserved memory: what part holds tokens


def capacity(server: Server, allocation: Allocation, lengths: Lengths) -> Capacity:
    """Return the requests that fit and the share in use, exact for ``lengths``.

    With c the cached tokens of a running request at a random pass, ``units / E[units held]``
    requests fit and ``E[c] / (unit tokens x E[units held])`` of their memory is in use. A block
    is a unit; so is a contiguous slot, of which everybody holds one. Raises ``ValueError`` if the
    cache is smaller than one unit, for lengths that exceed a slot, and for other allocations: how
    many runs of blocks fit depends on where the holes are.
    """
    of_kind("server", server, Server)
    of_kind("lengths", lengths, Lengths)
    if not isinstance(allocation, Contiguous | Paged):
        raise ValueError(
            f"allocation is {shown(allocation)}: only Contiguous and Paged have a closed form, so "
            "simulate this one."
        )
    if isinstance(allocation, Contiguous) and lengths.max_length > allocation.max_length:
        raise ValueError(
            f"max_length of the lengths is {lengths.max_length:,}, but a slot has "
            f"{allocation.max_length:,} tokens: cut the lengths or raise the slots' max_length."
        )
    pmf = lengths.cached_tokens_pmf()
    tokens = np.arange(len(pmf))
    held = float(np.average(allocation.units_held(tokens), weights=pmf))
    return Capacity(
        requests=allocation.units(server) / held,
        share_in_use=float(np.average(tokens, weights=pmf)) / (allocation.unit_tokens * held),
    )
