"""Recompute against swap by block size: where the figure's points lie, and its numbers in words.

One pre-empted request, on the paper's server beside its figure 19, and on the plate's.
"""

from math import log, log2
from typing import Any

from kvsim.paper import figure_19

from ..allocations import SERVER
from ..words import count, fixed

LEAST_S, MOST_S = 1e-3, 0.2  # of the axis
TICKS_S = (1e-3, 1e-2, 1e-1)


def described() -> dict[str, Any]:
    """Describe both panels; places are per cent of the plot, from its left and its top."""
    compared = figure_19.compared()
    tokens = compared["tokens"]
    charged = figure_19.charged(SERVER)
    sizes = figure_19.BLOCK_SIZES
    papers, published = (
        figure_19.paper_server(),
        {row["block_size"]: row["published"] for row in compared["swap"]},
    )
    return {
        "tokens": count(tokens),
        "copy_us": fixed(1e6 * compared["copy_overhead_s"], 2),
        "copies": count(2 * SERVER.model.layers),
        "block_us": count(1e6 * compared["copy_overhead_s"] * 2 * SERVER.model.layers),
        "pcie_share": count(100 * compared["pcie_share"]),
        "plate_pcie_share": count(100 * SERVER.gpu.pcie_share),
        "ticks": [{"top": _top(each), "shown": f"{1e3 * each:g}"} for each in TICKS_S],
        "sizes": [{"left": _left(each), "shown": str(each)} for each in sizes],
        "panels": [
            _panel(
                "paper",
                papers,
                figure_19.recompute_s(papers, tokens),
                {size: figure_19.swap_s(papers, tokens, size) for size in sizes},
                published,
                compared["recompute"]["published"],
            ),
            _panel(
                "plate",
                charged,
                figure_19.recompute_s(charged, tokens),
                {size: figure_19.swap_s(charged, tokens, size) for size in sizes},
            ),
        ],
    }


def _panel(
    key: str,
    server: Any,
    recompute_s: float,
    swap_s: dict[int, float],
    published: dict[int, float | None] | None = None,
    published_recompute_s: float | None = None,
) -> dict[str, Any]:
    """One server: both ways back, and what is published of them."""
    published = published or {}
    return {
        "key": key,
        "model": server.model.name,
        "gpu": server.gpu.name,
        "recompute": {"top": _top(recompute_s), "shown": _shown(recompute_s)},
        "published_recompute": published_recompute_s and _shown(published_recompute_s),
        "line": " ".join(
            f"{_left(size):.3f},{_top(seconds):.3f}" for size, seconds in swap_s.items()
        ),
        "swap": [
            {
                "block_size": count(size),
                "left": _left(size),
                "top": _top(seconds),
                "shown": _shown(seconds),
                "published": stated and {"top": _top(stated), "shown": _shown(stated)},
            }
            for size, seconds in swap_s.items()
            for stated in (published.get(size),)
        ],
        # From which size on a swap is the quicker way.
        "equal_from": next(
            (count(size) for size, seconds in swap_s.items() if seconds <= recompute_s), None
        ),
    }


def _left(size: int) -> float:
    """Block sizes double from place to place."""
    return round(100 * log2(size) / log2(max(figure_19.BLOCK_SIZES)), 3)


def _top(seconds: float) -> float:
    return round(100 * log(MOST_S / seconds) / log(MOST_S / LEAST_S), 3)


def _shown(seconds: float) -> str:
    return fixed(1e3 * seconds, 1)
