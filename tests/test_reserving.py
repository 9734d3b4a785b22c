"""What the paper's baselines reserve, and what becomes of those for whom there is no run."""

import numpy as np
import pytest
from test_addresses import ONE_BYTE, server
from test_refusals import assert_refuses

from kvsim import Buddy, ExponentialLengths, FirstFit, Requests, Server, capacity, simulate

PAPER = server(15_744)
KINDS = pytest.mark.parametrize("kind", [Buddy, FirstFit])


def reserved(allocation, prompt, output):
    prompt, output = np.array([prompt]), np.array([output])
    return int(allocation.reserved_tokens(prompt, output, prompt)[0])


@KINDS
@pytest.mark.parametrize(
    ("estimate", "output", "expected"),
    [
        ("oracle", 25, 65),
        ("oracle", 2008, 2048),
        ("pow2", 1, 41),
        ("pow2", 2, 42),
        ("pow2", 3, 44),
        ("pow2", 25, 72),
        ("pow2", 32, 72),
        ("pow2", 33, 104),
        ("pow2", 1025, 2048),  # 40 + 2,048, cut
        ("max", 25, 2048),
    ],
)
def test_item_47_estimates(kind, estimate, output, expected):
    assert reserved(kind(estimate, 2048, 16), 40, output) == expected


@pytest.mark.parametrize(("estimate", "blocks"), [("oracle", 8), ("pow2", 8), ("max", 128)])
def test_item_47_runs_of_prompt_40_and_output_25(estimate, blocks):
    requests = Requests([0], [40], [25])
    allocation = Buddy(estimate, 2048, 16)
    assert allocation.run_blocks(requests).tolist() == [blocks]
    pool = allocation.pool(PAPER, requests)
    assert pool.take(0, 40, 0)
    assert len(pool.held[0]) == blocks
    assert pool.free == 984 - blocks


@pytest.mark.parametrize("output", [*range(1, 70), 2**20 - 1, 2**20, 2**20 + 1])
def test_pow2_is_the_next_power_at_or_above(output):
    expected = reserved(Buddy("pow2", 2**22, 1), 1, output) - 1
    assert expected >= output > expected // 2
    assert expected & (expected - 1) == 0


@KINDS
def test_item_48_the_head_blocks_the_queue_and_nobody_is_pre_empted(kind):
    """Four of 64 fill the cache; the fifth waits for two neighbours, the sixth behind it."""
    size = 64
    requests = Requests(
        np.zeros(6), [size - 8, size - 4, size - 8, size - 6, 2 * size - 9, 8], [8, 4, 8, 6, 9, 8]
    )
    timeline = simulate(requests, server(4 * size), kind("oracle", 2 * size, 16))
    # Request 1 ends after 4 passes and leaves one hole of 64; 3 after 6, but not beside it.
    assert timeline.stays.last_pass[:4].tolist() == [7, 3, 7, 5]
    assert timeline.stays.first_pass.tolist()[:4] == [0] * 4
    assert timeline.stays.first_pass[4] == 8
    assert timeline.stays.first_pass[5] == 8
    assert not timeline.preemptions.any()


@KINDS
def test_a_pool_knows_where_each_request_lies(kind):
    requests = Requests([0, 0, 0], [10, 10, 10], [22, 6, 22])
    pool = kind("oracle", 32, 16).pool(server(5 * 16), requests)
    assert [pool.take(request, 10, 0) for request in range(3)] == [True, True, True]
    split_first = {0: range(0, 2), 1: range(4, 5), 2: range(2, 4)}
    lowest_first = {0: range(0, 2), 1: range(2, 3), 2: range(3, 5)}
    assert pool.held == (split_first if kind is Buddy else lowest_first)
    assert pool.grow(0, 7) == 7
    pool.give_back(1, 16, 5)
    assert 1 not in pool.held
    assert pool.free == 1


@KINDS
@pytest.mark.parametrize(
    ("setting", "parts"),
    [
        ({"estimate": "median"}, ["estimate", "'median'", "'oracle'"]),
        ({"estimate": None}, ["estimate", "None", "'oracle'"]),
        ({"max_length": 1}, ["max_length", "1", "at least 2"]),
        ({"block_size": 0}, ["block_size", "0", "at least 1"]),
        ({"block_size": 1.5}, ["block_size", "1.5", "whole number"]),
    ],
    ids=str,
)
def test_settings_that_are_refused(kind, setting, parts):
    assert_refuses(lambda: kind(**setting), *parts)


@KINDS
@pytest.mark.parametrize(
    ("tokens", "prompt", "output", "parts"),
    [
        (15_744, 2000, 49, ["Request 1", "2,049", "max_length is 2,048"]),
        (1000, 1000, 100, ["Request 1", "blocks", "lower max_length or enlarge the cache"]),
        (15, 5, 5, ["block_size", "16", "15"]),
    ],
)
def test_requests_that_could_never_run(kind, tokens, prompt, output, parts):
    requests = Requests([0, 0], [5, prompt], [5, output])
    assert_refuses(lambda: simulate(requests, server(tokens), kind("oracle", 2048, 16)), *parts)


def test_a_run_that_rounding_makes_too_long_is_refused():
    """Five blocks would do, and are there; but the buddy allocator has runs of 4 and 1 only."""
    requests, allocation = Requests([0], [60], [10]), ("oracle", 128, 16)
    simulate(requests, server(80), FirstFit(*allocation))
    assert_refuses(lambda: simulate(requests, server(80), Buddy(*allocation)), "8 blocks", "has 4")


@KINDS
def test_prompts_that_no_pass_may_hold(kind):
    limited = Server(ONE_BYTE, cache_bytes=PAPER.cache_bytes, max_batched_tokens=99)
    assert_refuses(
        lambda: simulate(Requests([0], [100], [5]), limited, kind()), "100", "max_batched_tokens"
    )


@KINDS
def test_no_closed_form(kind):
    assert_refuses(lambda: capacity(PAPER, kind(), ExponentialLengths()), kind.__name__, "simulate")
