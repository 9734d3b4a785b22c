"""Recompute against swap: what follows from the paper's figure 19, and what it then says."""

import numpy as np
import pytest

from kvsim import A100_40GB, OPT_13B, Paged, Requests, Server, preemptions, simulate
from kvsim.paper import figure_19
from kvsim.paper.published import FIGURE_19_RECOMPUTE_S, FIGURE_19_SWAP_S

PAPER = figure_19.paper_server()
TOKENS = 253


def test_derived_cost_by_hand():
    """38 ms at 0.15 ms a token; 137 and 33 ms at blocks of 1 and 256, with 80 copies a block."""
    cost = figure_19.derive()
    assert cost.tokens == pytest.approx(253.3, abs=0.05)
    by_block_s = (0.137 - 0.033) * 256 / 255
    assert cost.copy_overhead_s == pytest.approx(by_block_s / (2 * 0.038 / 0.15e-3 * 80))
    by_byte_s = 0.137 - by_block_s
    assert cost.pcie_share == pytest.approx(2 * cost.tokens * 819_200 / by_byte_s / 32e9)
    assert OPT_13B.layers == 40
    assert OPT_13B.kv_bytes_per_token == 819_200


def test_points_that_it_was_derived_from():
    for size in (1, 256):
        swap_s = figure_19.swap_s(PAPER, TOKENS, size)
        assert swap_s == pytest.approx(FIGURE_19_SWAP_S[size], rel=0.01)


def test_points_that_it_was_not_derived_from():
    assert figure_19.swap_s(PAPER, TOKENS, 16) == pytest.approx(FIGURE_19_SWAP_S[16], rel=0.03)
    assert figure_19.recompute_s(PAPER, TOKENS) == pytest.approx(FIGURE_19_RECOMPUTE_S, rel=0.02)


def test_shape_of_the_figure():
    """Recompute is flat, swap slow with small blocks; they are equal at medium ones."""
    swap_s = np.array([figure_19.swap_s(PAPER, TOKENS, size) for size in figure_19.BLOCK_SIZES])
    assert (np.diff(swap_s) < 0).all()
    recompute_s = figure_19.recompute_s(PAPER, TOKENS)
    equal = [
        size
        for size, seconds in zip(figure_19.BLOCK_SIZES, swap_s, strict=True)
        if seconds == pytest.approx(recompute_s, rel=0.15)
    ]
    assert set(equal) >= {16, 32, 64}
    assert swap_s[0] > 3 * recompute_s


def test_charge_is_off_unless_asked_for():
    assert Server().gpu.copy_overhead_s == A100_40GB.copy_overhead_s == 0
    charged = figure_19.charged(Server())
    assert charged.gpu.copy_overhead_s == figure_19.derive().copy_overhead_s
    assert figure_19.swap_s(Server(), 256, 1) == figure_19.swap_s(Server(), 256, 256)
    assert figure_19.swap_s(charged, 256, 1) > figure_19.swap_s(charged, 256, 256)


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
def test_times_are_those_of_the_simulation(preemption):
    """A simulated pre-emption costs so much where nothing else hides it."""
    tokens, size = 256, 16
    # The first grows into the second's last block; then the second returns, alone.
    requests = Requests([0, 0], [tokens, tokens - 1], [20, 40])
    server = Server(OPT_13B, PAPER.gpu, cache_bytes=PAPER.model.kv_bytes_per_token * 2 * tokens)
    timeline = simulate(requests, server, Paged(size, preemption=preemption))
    found = preemptions(timeline)
    assert found.request.tolist() == [1]
    (cached,) = found.cached_tokens.tolist()
    if preemption == "swap":
        assert found.cost_s == pytest.approx(figure_19.swap_s(server, cached, size))
    else:
        # The reading of the weights, which the pass does anyway, hides part of it.
        weights_s = server.model.weight_bytes / server.gpu.effective_bandwidth
        prefill_s = figure_19.recompute_s(server, cached + 1)
        read_s = weights_s + (cached + 1) * (
            server.model.kv_bytes_per_token / server.gpu.effective_bandwidth
        )
        assert found.cost_s == pytest.approx(prefill_s - read_s)


def test_comparison():
    compared = figure_19.compared()
    assert compared["tokens"] == TOKENS
    assert {
        row["block_size"]: row["published"] for row in compared["swap"] if row["published"]
    } == FIGURE_19_SWAP_S
    assert [row["block_size"] for row in compared["swap"] if row["fitted"]] == [1, 256]
    for row in compared["swap"]:
        assert row["seconds"] == figure_19.swap_s(PAPER, TOKENS, row["block_size"])
    assert compared["recompute"]["seconds"] == figure_19.recompute_s(PAPER, TOKENS)
