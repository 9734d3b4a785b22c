"""Poisson traffic: when the requests of one run arrive, and how long each is."""

from dataclasses import dataclass

import numpy as np

from kvsim import checks
from kvsim.kinds import of_kind
from kvsim.workload import Lengths, Requests

PLATE_SEED = 20230923
PLATE_DURATION_S = 60.0
DEFAULT_REPLICATIONS = 16


@dataclass(frozen=True)
class Traffic:
    """One replication of Poisson traffic, the same at every rate but for its speed.

    Gaps between arrivals, prompts and outputs are drawn from three streams of their own, so that
    replications of one seed share their random numbers between rates and allocations.

    Each prompt begins with a system prompt of ``shared_tokens``, beside those that ``lengths``
    give it, and has ``samples`` outputs; they are equally long, as in the paper's experiments
    (Kwon et al., SOSP 2023, section 6.3). Raises ``ValueError`` for ``samples`` below 1 and
    ``shared_tokens`` below 0.
    """

    lengths: Lengths
    seed: int = PLATE_SEED
    replication: int = 0
    samples: int = 1
    shared_tokens: int = 0

    def __post_init__(self) -> None:
        of_kind("lengths", self.lengths, Lengths)
        checks.whole("samples", self.samples)
        checks.whole("shared_tokens", self.shared_tokens, least=0)

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
