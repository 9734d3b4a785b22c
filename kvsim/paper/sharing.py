"""Figures 15 and 16 of Kwon et al. (SOSP 2023): what shared blocks save, simulated.

On the server of ``experiments``. Figure 15's parallel sampling: memory saved where 2, 4 or 6
samples share a prompt. Figure 16: how many times the rate of Orca (Oracle) a server sustains that
has the prefix of all prompts once.
"""

from typing import Any

import numpy as np

from kvsim import checks
from kvsim.allocation import Allocation, Paged
from kvsim.binned import SHAREGPT
from kvsim.engine import simulate
from kvsim.paper import published
from kvsim.paper.experiments import (
    ALPACA,
    BLOCK_SIZE,
    SERVER,
    SYSTEMS,
    WATERMARK,
    Jobs,
    Load,
    all_runs,
    reproduce,
)
from kvsim.saturated import sustained_rate
from kvsim.shared_capacity import shared_capacity
from kvsim.traffic import Traffic

SAMPLES = tuple(published.FIGURE_15_ALPACA)
# Prompts/s at which the batch grows large but nobody waits for long; the saving depends on lengths
# alone. Of samples the paper's vLLM swaps the caches when it pre-empts them.
SAMPLED = Paged(BLOCK_SIZE, preemption="swap", watermark=WATERMARK)
SAMPLED_LOADS = {
    "sharegpt": Load(SHAREGPT, rate_per_s=1.0),
    "alpaca": Load(ALPACA, rate_per_s=10.0),
}
# The paper translated sentences of WMT16 En-De, whose lengths are not known here: short requests
# with the mean lengths of Alpaca take their place.
PREFIXED = ALPACA
PREFIX_TOKENS = (0, *published.FIGURE_16)
PREFIX_SYSTEMS: dict[str, Allocation] = {
    "oracle": SYSTEMS["oracle"],
    "alone": Paged(BLOCK_SIZE, watermark=WATERMARK, sharing="off"),
    "shared": Paged(BLOCK_SIZE, watermark=WATERMARK),
}


def saved_percent(load: Load, samples: int, replication: int) -> float:
    """Return the blocks saved in per cent of those without sharing, summed over all passes."""
    traffic = Traffic(load.lengths, replication=replication, samples=samples)
    timeline = simulate(traffic.during(load.duration_s, load.rate_per_s), SERVER, SAMPLED)
    return 100 * timeline.saved_share


def prefixed_rates(prefix_tokens: int, replication: int) -> dict[str, float]:
    """Return the requests/s that each system sustains where all prompts have such a prefix."""
    return {
        name: sustained_rate(
            SERVER,
            allocation,
            PREFIXED,
            shared_tokens=prefix_tokens,
            replications=1,
            seed=replication,
        )
        for name, allocation in PREFIX_SYSTEMS.items()
    }


def reproduce_sharing(seeds: int = 5, workers: int | None = None) -> dict[str, Any]:
    """Run both figures ``seeds`` times; return published and simulated figures side by side.

    In the manner of ``experiments.reproduce``: means with their ``spread``, the least and the
    greatest over the seeds; ``workers`` processes. ``exact`` is the closed form of
    :func:`kvsim.shared_capacity`.
    """
    checks.whole("seeds", seeds)
    jobs: Jobs = {
        ("saved", name, samples): (saved_percent, (load, samples))
        for name, load in SAMPLED_LOADS.items()
        for samples in SAMPLES
    }
    jobs |= {("rates", tokens): (prefixed_rates, (tokens,)) for tokens in PREFIX_TOKENS}
    runs = all_runs(jobs, seeds, workers)
    return {
        "figure_15": [
            _figure_15_row(name, samples, runs["saved", name, samples])
            for name in SAMPLED_LOADS
            for samples in SAMPLES
        ],
        "figure_16": [_figure_16_row(tokens, runs["rates", tokens]) for tokens in PREFIX_TOKENS],
    }


def reproduce_all(seeds: int = 5, workers: int | None = None) -> dict[str, Any]:
    """Return everything that ``kvsim paper`` prints."""
    return reproduce(seeds, workers) | reproduce_sharing(seeds, workers)


def _figure_15_row(name: str, samples: int, saved: list[float]) -> dict[str, Any]:
    exact = shared_capacity(SERVER, SAMPLED, SAMPLED_LOADS[name].lengths, samples)
    row: dict[str, Any] = {
        "data_set": name,
        "samples": samples,
        "saved": float(np.mean(saved)),
        "spread": [min(saved), max(saved)],
        "exact": 100 * exact.saved_share,
    }
    if name == "alpaca":
        return row | {"published": published.FIGURE_15_ALPACA[samples]}
    return row | {"published_range": list(published.FIGURE_15_SHAREGPT)}


def _figure_16_row(tokens: int, rates: list[dict[str, float]]) -> dict[str, Any]:
    over_oracle = {
        name: [each[name] / each["oracle"] for each in rates] for name in ("alone", "shared")
    }
    return {
        "prefix_tokens": tokens,
        "requests_per_s": {
            name: float(np.mean([each[name] for each in rates])) for name in PREFIX_SYSTEMS
        },
        "ratio": float(np.mean(over_oracle["shared"])),
        "spread": [min(over_oracle["shared"]), max(over_oracle["shared"])],
        "ratio_alone": float(np.mean(over_oracle["alone"])),
        "published": published.FIGURE_16.get(tokens),
    }
