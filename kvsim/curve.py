"""Time to first token against request rate, and the highest rate that a server sustains."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np

from kvsim import checks
from kvsim.allocation import Allocation
from kvsim.capacity import Capacity
from kvsim.engine import simulate
from kvsim.kinds import all_of_kind, of_kind
from kvsim.server import Server
from kvsim.timeline import Timeline
from kvsim.workload import FloatArray, IntArray, Lengths, Requests

PLATE_SEED = 20230923
DEFAULT_REPLICATIONS = 16
PLATE_DURATION_S = 60.0
SATURATED_REQUESTS = 4000
BAND = (0.1, 0.9)  # quantiles over replications


@dataclass(frozen=True)
class Traffic:
    """One replication of Poisson traffic, the same at every rate but for its speed.

    Gaps between arrivals, prompts and outputs are drawn from three streams of their own, so that
    replications of one seed share their random numbers between rates and allocations.

    Each prompt begins with a system prompt of ``shared_tokens``, beside those that ``lengths``
    give it, and has ``samples`` outputs; they are equally long, as in the paper's experiments
    (Kwon et al., SOSP 2023, section 6.3).
    """

    lengths: Lengths
    seed: int = PLATE_SEED
    replication: int = 0
    samples: int = 1
    shared_tokens: int = 0

    def __post_init__(self) -> None:
        of_kind("lengths", self.lengths, Lengths)

    def first(self, count: int, rate_per_s: float = np.inf) -> Requests:
        """Return the first ``count`` prompts' requests; at an infinite rate all arrive at once."""
        checks.whole("count", count, least=0)
        if rate_per_s != np.inf:
            checks.positive("rate_per_s", rate_per_s)
        gaps, prompts, outputs = (
            np.random.default_rng(
                np.random.SeedSequence(self.seed, spawn_key=(self.replication, stream))
            )
            for stream in range(3)
        )
        arrival_s = np.cumsum(gaps.standard_exponential(count)) / rate_per_s
        prompt, output = self.lengths.draw(prompts, outputs, count)
        checks.whole("samples", self.samples)
        checks.whole("shared_tokens", self.shared_tokens, least=0)
        return Requests(
            np.repeat(arrival_s, self.samples),
            np.repeat(prompt + self.shared_tokens, self.samples),
            np.repeat(output, self.samples),
            self.samples,
            self.shared_tokens,
        )

    def during(self, duration_s: float, rate_per_s: float) -> Requests:
        """Return the requests that arrive within ``duration_s``, at ``rate_per_s``."""
        checks.positive("duration_s", duration_s)
        checks.positive("rate_per_s", rate_per_s)
        expected = duration_s * rate_per_s
        count = int(expected + 10 * np.sqrt(expected) + 10)  # ten standard deviations
        requests = self.first(count, rate_per_s)
        arrived = np.searchsorted(requests.arrival_s, duration_s)
        return Requests(
            requests.arrival_s[:arrived],
            requests.prompt_tokens[:arrived],
            requests.output_tokens[:arrived],
            self.samples,
            self.shared_tokens,
        )


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
    all_of_kind("rates_per_s", rates_per_s, Real)
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


def sustained_rate(
    server: Server,
    allocation: Allocation,
    lengths: Lengths,
    *,
    samples: int = 1,
    shared_tokens: int = 0,
    replications: int = DEFAULT_REPLICATIONS,
    requests: int = SATURATED_REQUESTS,
    seed: int = PLATE_SEED,
) -> float:
    """Return the prompts per second that a server answers while one always waits.

    ``requests``, every one of the ``samples`` of a prompt among them, are all there from the start.
    Counted is from the end of the first quarter of them, when the batch that started at once has
    dispersed, until the last one is admitted; replications add up. See :class:`Traffic` for
    ``samples`` and ``shared_tokens``. Raises ``ValueError`` if the queue empties before that
    quarter has ended, and for fewer than 8 prompts.
    """
    completions = 0
    seconds = 0.0
    for replication in range(checks.whole("replications", replications)):
        traffic = Traffic(lengths, seed, replication, samples, shared_tokens)
        timeline = _saturated(server, allocation, traffic, requests)
        first, after = _window(timeline)
        ended = timeline.stays.last_pass[~timeline.stays.evicted]
        completions += int(np.count_nonzero((first <= ended) & (ended < after)))
        seconds += timeline.pass_start_s(after) - timeline.pass_start_s(first)
    return completions / seconds / samples


def saturated_capacity(
    server: Server,
    allocation: Allocation,
    lengths: Lengths,
    *,
    replications: int = DEFAULT_REPLICATIONS,
    requests: int = SATURATED_REQUESTS,
    seed: int = PLATE_SEED,
) -> Capacity:
    """Measure what :func:`kvsim.capacity` has no closed form for, while a request always waits.

    The requests that run and the share of their memory that holds tokens, on average over the
    passes that :func:`sustained_rate` counts. Raises ``ValueError`` as that does.
    """
    batches: list[IntArray] = []
    shares: list[FloatArray] = []
    for replication in range(checks.whole("replications", replications)):
        traffic = Traffic(lengths, seed, replication)
        timeline = _saturated(server, allocation, traffic, requests)
        counted = slice(*_window(timeline))
        batches.append(timeline.pass_log.batch[counted])
        shares.append((timeline.pass_log.cached_tokens / timeline.held_tokens)[counted])
    return Capacity(float(np.concatenate(batches).mean()), float(np.concatenate(shares).mean()))


def _saturated(server: Server, allocation: Allocation, traffic: Traffic, requests: int) -> Timeline:
    """Serve requests that are all there from the start."""
    samples = checks.whole("samples", traffic.samples)
    prompts = checks.whole("requests", requests, 8) // samples
    checks.whole("requests / samples", prompts, 8)
    return simulate(traffic.first(prompts), server, allocation)


def _window(timeline: Timeline) -> tuple[int, int]:
    """Return the first pass that counts, and the first after it that does not."""
    stays = timeline.stays
    ended = np.sort(stays.last_pass[~stays.evicted])
    first = int(ended[len(ended) // 4]) + 1
    # Nobody waits any more once the last stay has begun.
    after = int(stays.first_pass[-1])
    if after <= first:
        raise ValueError(
            f"requests is {len(ended)}: they fit the cache before a quarter of them has ended, "
            "so nobody waits; use several times as many as fit at once."
        )
    return first, after
