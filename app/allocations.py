"""What the controls' names stand for in the simulation."""

from dataclasses import replace
from typing import Any

import kvsim
from kvsim.binned import WORKLOADS

SERVER = kvsim.Server()
_RUNS: dict[str, type[kvsim.Buddy] | type[kvsim.FirstFit]] = {
    "buddy": kvsim.Buddy,
    "firstfit": kvsim.FirstFit,
}


def lengths(workload: str, max_length: int) -> kvsim.ExponentialLengths | kvsim.BinnedLengths:
    """Return the length distribution of a workload, cut at the maximum length."""
    return replace(WORKLOADS[workload], max_length=max_length)


def contiguous(reservation: str, max_length: int) -> kvsim.Allocation:
    """Return the contiguous allocation that makes a reservation, named as in the settings."""
    if reservation == "slots":
        return kvsim.Contiguous(max_length)
    kind, estimate = reservation.split("-")
    arguments: dict[str, Any] = {"estimate": estimate, "max_length": max_length}
    return _RUNS[kind](**arguments)


def paged(block_size: int, block_overhead: float) -> kvsim.Allocation:
    """Return the paged allocation of the settings."""
    return kvsim.Paged(block_size, block_overhead)
