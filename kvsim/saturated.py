"""A server at which somebody always waits: the rate that it sustains, and what it holds."""

import numpy as np

from kvsim import checks
from kvsim.allocation import Allocation
from kvsim.capacity import Capacity
from kvsim.engine import simulate
from kvsim.server import Server
from kvsim.timeline import Timeline
from kvsim.traffic import DEFAULT_REPLICATIONS, PLATE_SEED, Traffic
from kvsim.workload import FloatArray, IntArray, Lengths

SATURATED_REQUESTS = 4000


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
    prompts = checks.whole("requests", requests, 8) // traffic.samples
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
