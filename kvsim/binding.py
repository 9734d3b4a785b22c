"""Which limit binds: what would help a server most if it had twice as much of it.

Three things can run out: the memory of the cache, arithmetic, and memory bandwidth. Each is
doubled by itself (the bytes of the cache, the FLOP/s, the bytes/s), and the same requests are
served again. That which shortens the median TTFT most is the limit that binds. Past the rate that
a server sustains several may come out nearly alike, since whatever ends the queue ends the wait;
so the shares are returned too. So is what becomes of the latency: a larger cache admits requests
earlier also where arithmetic has run out, but then they are not done any earlier.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from kvsim import checks
from kvsim.allocation import Allocation
from kvsim.engine import simulate
from kvsim.kinds import all_of_kind, of_kind
from kvsim.server import Server
from kvsim.traffic import PLATE_DURATION_S, PLATE_SEED, Traffic
from kvsim.workload import FloatArray, Lengths

NONE = "none"
RESOURCES = ("memory", "compute", "bandwidth")
NAMES = (NONE, *RESOURCES)  # by code
SMALL_SHARE = 0.05
FEW_REPLICATIONS = 4


@dataclass(frozen=True, eq=False)
class BindingLimits:
    """Which limit binds at each rate, as numbers to be stored.

    ``codes`` are places in ``NAMES``. ``ttft_saved`` and ``latency_saved`` (``RESOURCES`` x rates)
    are the shares of the median TTFT and of the median latency that twice the resource saves;
    below zero it costs, and it is NaN where no request arrived.
    """

    rates_per_s: FloatArray
    codes: NDArray[np.uint8]
    ttft_saved: FloatArray
    latency_saved: FloatArray

    @property
    def names(self) -> list[str]:
        """Name of the limit at each rate: one of ``NAMES``."""
        return [NAMES[code] for code in self.codes]


def binding_limits(
    server: Server,
    allocation: Allocation,
    lengths: Lengths,
    rates_per_s: Sequence[float],
    *,
    replications: int = FEW_REPLICATIONS,
    duration_s: float = PLATE_DURATION_S,
    seed: int = PLATE_SEED,
    small_share: float = SMALL_SHARE,
) -> BindingLimits:
    """Say which limit binds at each rate, by serving the same traffic with twice of each.

    Medians are those of :func:`kvsim.ttft_curve`: over replications, of each run's median. No
    limit binds where no doubling saves more than ``small_share`` of it. Slots of contiguous
    memory double with the cache (and one more may come from what was left over). Raises
    ``ValueError`` as that does, and for a ``small_share`` that is not from 0 to 1.
    """
    of_kind("server", server, Server)
    of_kind("allocation", allocation, Allocation)
    of_kind("lengths", lengths, Lengths)
    rates_per_s = all_of_kind("rates_per_s", rates_per_s, Real)
    checks.whole("replications", replications)
    if not 0 <= checks.finite_number("small_share", small_share) <= 1:
        raise ValueError(f"small_share is {small_share!r}: it must be a share from 0 to 1.")
    rates = np.array(rates_per_s, float)
    medians = np.array(
        [
            [
                _medians_s(served_by, allocation, lengths, rate, replications, duration_s, seed)
                for rate in rates.tolist()
            ]
            for served_by in (server, *doubled(server).values())
        ]
    ).reshape(1 + len(RESOURCES), len(rates), 2)
    return limits_of(rates, medians, small_share)


def limits_of(
    rates_per_s: FloatArray, medians_s: FloatArray, small_share: float = SMALL_SHARE
) -> BindingLimits:
    """Say which limit binds at each rate, by medians of TTFT and latency.

    ``medians_s`` is servers x rates x 2, in seconds: first the server itself, then those of
    :func:`doubled`.
    """
    saved = 1 - medians_s[1:] / medians_s[0]
    ttft_saved = saved[..., 0]
    small = np.full((1, len(rates_per_s)), small_share)
    most = np.append(small, np.nan_to_num(ttft_saved), axis=0)
    return BindingLimits(
        rates_per_s,
        most.argmax(axis=0).astype(np.uint8),
        ttft_saved,
        saved[..., 1],
    )


def doubled(server: Server) -> dict[str, Server]:
    """Return the servers that have twice of one resource each, by its name."""
    gpu = server.gpu
    return {
        "memory": replace(server, cache_bytes=2 * server.cache_bytes),
        "compute": replace(server, gpu=replace(gpu, peak_flops=2 * gpu.peak_flops)),
        "bandwidth": replace(server, gpu=replace(gpu, peak_bandwidth=2 * gpu.peak_bandwidth)),
    }


def _medians_s(
    server: Server,
    allocation: Allocation,
    lengths: Lengths,
    rate_per_s: float,
    replications: int,
    duration_s: float,
    seed: int,
) -> tuple[float, float]:
    """Return the medians over replications of the median TTFT and the median latency."""
    runs = [
        simulate(
            Traffic(lengths, seed, replication).during(duration_s, rate_per_s), server, allocation
        )
        for replication in range(replications)
    ]
    medians = [
        (np.median(run.ttft_s), np.median(run.latency_s)) for run in runs if run.finish_s.size
    ]
    if not medians:
        return float("nan"), float("nan")
    ttft_s, latency_s = np.median(medians, axis=0).tolist()
    return ttft_s, latency_s
