"""What a server did for its requests, in a few figures: percentiles, rates, goodput, pre-emption.

Terms are those of serving benchmarks: TTFT (time to first token), TPOT (time per output token
after the first), latency (until the last token), goodput (requests per second that were served
within limits).
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kvsim import checks
from kvsim.kinds import all_of_kind
from kvsim.timeline import Timeline
from kvsim.workload import FloatArray, IntArray


@dataclass(frozen=True)
class ServiceLimits:
    """What a request must keep within to count as served well, in seconds; None is no limit.

    ``tpot_s`` is per output token after the first: it does not concern answers of one token.
    Raises ``ValueError`` for limits that are not above zero.
    """

    ttft_s: float | None = None
    tpot_s: float | None = None
    latency_s: float | None = None

    def __post_init__(self) -> None:
        for limit in fields(self):
            if getattr(self, limit.name) is not None:
                checks.keep(self, checks.positive, limit.name)

    def kept(self, timeline: Timeline) -> NDArray[np.bool_]:
        """Say of each request whether it kept within all limits."""
        kept = np.ones(len(timeline.requests), bool)
        for limit in fields(self):
            most_s = getattr(self, limit.name)
            if most_s is not None:
                kept &= ~(getattr(timeline, limit.name) > most_s)
        return kept


@dataclass(frozen=True)
class Percentiles:
    """What half, nine tenths and 99 hundredths of the requests keep within; NaN of none."""

    p50: float
    p90: float
    p99: float


@dataclass(frozen=True)
class Summary:
    """Figures of several runs together, with every request counted once.

    ``elapsed_s`` is the time from the first arrival to the last end, added up over runs; the two
    rates divide by it, as serving benchmarks do, so they include the time in which the last
    requests end. ``normalized_latency_s`` is the mean of latency / output tokens, as Kwon et al.
    (SOSP 2023) define it. ``recomputed_tokens`` were prefilled again after a pre-emption.
    Percentiles are in seconds, and linear between two requests.
    """

    runs: int
    requests: int
    elapsed_s: float
    ttft_s: Percentiles
    tpot_s: Percentiles
    latency_s: Percentiles
    normalized_latency_s: float
    within_limits: int
    preemptions: int
    preempted_requests: int
    recomputed_tokens: int

    @property
    def completed_per_s(self) -> float:
        """Requests that ended, per second; NaN if there were none."""
        return self.requests / self.elapsed_s if self.requests else float("nan")

    @property
    def goodput_per_s(self) -> float:
        """Requests that ended and kept within the limits, per second; NaN if there were none."""
        return self.within_limits / self.elapsed_s if self.requests else float("nan")

    def figures(self) -> dict[str, float]:
        """Return all figures by name, each name with its unit: what files are made of."""
        spread = {
            f"{measure}_{percentile.name}_s": getattr(
                getattr(self, f"{measure}_s"), percentile.name
            )
            for measure in ("ttft", "tpot", "latency")
            for percentile in fields(Percentiles)
        }
        return {
            "runs": self.runs,
            "requests": self.requests,
            "elapsed_s": self.elapsed_s,
            **spread,
            "normalized_latency_s_per_token": self.normalized_latency_s,
            "completed_requests_per_s": self.completed_per_s,
            "goodput_requests_per_s": self.goodput_per_s,
            "requests_within_limits": self.within_limits,
            "preemptions": self.preemptions,
            "preempted_requests": self.preempted_requests,
            "recomputed_tokens": self.recomputed_tokens,
        }


def summarise(timelines: Sequence[Timeline], limits: ServiceLimits | None = None) -> Summary:
    """Sum up runs of one setting. Raises ``ValueError`` if there is no run."""
    timelines = all_of_kind("timelines", timelines, Timeline)
    if not timelines:
        raise ValueError("timelines is empty: give at least one run.")
    limits = limits or ServiceLimits()
    latency_s = np.concatenate([run.latency_s for run in timelines])
    output_tokens = np.concatenate([run.requests.output_tokens for run in timelines])
    preemptions = np.concatenate([run.preemptions for run in timelines])
    return Summary(
        runs=len(timelines),
        requests=len(latency_s),
        elapsed_s=sum(_elapsed_s(run) for run in timelines),
        ttft_s=_percentiles(np.concatenate([run.ttft_s for run in timelines])),
        tpot_s=_percentiles(np.concatenate([run.tpot_s for run in timelines])),
        latency_s=_percentiles(latency_s),
        normalized_latency_s=(
            float(np.mean(latency_s / output_tokens)) if len(latency_s) else float("nan")
        ),
        within_limits=sum(int(np.count_nonzero(limits.kept(run))) for run in timelines),
        preemptions=int(preemptions.sum()),
        preempted_requests=int(np.count_nonzero(preemptions)),
        recomputed_tokens=sum(int(recomputed_tokens(run).sum()) for run in timelines),
    )


def recomputed_tokens(timeline: Timeline) -> IntArray:
    """Tokens of each request that were prefilled again; none where swapping brought them back."""
    recomputed = np.zeros(len(timeline.requests), np.int64)
    np.add.at(recomputed, timeline.stays.request, timeline.stays.recomputed_tokens)
    return recomputed


def _elapsed_s(timeline: Timeline) -> float:
    if not len(timeline.requests):
        return 0.0
    return float(timeline.finish_s.max() - timeline.requests.arrival_s[0])


def _percentiles(values_s: FloatArray) -> Percentiles:
    counted = values_s[~np.isnan(values_s)]
    if not len(counted):
        return Percentiles(float("nan"), float("nan"), float("nan"))
    return Percentiles(*np.percentile(counted, [50, 90, 99]).tolist())
