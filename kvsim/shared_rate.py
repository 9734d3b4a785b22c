"""The prompts per second that a server sustains where each has samples, or all a beginning."""

import numpy as np

from kvsim import checks, curve
from kvsim.allocation import Allocation
from kvsim.engine import simulate
from kvsim.server import Server
from kvsim.workload import Lengths


def sustained_prompt_rate(
    server: Server,
    allocation: Allocation,
    lengths: Lengths,
    *,
    samples: int = 1,
    shared_tokens: int = 0,
    replications: int = curve.DEFAULT_REPLICATIONS,
    requests: int = curve.SATURATED_REQUESTS,
    seed: int = curve.PLATE_SEED,
) -> float:
    """Return the prompts per second that are answered while one always waits.

    As :func:`kvsim.sustained_rate` does, of which it gives the figure where ``samples`` is 1 and
    ``shared_tokens`` 0; see :class:`kvsim.Traffic` for both. ``requests`` counts every sample.
    Raises ``ValueError`` as that does, and for fewer than 8 prompts.
    """
    checks.whole("samples", samples)
    completions = 0
    seconds = 0.0
    for replication in range(checks.whole("replications", replications)):
        traffic = curve.Traffic(lengths, seed, replication, samples, shared_tokens)
        prompts = checks.whole("requests / samples", requests // samples, 8)
        timeline = simulate(traffic.first(prompts), server, allocation)
        first, after = curve._window(timeline)
        ended = timeline.stays.last_pass[~timeline.stays.evicted]
        completions += int(np.count_nonzero((first <= ended) & (ended < after)))
        seconds += timeline.pass_start_s(after) - timeline.pass_start_s(first)
    return completions / seconds / samples
