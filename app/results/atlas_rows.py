"""What the atlas is made of: rows, each one allocation with one distribution of lengths."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kvsim
from kvsim.binding import binding_limits, doubled
from kvsim.curve import BAND
from kvsim.saturated import SATURATED_REQUESTS
from kvsim.traffic import PLATE_DURATION_S

from ..allocations import SERVER

Job = tuple[kvsim.Allocation, kvsim.Lengths]
FEW_REPLICATIONS = 2  # for what twice of a resource would save: the same requests are compared


@dataclass(frozen=True)
class Cell:
    """What one allocation gives at one rate; at the end of arrivals, in the first replication."""

    ttft_s: tuple[float, float, float]
    waiting: int
    held_tokens: int  # that the running requests hold memory for
    running: NDArray[np.integer[Any]]  # request numbers, ascending
    decoded: NDArray[np.integer[Any]]  # tokens that each holds beyond its prompt
    cached_tokens: int  # of all of them


@dataclass(frozen=True)
class Row:
    """What one allocation gives with one distribution of lengths, at every rate."""

    sustained_per_s: float
    capacity: kvsim.Capacity | None  # as measured, where there is no closed form
    # By what twice the memory, arithmetic or bandwidth gives: the first as ``sustained_per_s``, the
    # second as shares of the median TTFT (3 x rates).
    sustained_doubled_per_s: tuple[float, ...]
    ttft_saved: NDArray[np.float64]
    cells: tuple[Cell, ...]


def compute_cell(
    allocation: kvsim.Allocation,
    lengths: kvsim.Lengths,
    rate_per_s: float,
    replications: int,
    server: kvsim.Server = SERVER,
) -> Cell:
    """Simulate one position."""
    medians_s = []
    for replication in range(replications):
        traffic = kvsim.Traffic(lengths, replication=replication)
        requests = traffic.during(PLATE_DURATION_S, rate_per_s)
        timeline = kvsim.simulate(requests, server, allocation)
        medians_s.append(kvsim.median_ttft_s(timeline))
        if replication == 0:
            first = timeline
    low, median, high = np.nanquantile(medians_s, (BAND[0], 0.5, BAND[1])).tolist()
    return Cell((low, median, high), **_last_moment(first))


def _last_moment(timeline: kvsim.Timeline) -> dict[str, Any]:
    """Describe the pass under way as the arrivals end."""
    q = timeline.pass_at(PLATE_DURATION_S)
    running, tokens = timeline.content_at(PLATE_DURATION_S)
    order = np.argsort(running)
    return {
        # Who arrives within a pass waits for its end even on an empty server: that counts not.
        "waiting": 0 if q is None else timeline.waiting_at(timeline.pass_start_s(q)),
        "held_tokens": 0 if q is None else int(timeline.held_tokens[q]),
        "running": running[order],
        "decoded": (tokens - timeline.requests.prompt_tokens[running])[order],
        "cached_tokens": int(tokens.sum()),
    }


def compute_row(
    allocation: kvsim.Allocation,
    lengths: kvsim.Lengths,
    rates_per_s: tuple[float, ...],
    replications: int,
    server: kvsim.Server = SERVER,
    saturated_requests: int = SATURATED_REQUESTS,
) -> Row:
    """Simulate one allocation at every rate; the sustained rates from ``saturated_requests``."""
    capacity = None
    if not isinstance(allocation, kvsim.Contiguous | kvsim.Paged):
        capacity = kvsim.saturated_capacity(server, allocation, lengths, replications=replications)

    def sustained(server: kvsim.Server, replications: int, requests: int) -> float:
        return kvsim.sustained_rate(
            server, allocation, lengths, replications=replications, requests=requests
        )

    few = min(FEW_REPLICATIONS, replications)
    return Row(
        sustained(server, replications, saturated_requests),
        capacity,
        # Twice the cache takes twice as many.
        tuple(sustained(each, few, 2 * saturated_requests) for each in doubled(server).values()),
        binding_limits(server, allocation, lengths, rates_per_s, replications=few).ttft_saved,
        tuple(
            compute_cell(allocation, lengths, rate, replications, server) for rate in rates_per_s
        ),
    )
