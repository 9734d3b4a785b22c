"""How caches are cut into blocks: worked cases, refusals, and what holds for every model.

The numbers in the names are those of the list of behaviours that real servers' tests assert.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kvsim import Paged
from kvsim.capacity import capacity
from kvsim.deployment.cache_figures import figures_of_bytes, figures_of_gib
from kvsim.deployment.cache_layout import GIB, cache_layout, printed_interval
from kvsim.deployment.layers import Attention, Latent, LinearState
from kvsim.deployment.presets import MODELS
from kvsim.server import Server
from kvsim.workload import ExponentialLengths

PLAIN = Attention(8, 128)


@pytest.mark.parametrize(("asked", "fits"), [(16_385, 16_384), (16_384, 16_384), (16_383, 16_383)])
def test_40_the_longest_request_that_fits(asked, fits):
    layout = cache_layout((Attention(32, 128),) * 32)
    assert layout.bytes_per_token == 524_288
    assert layout.longest(layout.blocks(8 * GIB), asked) == fits


def test_41_concurrency_is_blocks_over_those_of_a_request():
    layout = cache_layout((PLAIN,) * 32)
    assert layout.concurrency(1536, 16_384) == 1.5
    windowed = cache_layout((Attention(8, 128, window=1024),) * 32, batched_tokens=1024)
    assert windowed.blocks_per_request(16_384) == 129
    assert windowed.concurrency(387, 16_384) == 3


def test_42_bytes_of_a_block():
    layer = Attention(64, 4)
    assert cache_layout((layer,)).block_bytes == 16_384 == 16 * 2 * 64 * 4 * 2
    two = cache_layout((layer, layer))
    # Two layers, with memory for 32 blocks of each.
    assert two.blocks(2 * 32 * 16_384) == 32


@pytest.mark.parametrize(("new", "ahead"), [(3, 2), (3, 4)])
def test_43_slots_ahead_take_the_blocks_of_their_tokens(new, ahead):
    assert PLAIN.blocks(np.array([new + ahead]), 4, 1).tolist() == [2]


def test_several_groups_by_hand():
    """Ten layers that keep all, 30 with a window: four groups of ten."""
    layers = (Attention(2, 64),) * 10 + (Attention(2, 64, window=100),) * 30
    layout = cache_layout(layers, batched_tokens=60)
    assert [group.groups for group in layout.groups] == [1, 3]
    assert layout.block_bytes == 10 * 16 * 2 * 2 * 64 * 2
    # 1,000 tokens: 63 blocks, and three times those of 159 tokens and one more.
    assert layout.blocks_per_request(1000) == 63 + 3 * (10 + 1)
    assert layout.tokens(103) == 25 * 16
    assert layout.reported_tokens(192, 1000) == 2000


def test_kinds_that_do_not_divide_are_padded():
    layers = (PLAIN,) * 17 + (Attention(8, 128, window=64),) * 48
    layout = cache_layout(layers)
    assert [group.groups for group in layout.groups] == [1, 3]


def test_blocks_of_smaller_layers_hold_more_tokens():
    layers = (Attention(8, 256, window=1024),) * 25 + (Attention(2, 512),) * 5
    sliding, full = cache_layout(layers).groups
    assert (sliding.block_tokens, full.block_tokens) == (16, 32)


STATE = LinearState(48, 16, 128, 128, conv_kernel=4, state_element_bytes=4)


def test_a_state_raises_the_block_to_hold_it():
    layers = (Attention(4, 256), STATE, STATE, STATE)
    assert cache_layout(layers).block_size == 784
    assert cache_layout(layers, kv_dtype="fp8").block_size == 1568
    assert cache_layout(layers, kv_dtype="fp8", draft_tokens=3).block_size == 1600
    # In steps of 16 tokens at least, and larger blocks that are asked for stand.
    assert cache_layout(layers, block_size=1).block_size == 784
    assert cache_layout(layers, block_size=2048).block_size == 2048


def test_a_state_of_unknown_size_needs_the_printed_block():
    layers = (Attention(4, 256), LinearState(), LinearState(), LinearState())
    known = cache_layout((Attention(4, 256), STATE, STATE, STATE), prefix_caching=True)
    printed = cache_layout(layers, block_size=784, prefix_caching=True)
    assert printed.block_bytes == known.block_bytes
    assert printed.blocks_per_request(5000) == known.blocks_per_request(5000)
    with pytest.raises(ValueError, match="give the block size that the server printed"):
        cache_layout(layers)


@pytest.mark.parametrize(("prefix_caching", "drafts", "held"), [(False, 0, 1), (True, 3, 5)])
def test_a_state_takes_the_same_blocks_at_every_length(prefix_caching, drafts, held):
    layers = (Attention(4, 256), STATE, STATE, STATE)
    layout = cache_layout(layers, prefix_caching=prefix_caching, draft_tokens=drafts)
    assert layout.blocks_per_request(1) == 1 + 3 * held
    assert layout.blocks_per_request(layout.block_size * 7) == 7 + 3 * held


def test_tensor_parallel_gpus_share_heads_but_not_latents():
    def bytes_of(layer, tp):
        return cache_layout((layer,), tp=tp).bytes_per_token

    assert [bytes_of(PLAIN, tp) for tp in (1, 2, 8, 16)] == [4096, 2048, 512, 512]
    assert bytes_of(Latent(512, 64), 8) == bytes_of(Latent(512, 64), 1) == 1152


def test_the_fullest_pipeline_stage_decides():
    assert cache_layout((PLAIN,) * 61, pp=2).bytes_per_token == 31 * 4096


@pytest.mark.parametrize(
    ("layers", "options", "said"),
    [
        ((PLAIN,), {"kv_dtype": "int3"}, "kv_dtype is 'int3': choose 'bf16'"),
        ((PLAIN,), {"tp": 0}, "tp is 0"),
        ((PLAIN,), {"tp": 3}, "tp is 3.*8 key and value heads"),
        ((PLAIN,), {"pp": 2}, "pp is 2.*has 1 layers"),
        ((PLAIN,), {"block_size": 0}, "block_size is 0"),
        ((PLAIN,), {"draft_tokens": -1}, "draft_tokens is -1"),
        ((PLAIN,), {"batched_tokens": 1.5}, "batched_tokens is 1.5"),
        ((PLAIN, Attention(8, 128, 64)), {"pp": 2}, "pp is 2.*several kinds"),
        ((PLAIN, Attention(8, 96, 64)), {}, "no common size of blocks"),
        ((STATE,), {}, "no attention layer"),
        ((PLAIN, Attention(8, 128, 64), STATE), {}, "state beside several kinds"),
        ((PLAIN, STATE), {"tp": 32}, "16 and 48 heads of a linear layer"),
    ],
)
def test_what_is_refused(layers, options, said):
    with pytest.raises(ValueError, match=said) as refused:
        cache_layout(layers, **options)
    assert str(refused.value).count("\n") == 0


def test_a_printed_figure_stands_for_an_interval():
    low, high = printed_interval(Fraction("3.81"))
    assert (low / GIB, high / GIB) == (Fraction("3.805"), Fraction("3.815"))
    assert printed_interval(Fraction("0.001"))[0] == 0


@given(
    gib=st.fractions("0.01", 500),
    block=st.sampled_from([1, 7, 16, 32, 784]),
    model=st.sampled_from(sorted(MODELS)),
    length=st.integers(2, 300_000),
    tp=st.sampled_from([1, 2]),
)
def test_figures_of_every_model_agree_with_each_other(gib, block, model, length, tp):
    layout = cache_layout(MODELS[model].shape.layers, block_size=block, tp=tp)
    figures = figures_of_gib(layout, gib, length)
    assert figures.blocks_low <= figures.blocks <= figures.blocks_high
    assert figures.blocks * layout.block_bytes <= gib * GIB
    assert figures.tokens_low <= figures.tokens <= figures.tokens_high
    longest = figures.longest_request
    assert 0 <= longest <= length
    assert (longest == length) == (figures.max_concurrency >= 1)
    if 0 < longest < length:
        assert layout.blocks_per_request(longest) <= figures.blocks
        assert layout.blocks_per_request(longest + 1) > figures.blocks
    if layout.of_one_group and layout.groups[0].layer == PLAIN:
        assert figures.tokens_at_max_length <= figures.tokens


@pytest.mark.parametrize("block", [1, 16, 256])
def test_requests_that_fit_are_those_of_the_closed_form(block):
    server = Server()
    layout = cache_layout(MODELS["llama-3-8b"].shape.layers, block_size=block)
    figures = figures_of_bytes(layout, server.cache_bytes, 8192)
    closed = capacity(server, Paged(block), ExponentialLengths(max_length=8192))
    assert figures.requests_at_once == pytest.approx(closed.requests, rel=1e-12)


def test_a_longer_maximum_costs_no_more_than_a_request_of_it():
    layout = cache_layout((PLAIN,))
    assert figures_of_bytes(layout, GIB, 10**9).longest_request == 2**18
    with pytest.raises(ValueError, match="at most 1,000,000,000"):
        layout.blocks_per_request(10**9 + 1)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0, 8192), "gib is 0"),
        ((1, 1), "max_length is 1"),
        ((1, 8192, "mine"), "workload is 'mine'"),
    ],
)
def test_bad_figures_are_refused(arguments, said):
    with pytest.raises(ValueError, match=said):
        figures_of_gib(cache_layout((PLAIN,)), *arguments)
