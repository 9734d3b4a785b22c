"""Figure 2 of Kwon et al. (SOSP 2023) and its relatives, simulated by the paper's rules.

A server of OPT-13B on one A100 with 984 blocks of 16 tokens is offered ShareGPT's requests, more
than it can serve, for 900 seconds; shares are averages over its passes from 300 s to 900 s.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kvsim import checks
from kvsim.accounting import account
from kvsim.allocation import Allocation, Paged
from kvsim.binned import SHAREGPT
from kvsim.engine import simulate
from kvsim.hardware import A100_40GB
from kvsim.model import OPT_13B, OPT_66B, OPT_175B
from kvsim.paper import published
from kvsim.placement import Placement
from kvsim.reserving import Buddy, FirstFit
from kvsim.server import Server
from kvsim.timeline import Timeline
from kvsim.traffic import Traffic
from kvsim.workload import ExponentialLengths, Lengths

MAX_LENGTH = 2048
BLOCK_SIZE = 16
WATERMARK = 0.01  # vLLM's
# Figure 1 of the paper, as read from it: a pass takes 25.9 ms + 0.43 ms for each running request,
# and a prompt token 0.15 ms. With these shares of the A100's rates the roofline is within 3 % of
# the former from 5 to 35 requests (of 459 cached tokens each), and of the latter by itself.
A100 = replace(A100_40GB, bandwidth_share=0.63, compute_share=0.56)
SERVER = Server(
    OPT_13B,
    A100,
    cache_bytes=984 * BLOCK_SIZE * OPT_13B.kv_bytes_per_token,
    max_batched_tokens=2560,
)
SYSTEMS: dict[str, Allocation] = {
    "max": Buddy("max", MAX_LENGTH, BLOCK_SIZE),
    "pow2": Buddy("pow2", MAX_LENGTH, BLOCK_SIZE),
    "oracle": Buddy("oracle", MAX_LENGTH, BLOCK_SIZE),
    "paged": Paged(BLOCK_SIZE, watermark=WATERMARK),
}
FIRST_FIT = FirstFit("oracle", MAX_LENGTH, BLOCK_SIZE)
# Of Alpaca's lengths only the means are known here.
ALPACA = ExponentialLengths(*published.ALPACA_MEAN_TOKENS, max_length=MAX_LENGTH)
LATENCY_S = 0.5  # a token, of which the rate is asked
RATE_STEP = 0.02  # requests/s, to which it is found
BATCH_RATE_PER_S = 2.0  # of figure 13a, whose mean batches stand beside the shares
FIGURE_2_COLUMNS = ("token_states", "reserved", "internal", "rest", "batch")
REST = ("unfilled", "rounding", "external", "free")  # "external fragmentation and others"
GIB = 2**30
# What a run computes, by what it is called there: a function, and its arguments but the seed.
Jobs = dict[tuple[Any, ...], tuple[Callable[..., Any], tuple[Any, ...]]]


@dataclass(frozen=True)
class Load:
    """Traffic, and the passes of it that are averaged: those that start from then on."""

    lengths: Lengths = SHAREGPT
    rate_per_s: float = 4.0
    duration_s: float = 900.0
    from_s: float = 300.0


SATURATED = Load()
ALPACA_LOAD = Load(ALPACA, rate_per_s=30.0, duration_s=300.0, from_s=100.0)


def shares(allocation: Allocation, load: Load, replication: int) -> dict[str, float]:
    """Return the use of the cache in per cent of its tokens, averaged over passes."""
    timeline, averaged = _run(allocation, load, replication)
    use = {
        name: 100 * float(np.mean(tokens[averaged])) / SERVER.capacity_tokens
        for name, tokens in account(Placement(timeline)).parts().items()
    }
    return use | {"rest": sum(use[name] for name in REST)}


def token_states(allocation: Allocation, load: Load, replication: int) -> float:
    """Return the per cent of the cache that hold tokens: of the shares the quick one."""
    timeline, averaged = _run(allocation, load, replication)
    return 100 * float(np.mean(timeline.pass_log.cached_tokens[averaged])) / SERVER.capacity_tokens


def batch(allocation: Allocation, load: Load, replication: int) -> float:
    """Return the mean number of running requests, averaged over passes."""
    timeline, averaged = _run(allocation, load, replication)
    return float(np.mean(timeline.pass_log.batch[averaged]))


def _run(
    allocation: Allocation, load: Load, replication: int
) -> tuple[Timeline, NDArray[np.bool_]]:
    """Serve one replication; say which of its passes count."""
    traffic = Traffic(load.lengths, replication=replication)
    timeline = simulate(traffic.during(load.duration_s, load.rate_per_s), SERVER, allocation)
    start_s = timeline.pass_log.start_s
    return timeline, (start_s >= load.from_s) & (start_s < load.duration_s)


def rate_at_latency(allocation: Allocation, load: Load, replication: int) -> float:
    """Return the requests/s at which the normalized latency reaches ``LATENCY_S``.

    That is the mean over requests of their time from arrival to end, divided by their output
    tokens. The same requests come faster and faster; the rate of ``load`` is the highest tried.
    """
    traffic = Traffic(load.lengths, replication=replication)
    low, high = 0.0, load.rate_per_s
    while high - low > RATE_STEP:
        rate = (low + high) / 2
        requests = traffic.during(load.duration_s, rate)
        finish_s = simulate(requests, SERVER, allocation).finish_s
        latency_s = np.mean((finish_s - requests.arrival_s) / requests.output_tokens)
        low, high = (rate, high) if latency_s < LATENCY_S else (low, rate)
    return (low + high) / 2


def reproduce(
    seeds: int = 5, workers: int | None = None, saturated: Load = SATURATED
) -> dict[str, Any]:
    """Run everything ``seeds`` times; return published and simulated figures side by side.

    Each value stands with its ``spread``, the least and the greatest over the seeds. Per cent,
    requests, or requests/s. Independent runs are spread over ``workers`` processes: by default one
    for each core. ``saturated`` is the traffic of figure 2.
    """
    checks.whole("seeds", seeds)
    slower = replace(saturated, rate_per_s=BATCH_RATE_PER_S)
    jobs: Jobs = {}
    for name, allocation in SYSTEMS.items():
        jobs["shares", name] = (shares, (allocation, saturated))
        jobs["batch", name] = (batch, (allocation, slower))
        jobs["rate", name] = (rate_at_latency, (allocation, saturated))
        if name in published.FIGURE_13B:
            jobs["alpaca", name] = (batch, (allocation, ALPACA_LOAD))
    for size in published.PAGED_BY_BLOCK_SIZE:
        paged = Paged(size, watermark=WATERMARK)
        jobs["token_states", size] = (token_states, (paged, saturated))
    jobs["shares", "first-fit"] = (shares, (FIRST_FIT, saturated))
    jobs["batch", "first-fit"] = (batch, (FIRST_FIT, slower))
    runs = all_runs(jobs, seeds, workers)
    return {
        "seeds": seeds,
        "figure_2": [
            _figure_2_row(name, runs) | {"published": published.FIGURE_2[name]} for name in SYSTEMS
        ],
        "first_fit": _figure_2_row("first-fit", runs) | {"expected": published.FIRST_FIT_ORACLE},
        "table_1": _table_1(),
        "figure_13b": [
            {"system": name, **_summary("batch", runs["alpaca", name]), "published": batches}
            for name, batches in published.FIGURE_13B.items()
        ],
        "section_6_2": _section_6_2(runs),
        "block_sizes": [
            {
                "block_size": size,
                **_summary("token_states", runs["token_states", size]),
                "expected": expected,
            }
            for size, expected in published.PAGED_BY_BLOCK_SIZE.items()
        ],
    }


def all_runs(jobs: Jobs, seeds: int, workers: int | None) -> dict[tuple[Any, ...], list[Any]]:
    """Return the results of each job, one for each seed, from ``workers`` processes."""
    with ProcessPoolExecutor(workers) as processes:
        started = {
            key: [processes.submit(run, *given, seed) for seed in range(seeds)]
            for key, (run, given) in jobs.items()
        }
        try:
            return {key: [run.result() for run in runs] for key, runs in started.items()}
        except BaseException:
            processes.shutdown(cancel_futures=True)  # not after all that is still to come
            raise


def _summary(name: str, values: Sequence[float]) -> dict[str, Any]:
    return {name: float(np.mean(values)), "spread": [min(values), max(values)]}


def _figure_2_row(name: str, runs: dict[tuple[Any, ...], list[Any]]) -> dict[str, Any]:
    found = {
        part: [run[part] for run in runs["shares", name]]
        for part in ("token_states", "reserved", "internal", "rest", *REST)
    }
    found["batch"] = runs["batch", name]
    mean = {part: float(np.mean(values)) for part, values in found.items()}
    return {
        "system": name,
        **{part: mean[part] for part in FIGURE_2_COLUMNS},
        "parts_of_rest": {part: mean[part] for part in REST},
        "spread": {part: [min(found[part]), max(found[part])] for part in FIGURE_2_COLUMNS},
        "by_seed": {part: found[part] for part in FIGURE_2_COLUMNS},
    }


def _table_1() -> list[dict[str, Any]]:
    rows = []
    for model in (OPT_13B, OPT_66B, OPT_175B):
        gib, slots = published.TABLE_1[model.name]
        simulated = Server(model, cache_bytes=gib * GIB).capacity_tokens
        rows.append({"model": model.name, "cache_gib": gib, "slots": simulated, "published": slots})
    return rows


def _section_6_2(runs: dict[tuple[Any, ...], list[Any]]) -> dict[str, Any]:
    """Rates, and how many times the rate of each baseline the paged server sustains."""
    paged = np.array(runs["rate", "paged"])
    ratios = {name: (paged / runs["rate", name]).tolist() for name in published.RATE_RATIOS}
    return {
        "latency_s_per_token": LATENCY_S,
        "rates": [
            {
                "system": name,
                **_summary("requests_per_s", runs["rate", name]),
                "published": published.RATES_PER_S[name],
            }
            for name in SYSTEMS
        ],
        "paged_over": [
            {
                "system": name,
                **_summary("ratio", values),
                "published": published.RATES_PER_S["paged"] / published.RATES_PER_S[name],
                "published_range": list(published.RATE_RATIOS[name]),
            }
            for name, values in ratios.items()
        ],
    }
