"""What a server prints of its cache, and how many requests of a workload really fit."""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from kvsim import checks
from kvsim.binned import WORKLOADS
from kvsim.deployment.cache_layout import GIB, Layout, printed_interval
from kvsim.kinds import of_kind, one_of

# Longer requests than this have no weight in any workload.
_LONGEST_DRAWN = 2**17


@dataclass(frozen=True)
class CacheFigures:
    """Figures of one cache; ``low`` and ``high`` are what the printed GiB allow.

    ``bytes_per_token`` is for one GPU. ``tokens`` are those that every group of layers holds,
    ``tokens_at_max_length`` what newer servers print: the same for one group, but for several
    only that, and the concurrency, is a capacity. ``max_concurrency`` is in requests of
    ``max_length`` tokens, ``longest_request`` the longest that fits alone, up to that; they are
    None without a maximum length. ``requests_at_once`` of ``workload`` fit, of which a running one
    holds ``mean_request_tokens`` on average.
    """

    bytes_per_token: int
    block_size: int
    groups: int
    blocks: int
    blocks_low: int
    blocks_high: int
    tokens: int
    tokens_low: int
    tokens_high: int
    max_length: int | None
    max_concurrency: float | None
    tokens_at_max_length: int | None
    longest_request: int | None
    workload: str
    mean_request_tokens: float
    requests_at_once: float


def figures_of_gib(
    layout: Layout, gib: float | Fraction, max_length: int | None, workload: str = "exponential"
) -> CacheFigures:
    """Return the figures of a cache of ``gib`` x 2^30 bytes a GPU, as a server prints it.

    It is taken to be rounded to two decimals, which gives the interval. Raises ``ValueError`` for
    a size that is not above zero, a maximum length below 2, and an unknown workload.
    """
    checks.positive("gib", gib)
    low, high = printed_interval(gib)
    return _figures(layout, (low, Fraction(gib) * GIB, high), max_length, workload)


def figures_of_bytes(
    layout: Layout, available_bytes: float, max_length: int | None, workload: str = "exponential"
) -> CacheFigures:
    """Return the figures of a cache of so many bytes a GPU; ``low`` and ``high`` are the same."""
    exact = Fraction(checks.positive("available_bytes", available_bytes))
    return _figures(layout, (exact, exact, exact), max_length, workload)


def _figures(
    layout: Layout,
    available: tuple[Fraction, Fraction, Fraction],
    max_length: int | None,
    workload: str,
) -> CacheFigures:
    of_kind("layout", layout, Layout)
    one_of("workload", workload, tuple(WORKLOADS))
    low, blocks, high = (layout.blocks(each) for each in available)
    lengths = WORKLOADS[workload]
    if max_length is not None:
        checks.length("max_length", max_length)
        lengths = replace(lengths, max_length=min(max_length, _LONGEST_DRAWN))
    pmf = lengths.cached_tokens_pmf()
    held = np.arange(len(pmf))
    mean_blocks = float(np.average(layout.blocks_held(held), weights=pmf))
    return CacheFigures(
        bytes_per_token=layout.bytes_per_token,
        block_size=layout.block_size,
        groups=layout.group_count,
        blocks=blocks,
        blocks_low=low,
        blocks_high=high,
        tokens=layout.tokens(blocks),
        tokens_low=layout.tokens(low),
        tokens_high=layout.tokens(high),
        max_length=max_length,
        max_concurrency=max_length and layout.concurrency(blocks, max_length),
        tokens_at_max_length=max_length and layout.reported_tokens(blocks, max_length),
        longest_request=max_length and layout.longest(blocks, max_length),
        workload=workload,
        mean_request_tokens=float(np.average(held, weights=pmf)),
        requests_at_once=blocks / mean_blocks,
    )
