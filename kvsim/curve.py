"""Time to first token against request rate."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from kvsim import checks
from kvsim.allocation import Allocation
from kvsim.engine import simulate
from kvsim.kinds import all_of_kind, of_kind
from kvsim.server import Server
from kvsim.timeline import Timeline
from kvsim.traffic import DEFAULT_REPLICATIONS, PLATE_DURATION_S, PLATE_SEED, Traffic
from kvsim.workload import FloatArray, Lengths

BAND = (0.1, 0.9)  # quantiles over replications


@dataclass(frozen=True, eq=False)
class TtftCurve:
    """Median TTFT against request rate. ``runs_s`` is replications x rates, in seconds.

    Each run's median is over all requests that arrive during ``duration_s``; NaN if none did.
    """

    rates_per_s: FloatArray
    runs_s: FloatArray

    @property
    def median_s(self) -> FloatArray:
        """Median over replications, for each rate."""
        return self.quantile_s(0.5)

    @property
    def band_s(self) -> tuple[FloatArray, FloatArray]:
        """Quantiles ``BAND`` over replications, for each rate."""
        low, high = BAND
        return self.quantile_s(low), self.quantile_s(high)

    def quantile_s(self, share: float) -> FloatArray:
        """Quantile over replications, for each rate."""
        quantile: FloatArray = np.nanquantile(self.runs_s, share, axis=0)
        return quantile


def ttft_curve(
    server: Server,
    allocation: Allocation,
    lengths: Lengths,
    rates_per_s: Sequence[float],
    *,
    replications: int = DEFAULT_REPLICATIONS,
    duration_s: float = PLATE_DURATION_S,
    seed: int = PLATE_SEED,
) -> TtftCurve:
    """Simulate the first ``duration_s`` of traffic at each rate, in several replications."""
    rates_per_s = all_of_kind("rates_per_s", rates_per_s, Real)
    checks.whole("replications", replications)
    runs_s = [
        [
            median_ttft_s(
                simulate(
                    Traffic(lengths, seed, replication).during(duration_s, rate),
                    server,
                    allocation,
                )
            )
            for rate in rates_per_s
        ]
        for replication in range(replications)
    ]
    return TtftCurve(np.array(rates_per_s, float), np.array(runs_s))


def median_ttft_s(timeline: Timeline) -> float:
    """Median TTFT of one run's requests in seconds; NaN if there were none."""
    of_kind("timeline", timeline, Timeline)
    return float(np.median(timeline.ttft_s)) if len(timeline.ttft_s) else float("nan")
