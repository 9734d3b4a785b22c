"""Behaviours that real servers' tests assert, by the numbers of the list they were collected in.

Items of that list that are about what this model does not have (a null block, look-ahead slots,
prefills in portions) are left out, or turned to what it has in their place.
"""

import numpy as np
import pytest

from kvsim import Buddy, Paged, Requests, Server, simulate
from kvsim.addresses import FreeList


def server_of(blocks, block_size):
    """A server whose cache has just so many blocks."""
    return Server(cache_bytes=blocks * block_size * Server().model.kv_bytes_per_token)


def pool_of(blocks, block_size):
    """An empty pool of blocks; it needs to know of no requests."""
    return Paged(block_size).pool(server_of(blocks, block_size), Requests([], [], []))


def at_once(prompts, outputs):
    """Requests that are all there from the start."""
    return Requests(np.zeros(len(prompts)), prompts, outputs)


@pytest.mark.parametrize(("tokens", "blocks"), [(1, 1), (16, 1), (129, 9)])
def test_1_a_prompt_takes_its_blocks(tokens, blocks):
    pool = pool_of(1024, 16)
    assert pool.take(0, tokens, 0)
    assert pool.free == 1024 - blocks


def test_1_five_tables():
    pool = pool_of(1024, 16)
    assert all(pool.take(request, 129, 0) for request in range(5))
    assert pool.free == 979


@pytest.mark.parametrize(("held", "appended", "more"), [(1, 16, 2), (16, 1, 1), (129, 129, 16)])
def test_2_appending_takes_what_the_ceiling_grows_by(held, appended, more):
    pool = pool_of(64, 8)
    pool.take(0, held, 0)
    before = pool.free
    assert pool.grow(1, appended) == appended
    assert before - pool.free == more


def test_3_what_is_reserved_first_takes_nothing_later():
    requests = at_once([40], [25])
    pool = Buddy("oracle", max_length=2048).pool(server_of(128, 16), requests)
    assert pool.take(0, 40, 0)
    reserved = pool.free
    assert pool.grow(1, 24) == 24
    assert pool.free == reserved


def test_4_a_prompt_that_fills_its_block_needs_nothing_at_once():
    pool = pool_of(8, 4)
    pool.take(0, 4, 0)
    assert pool.free == 7
    pool.grow(1, 4)
    assert pool.free == 6


def test_5_five_rounds_never_drift():
    pool = pool_of(1024, 16)
    for _ in range(5):
        for request in range(7):
            pool.take(request, 100 + request, 0)
        for request in range(7):
            pool.give_back(request, 100 + request, 0)
        assert pool.free == 1024
        assert sum(pool.growing) == pool.running == 0


def test_6_a_pool_of_four_has_no_fifth():
    blocks = FreeList(4)
    taken = blocks.take(4)
    with pytest.raises(IndexError):
        blocks.take(1)
    blocks.give_back(taken)
    assert blocks.free == 4


def test_6_what_was_freed_cannot_be_freed_again():
    pool = Buddy("oracle", max_length=2048).pool(server_of(128, 16), at_once([40], [25]))
    pool.take(0, 40, 0)
    pool.give_back(0, 64, 24)
    with pytest.raises(KeyError):
        pool.give_back(0, 64, 24)


def test_7_blocks_are_handed_out_in_increasing_order_at_first():
    assert FreeList(10).take(10) == list(range(10))


@pytest.mark.parametrize(("watermark", "admitted"), [(0.25, 3), (0.0, 4)])
def test_8_a_watermark_keeps_blocks_free(watermark, admitted):
    requests = at_once([4] * 4, [1] * 4)
    timeline = simulate(requests, server_of(4, 4), Paged(4, watermark=watermark))
    assert timeline.pass_log.batch[0] == admitted


def test_9_never_is_told_from_later():
    server, allocation = server_of(8, 4), Paged(4, watermark=0.5)
    assert simulate(at_once([16], [1]), server, allocation).passes == 1
    with pytest.raises(ValueError, match=r"needs 5 blocks.*can give it 4"):
        simulate(at_once([17], [1]), server, allocation)


def test_10_the_head_blocks_the_queue():
    """The second needs three blocks of which two are free; the third would need only one."""
    requests = at_once([4, 12, 4], [5, 1, 1])
    timeline = simulate(requests, server_of(3, 4), Paged(4))
    assert timeline.stays.request.tolist() == [0, 1, 2]
    assert timeline.stays.first_pass[2] >= timeline.stays.first_pass[1] > 0


def test_18_the_later_of_two_is_recomputed_as_one_prefill():
    timeline = simulate(at_once([4, 4], [4, 4]), server_of(2, 4), Paged(4))
    processed = timeline.pass_log.processed_tokens.tolist()
    assert processed[0] == 8
    assert processed[1] == 1, "the first decodes alone"
    assert timeline.preemptions.tolist() == [0, 1]
    again = timeline.stays.first_pass[timeline.stays.again]
    assert processed[again[0]] == 5, "its prompt and the token that it has produced"
    assert timeline.pass_log.moved_tokens.sum() == 0


def test_19_the_newest_goes_first_and_then_the_one_that_asks():
    timeline = simulate(at_once([4, 4, 4], [4, 4, 4]), server_of(3, 4), Paged(4))
    assert timeline.pass_log.batch[:2].tolist() == [3, 1]
    gone = timeline.stays.last_pass == 0
    assert timeline.stays.request[gone].tolist() == [1, 2]
    # They come back in their order.
    back = timeline.stays.request[timeline.stays.again].tolist()
    assert back[:2] == [1, 2]


def test_20_the_block_that_is_missing_pre_empts_the_later_request():
    timeline = simulate(at_once([5, 5], [4, 4]), server_of(6, 2), Paged(2))
    assert timeline.pass_log.batch[:3].tolist() == [2, 2, 1]
    assert timeline.preemptions.tolist() == [0, 1]
    assert timeline.stays.tokens_in(timeline.stays.last_pass)[-1] == 8


def test_21_nobody_is_pre_empted_while_last_blocks_have_room():
    """The paper's artifact wants a free block for everybody; this model only where one is full."""
    timeline = simulate(at_once([5, 5], [3, 3]), server_of(4, 4), Paged(4))
    assert timeline.preemptions.sum() == 0


def test_21_nobody_is_admitted_in_a_pass_that_pre_empts():
    requests = Requests([0, 0, 0.001], [4, 4, 1], [4, 4, 1])
    timeline = simulate(requests, server_of(2, 4), Paged(4))
    evicting = timeline.stays.last_pass[timeline.stays.evicted] + 1
    assert not np.isin(timeline.stays.first_pass, evicting).any()
