"""One position of the controls, looked up in the atlas: what the page shows there."""

from dataclasses import dataclass

from kvsim.binding import SMALL_SHARE

from .results.atlas import Atlas
from .settings import Settings

ALIKE = 5  # per cent: resources that save nearly as much as the best one bind as well


@dataclass(frozen=True)
class Side:
    """What one allocation gives at the chosen position.

    Times are in seconds, rates in requests per second; ``requests`` and ``share`` are of a full
    cache. What is running, waiting, cached and held is so at the end of the first minute. ``saved``
    is what twice the memory, arithmetic or bandwidth would save of the median TTFT, in whole per
    cent, and ``doubled_per_s`` the rate that would then be sustained.
    """

    requests: float
    share: float
    ttft_s: tuple[float, float, float]
    sustained_per_s: float
    queue_grows: bool  # the chosen rate is beyond the sustained one
    waiting: int
    running: int
    cached_tokens: int
    held_tokens: int
    saved: tuple[int, ...]
    doubled_per_s: tuple[float, ...]


@dataclass(frozen=True)
class Reading:
    """Both allocations at one position."""

    settings: Settings
    capacity_tokens: int
    contiguous: Side
    paged: Side


def read(atlas: Atlas, settings: Settings) -> Reading:
    """Look up a position, in the atlas of its workload.

    Raises ``ValueError`` for values that the atlas does not have.
    """
    at = {name: axis.index(getattr(settings, name)) for name, axis in atlas.axes.items()}
    length = at["max_length"]
    return Reading(
        settings,
        int(atlas.constants["capacity_tokens"]),
        contiguous=_side(atlas, "contiguous", (at["reservation"], length), settings.rate),
        paged=_side(
            atlas, "paged", (at["block_overhead"], at["block_size"], length), settings.rate
        ),
    )


def _side(atlas: Atlas, kind: str, position: tuple[int, ...], rate: int) -> Side:
    arrays = {
        name.removeprefix(f"{kind}_"): array[position]
        for name, array in atlas.arrays.items()
        if name.startswith(kind)
    }
    at = atlas.axes["rate"].index(rate)
    low, median, high = arrays["ttft"][at].tolist()
    return Side(
        requests=float(arrays["requests"]),
        share=float(arrays["share"]),
        ttft_s=(low, median, high),
        sustained_per_s=float(arrays["sustained"]),
        queue_grows=rate > float(arrays["sustained"]),
        waiting=int(arrays["waiting"][at]),
        running=int(arrays["running"][at]),
        cached_tokens=int(arrays["cached"][at]),
        held_tokens=int(arrays["held"][at]),
        saved=tuple(arrays["saved"][at].tolist()),
        doubled_per_s=tuple(arrays["doubled"].tolist()),
    )


def binding(saved: tuple[int, ...]) -> list[int]:
    """Return which resources bind: places in ``saved``, none if twice of any is of little use."""
    best = max(saved)
    if best < 100 * SMALL_SHARE:
        return []
    return [place for place, each in enumerate(saved) if each >= best - ALIKE]
