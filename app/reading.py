"""One position of the controls, looked up in the atlas: what the page shows there."""

from dataclasses import dataclass

from .atlas import Atlas
from .settings import Settings


@dataclass(frozen=True)
class Side:
    """What one allocation gives at the chosen position.

    Times are in seconds, rates in requests per second; ``requests`` and ``share`` are of a full
    cache. What is running, waiting, cached and held is so at the end of the first minute.
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
    )
