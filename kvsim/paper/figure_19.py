"""Recompute or swap: figure 19 of Kwon et al. (SOSP 2023), and what a block costs to move.

The paper's figure shows the time of either way back for one pre-empted request, by block size. Two
of its points, the smallest and the largest block, tell apart what a swap costs by the byte and what
by the block; the others are for comparison.
"""

from dataclasses import dataclass, replace
from typing import Any

from kvsim.paper import experiments, published
from kvsim.roofline import Roofline
from kvsim.server import Server

BLOCK_SIZES = tuple(2**n for n in range(9))


@dataclass(frozen=True)
class SwapCost:
    """What follows from figure 19; derived, not published."""

    tokens: float  # of the pre-empted request: those that are recomputed in the time shown
    pcie_share: float  # of the published bandwidth that its bytes were moved with
    copy_overhead_s: float  # of one copy: of the keys or values of a block in one layer


def derive() -> SwapCost:
    """Read the cost of a swap from the paper's figures.

    Figure 1 gives the time of a prompt token, and so the tokens that take as long to recompute as
    figure 19 says. Swapping them out and in moves their bytes twice, in ``2 tokens / b`` blocks of
    b tokens, so its time is a + c / b. With OPT-13B's 40 layers a block is 80 copies.
    """
    model, gpu = experiments.SERVER.model, experiments.SERVER.gpu
    tokens = published.FIGURE_19_RECOMPUTE_S / published.PROMPT_TOKEN_S
    smallest, largest = min(published.FIGURE_19_SWAP_S), max(published.FIGURE_19_SWAP_S)
    at_smallest, at_largest = (published.FIGURE_19_SWAP_S[b] for b in (smallest, largest))
    by_block_s = (at_smallest - at_largest) / (1 / smallest - 1 / largest)
    by_byte_s = at_largest - by_block_s / largest
    moved_bytes = 2 * tokens * model.kv_bytes_per_token
    return SwapCost(
        tokens=tokens,
        pcie_share=moved_bytes / by_byte_s / gpu.pcie_bandwidth,
        copy_overhead_s=by_block_s / (2 * tokens * 2 * model.layers),
    )


def recompute_s(server: Server, tokens: int) -> float:
    """Seconds that it takes to prefill ``tokens`` again, beside what a pass takes anyway."""
    roofline = Roofline(server, read_factor=1.0)
    return roofline.token_s * tokens + roofline.attended_s * tokens * (tokens + 1) / 2


def swap_s(server: Server, tokens: int, block_size: int) -> float:
    """Seconds that it takes to move ``tokens`` cached tokens out and in again."""
    roofline = Roofline(server, read_factor=1.0)
    blocks = -(-tokens // block_size)
    return 2 * (roofline.moved_s * tokens + roofline.moved_block_s * blocks)


def charged(server: Server) -> Server:
    """Return a server on which each copy to or from the host takes the derived time as well."""
    return replace(server, gpu=replace(server.gpu, copy_overhead_s=derive().copy_overhead_s))


def paper_server() -> Server:
    """Return the paper's server, which moves bytes at the derived share of its bandwidth too."""
    server = charged(experiments.SERVER)
    return replace(server, gpu=replace(server.gpu, pcie_share=derive().pcie_share))


def compared() -> dict[str, Any]:
    """Return the published times and the simulated ones side by side, in seconds.

    The swaps at the smallest and the largest block are what the cost was derived from.
    """
    cost, server = derive(), paper_server()
    tokens = round(cost.tokens)
    fitted = (min(published.FIGURE_19_SWAP_S), max(published.FIGURE_19_SWAP_S))
    return {
        "tokens": tokens,
        "pcie_share": cost.pcie_share,
        "copy_overhead_s": cost.copy_overhead_s,
        "recompute": {
            "seconds": recompute_s(server, tokens),
            "published": published.FIGURE_19_RECOMPUTE_S,
        },
        "swap": [
            {
                "block_size": size,
                "seconds": swap_s(server, tokens, size),
                "published": published.FIGURE_19_SWAP_S.get(size),
                "fitted": size in fitted,
            }
            for size in BLOCK_SIZES
        ],
    }
