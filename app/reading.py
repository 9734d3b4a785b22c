"""One position of the controls, looked up in the atlas: what the page shows there."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .atlas import Atlas
from .settings import Settings

Kind = Literal["contiguous", "paged"]


@dataclass(frozen=True)
class Side:
    """What one allocation gives at the chosen position.

    Times are in seconds, rates in requests per second. ``running_tokens`` are the cached tokens of
    each request that runs as the first minute ends, ``reserved_tokens`` the memory they hold, and
    ``free_requests`` how many more of average size would fit.
    """

    requests: float
    share: float
    ttft_s: tuple[float, float, float]
    sustained_per_s: float
    waiting: int
    running_tokens: NDArray[np.int64]
    reserved_tokens: int
    free_requests: float
    queue_grows: bool  # the chosen rate is beyond the sustained one


@dataclass(frozen=True)
class Reading:
    """Both allocations at one position."""

    settings: Settings
    capacity_tokens: int
    contiguous: Side
    paged: Side


def read(atlas: Atlas, settings: Settings) -> Reading:
    """Look up a position. Raises ``ValueError`` for values that the atlas does not have."""
    at = {name: axis.index(getattr(settings, name)) for name, axis in atlas.axes.items()}
    length, rate = at["max_length"], at["rate"]
    capacity_tokens = int(atlas.constants["capacity_tokens"])

    def side(kind: Kind, shape: tuple[int, ...], simulated: tuple[int, ...], unit: int) -> Side:
        arrays = atlas.arrays
        tokens = atlas.snapshot_tokens(
            int(arrays[f"{kind}_snapshot"][*simulated, rate]), settings.max_length
        )
        held = -(-tokens // unit)
        units = capacity_tokens // unit
        requests = float(arrays[f"{kind}_requests"][shape])
        sustained_per_s = float(arrays[f"{kind}_sustained"][simulated])
        low, median, high = arrays[f"{kind}_ttft"][*simulated, rate].tolist()
        return Side(
            requests=requests,
            share=float(arrays[f"{kind}_share"][shape]),
            ttft_s=(low, median, high),
            sustained_per_s=sustained_per_s,
            waiting=int(arrays[f"{kind}_waiting"][*simulated, rate]),
            running_tokens=tokens,
            reserved_tokens=int(held.sum()) * unit,
            free_requests=requests * (1 - float(held.sum()) / units),
            queue_grows=settings.rate > sustained_per_s,
        )

    size = at["block_size"]
    return Reading(
        settings,
        capacity_tokens,
        contiguous=side("contiguous", (length,), (length,), settings.max_length),
        paged=side(
            "paged", (size, length), (at["block_overhead"], size, length), settings.block_size
        ),
    )
