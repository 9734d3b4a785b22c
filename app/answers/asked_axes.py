"""The axes of an atlas for any server: where requests fit, rates around what it sustains."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, log10
from typing import Any

import numpy as np

import kvsim
from kvsim.roofline import Roofline
from kvsim.saturated import SATURATED_REQUESTS
from kvsim.traffic import PLATE_DURATION_S

from .. import settings
from ..results.atlas_build import Drawn
from ..results.atlas_rows import FEW_REPLICATIONS

LONGEST = 2**20  # tokens of a request
LONGEST_BLOCK = 2**16
MOST_RATE = 10_000.0
RATES = 20
REPLICATIONS = 8
# How far beyond the sustained rate of the paged allocation the rates go, and where in it a
# position lies that asks for none.
_BEYOND, _WITHIN = 1.5, 0.85
_ROUND = (1, 2, 2.5, 5, 10)
# Requests of one row, over all its runs: some seconds of work, and the most that is begun at all.
_MANY_REQUESTS = 1_500_000
_MOST_REQUESTS = 6_000_000


@dataclass(frozen=True)
class Axes:
    """Values of each control, the position asked about, and how thoroughly it is simulated."""

    values: dict[str, list[Any]]
    position: dict[str, Any]
    replications: int
    saturated_requests: int
    notes: tuple[str, ...]


def axes_for(
    server: kvsim.Server, drawn: Drawn, made_for: int | None, asked: dict[str, Any]
) -> Axes:
    """Choose axes that hold the position ``asked``; what it leaves out (None) is chosen.

    ``made_for`` is the longest request that the model is made for. Raises ``ValueError`` where no
    request fits, where that which is asked does not, and where it would take too long.
    """
    size = settings.Settings().block_size if asked["block_size"] is None else asked["block_size"]
    capacity = server.capacity_tokens
    if size > capacity:
        raise ValueError(
            f"block_size is {size:,}, but the cache holds {capacity:,} tokens: choose fewer."
        )
    sizes = _with(size, (each for each in settings.values("block_size") if each <= capacity))
    longest = _longest(server, sizes)
    lengths = [each for each in settings.values("max_length") if each <= longest]
    length = asked["max_length"]
    if length is None:
        usual = min(settings.Settings().max_length, made_for or longest, longest)
        length = max((each for each in lengths if each <= usual), default=min(usual, longest))
    if length > longest:
        raise ValueError(_too_long(server, length, longest))
    lengths = _with(length, lengths)
    overhead = asked["block_overhead"] or 0.0
    overheads = _with(overhead, settings.values("block_overhead"))
    paged = kvsim.Paged(size, overhead)
    sustained = estimated_rate(server, paged, replace(drawn, max_length=length))
    rates = round_rates(_BEYOND * sustained / RATES)
    rate = asked["rate"]
    if rate is None:
        rate = min(rates, key=lambda each: abs(each - _WITHIN * sustained))
    rate = _plain(rate)
    rates = _with(rate, rates)
    most_at_once = max(
        kvsim.capacity(server, kvsim.Paged(size), replace(drawn, max_length=each)).requests
        for each in (lengths[0], length)
    )
    if server.max_num_seqs is not None:
        most_at_once = min(most_at_once, server.max_num_seqs)
    # With twice the memory somebody must still wait when a quarter has ended.
    saturated = max(SATURATED_REQUESTS, 8 * ceil(most_at_once))
    replications, notes = _replications(rates, saturated)
    return Axes(
        {
            "block_size": sizes,
            "max_length": lengths,
            "rate": rates,
            "block_overhead": overheads,
            "reservation": ["slots"],
        },
        {
            "block_size": size,
            "max_length": length,
            "rate": rate,
            "block_overhead": overhead,
            "reservation": "slots",
        },
        replications,
        saturated,
        notes,
    )


def _longest(server: kvsim.Server, sizes: Sequence[int]) -> int:
    """Return the longest maximum length at which any request can run with any block size."""
    longest = min(server.capacity_tokens // size * size for size in sizes)
    if server.max_batched_tokens is not None:
        # Prefills are not split, and what was pre-empted is prefilled with all its tokens.
        longest = min(longest, server.max_batched_tokens + 1)
    if longest < 2:
        raise ValueError(
            f"The cache holds {server.capacity_tokens:,} tokens, which is room for no request: "
            "enlarge it, or choose smaller blocks."
        )
    return longest


def _too_long(server: kvsim.Server, length: int, longest: int) -> str:
    if server.max_batched_tokens is not None and longest == server.max_batched_tokens + 1:
        return (
            f"max_length is {length:,}, but max_batched_tokens is {server.max_batched_tokens:,} "
            "and prefills are not split in this simulation: leave it out, or choose a shorter "
            "max_length."
        )
    return (
        f"max_length is {length:,}, but a request of at most {longest:,} tokens fits the cache: "
        "choose that or less, or enlarge the cache."
    )


def estimated_rate(server: kvsim.Server, allocation: kvsim.Paged, lengths: kvsim.Lengths) -> float:
    """Estimate the rate that a server sustains, in requests/s, from a full batch's pass.

    Each request takes its share of as many passes as it has output tokens, and a prefill that all
    others wait for. It only places the axis; the rates that are shown are simulated.
    """
    requests = kvsim.capacity(server, allocation, lengths).requests
    if server.max_num_seqs is not None:
        requests = min(requests, server.max_num_seqs)
    requests = max(requests, 1.0)
    cached_pmf, prompt_pmf = lengths.cached_tokens_pmf(), lengths.prompt_pmf()
    cached = round(requests * float(np.arange(len(cached_pmf)) @ cached_pmf))
    prompt = np.arange(len(prompt_pmf), dtype=float)
    roofline = Roofline(server, allocation.read_factor)
    pass_s = roofline.pass_s(round(requests), cached, cached)
    prefill_s = float(
        (roofline.token_s * prompt + roofline.attended_s * prompt**2 / 2) @ prompt_pmf
    )
    return 1 / (float(lengths.output_by_prompt().sum()) * pass_s / requests + prefill_s)


def round_rates(step: float) -> list[float]:
    """Return ``RATES`` multiples of the round number next above ``step``."""
    power = 10.0 ** np.floor(log10(step))
    step = next(each * power for each in _ROUND if each * power >= step * (1 - 1e-9))
    return [_plain(float(f"{step * n:.6g}")) for n in range(1, RATES + 1)]


def _replications(rates: Sequence[float], saturated: int) -> tuple[int, tuple[str, ...]]:
    """Return as many replications as keep a row's work within bounds, and what is said of it."""
    arriving = PLATE_DURATION_S * sum(rates)

    def work(replications: int) -> float:
        few = min(replications, FEW_REPLICATIONS)
        return replications * (arriving + saturated) + few * (4 * arriving + 6 * saturated)

    for replications in range(REPLICATIONS, 0, -1):
        if work(replications) <= (_MOST_REQUESTS if replications == 1 else _MANY_REQUESTS):
            break
    else:
        raise ValueError(
            f"This server would take about {work(1):,.0f} simulated requests for each position, "
            f"and at most {_MOST_REQUESTS:,} are: lower rate or the cache, set max_num_seqs, or "
            "make requests longer."
        )
    if replications == REPLICATIONS:
        return replications, ()
    runs = "one run" if replications == 1 else f"{replications} runs"
    return replications, (
        f"So many requests arrive that each position is simulated in {runs}, not {REPLICATIONS}.",
    )


def _with(value: Any, values: Any) -> list[Any]:
    return sorted({*values, value})


def _plain(value: float) -> float:
    """Return a whole number as such, as it is written on the page."""
    return int(value) if value == int(value) else value
