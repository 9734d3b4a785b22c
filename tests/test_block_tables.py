"""Block tables, by the numbers of the list of behaviours that real servers' tests assert.

That list's prefix-cache items have a null block with the number 0, so that their blocks are
numbered from 1. Here there is none: a pool of 10 usable blocks is ``BlockPool(10)``, and block
number ``k`` of the list is ``k - 1``. :func:`listed` turns ours into theirs.
"""

from itertools import count

import pytest

from kvsim import (
    BlockPool,
    BlockTables,
    OutOfBlocksError,
    Paged,
    Requests,
    Server,
    SwappingTables,
    simulate,
)
from kvsim.block_manager.pool import Event
from kvsim.block_manager.tables import Copy

FRESH = count(1_000_000)


def fresh(tokens):
    """So many token ids that nobody else has."""
    return [next(FRESH) for _ in range(tokens)]


def tables_of(blocks, block_size, keep_prefixes=False, **options):
    return BlockTables(BlockPool(blocks, block_size, keep_prefixes), **options)


def listed(blocks):
    """Block numbers as they are in the list."""
    return [block + 1 for block in blocks]


def counts(tables):
    return [block.count for block in tables.snapshot().pool.blocks]


def queue(tables):
    return listed(tables.snapshot().pool.queue)


def findable(tables):
    """The list's numbers of the blocks that have a hash."""
    return listed(number for number, block in enumerate(tables.snapshot().pool.blocks) if block.key)


def refused(tables, operation):
    """Whether an operation is refused for want of blocks, and nothing has changed."""
    before = tables.snapshot()
    with pytest.raises(OutOfBlocksError, match=r"Blocks needed: \d+; free: \d+ of \d+\."):
        operation()
    return tables.snapshot() == before


# Sizes and counting


@pytest.mark.parametrize(("tokens", "blocks"), [(1, 1), (16, 1), (129, 9)])
def test_1_a_prompt_takes_its_blocks(tokens, blocks):
    tables = tables_of(1024, 16)
    assert len(tables.allocate(fresh(tokens)).blocks) == blocks
    assert tables.pool.free == 1024 - blocks


def test_1_five_tables():
    tables = tables_of(1024, 16)
    for _ in range(5):
        tables.allocate(fresh(129))
    assert tables.pool.free == 979


@pytest.mark.parametrize(("held", "appended", "more"), [(1, 16, 2), (16, 1, 1), (129, 129, 16)])
def test_2_appending_takes_what_the_ceiling_grows_by(held, appended, more):
    tables = tables_of(64, 8)
    table = tables.allocate(fresh(held))
    before = len(table.blocks)
    assert tables.append(table, fresh(appended)) == []
    assert len(table.blocks) - before == more
    assert tables.pool.free == 64 - len(table.blocks)


@pytest.mark.parametrize(("held", "slots", "more"), [(1, 16, 2), (16, 1, 1), (129, 129, 16)])
def test_3_what_is_reserved_first_takes_nothing_later(held, slots, more):
    tables = tables_of(64, 8)
    table = tables.allocate(fresh(held))
    before = tables.pool.free
    assert tables.reserve(table, slots) == []
    reserved = table.blocks.copy()
    assert before - tables.pool.free == more
    tables.append(table, fresh(slots))
    assert table.blocks == reserved
    assert before - tables.pool.free == more


def test_4_a_prompt_that_fills_its_block_needs_nothing_at_once():
    tables = tables_of(8, 4)
    table = tables.allocate(fresh(4))
    tables.append(table, [])
    assert tables.pool.free == 7
    tables.append(table, fresh(4))
    assert tables.pool.free == 6


def test_5_five_rounds_never_drift():
    tables = tables_of(1024, 16)
    for _ in range(5):
        held = [tables.allocate(fresh(100 + more)) for more in range(7)]
        assert tables.pool.free < 1024
        for table in held:
            tables.free(table)
        assert tables.pool.free == 1024


@pytest.mark.parametrize(
    "operation",
    [
        lambda tables, table: tables.append(table, [1]),
        lambda tables, table: tables.reserve(table, 1),
        lambda tables, table: tables.fork(table),
        lambda tables, table: tables.free(table),
    ],
    ids=["append", "reserve", "fork", "free"],
)
def test_5_a_freed_table_is_gone(operation):
    tables = tables_of(8, 4)
    table = tables.allocate(fresh(6))
    tables.free(table)
    assert table.blocks == []
    before = tables.snapshot()
    with pytest.raises(ValueError, match=r"Table 0 has been freed"):
        operation(tables, table)
    assert tables.snapshot() == before


def test_6_a_pool_of_four_has_no_fifth():
    pool = BlockPool(4, 4)
    assert [pool.take() for _ in range(4)] == [0, 1, 2, 3]
    with pytest.raises(OutOfBlocksError, match=r"Blocks needed: 1; free: 0 of 4\. Free"):
        pool.take()
    tables = tables_of(4, 4)
    for _ in range(4):
        tables.allocate(fresh(3))
    assert refused(tables, lambda: tables.allocate(fresh(3)))


def test_6_a_free_block_cannot_be_freed_shared_or_written():
    pool = BlockPool(4, 4)
    block = pool.take()
    pool.give_back(block)
    before = pool.state()
    for operation, sentence in (
        (lambda: pool.give_back(block), "Block 0 is free already"),
        (lambda: pool.share(block), "Block 0 is free and empty"),
        (lambda: pool.write(block, 1), "Block 0 is held by 0 tables"),
    ):
        with pytest.raises(ValueError, match=sentence):
            operation()
    assert pool.state() == before


# Admission


@pytest.mark.parametrize(("watermark", "admitted"), [(0.25, 3), (0.0, 4)])
def test_8_a_watermark_keeps_blocks_free(watermark, admitted):
    tables = tables_of(4, 4, watermark=watermark)
    while tables.can_allocate(prompt := fresh(4)) == "yes":
        tables.allocate(prompt)
    assert len(tables) == admitted
    assert tables.can_allocate(fresh(4)) == "later"


def test_9_never_is_told_from_later():
    tables = tables_of(8, 4, watermark=0.5)
    assert tables.can_allocate(fresh(16)) == "yes"
    assert tables.can_allocate(fresh(17)) == "never"
    tables.allocate(fresh(4))
    assert tables.can_allocate(fresh(16)) == "later"
    assert tables.can_allocate(fresh(17)) == "never"


def test_9_the_artifact_reserves_nine_of_984():
    tables = tables_of(984, 16, watermark=0.01)
    assert tables.reserve_blocks == 9
    table = tables.allocate(fresh(16 * 974))
    assert tables.can_allocate(fresh(16)) == "yes"
    assert tables.can_allocate(fresh(17)) == "later"
    tables.append(table, fresh(16 * 10))  # growing is not bound by it
    assert tables.pool.free == 0


def test_9_what_is_shared_counts_only_if_it_was_free():
    tables = tables_of(4, 4, keep_prefixes=True, watermark=0.25)
    prompt = fresh(8)
    first = tables.allocate(prompt)
    assert tables.can_allocate([*prompt, 1]) == "yes"  # two shared, one taken, one left
    tables.allocate(fresh(4))
    assert tables.can_allocate([*prompt, 1]) == "later"
    tables.free(first)
    assert tables.can_allocate([*prompt, 1]) == "later"  # the two are free, and would not stay so


# Sharing, fork and copy-on-write


@pytest.mark.parametrize("block_size", [1, 8])
@pytest.mark.parametrize("tokens", [1, 9, 129])
def test_22_a_fork_takes_nothing(tokens, block_size):
    tables = tables_of(1024, block_size)
    parent = tables.allocate(fresh(tokens))
    free = tables.pool.free
    child = tables.fork(parent)
    assert child.blocks == parent.blocks
    assert tables.pool.free == free
    tables.free(parent)
    assert tables.pool.free == free
    tables.free(child)
    assert tables.pool.free == 1024


@pytest.mark.parametrize("writer", ["parent", "child"])
@pytest.mark.parametrize(
    ("held", "appended", "total", "copied"),
    [(16, 1, 3, 0), (129, 1, 18, 1), (1, 16, 4, 1)],
)
def test_23_the_first_writer_copies_a_partly_filled_block(held, appended, total, copied, writer):
    tables = tables_of(1024, 8)
    parent = tables.allocate(fresh(held))
    child = tables.fork(parent)
    shared = parent.blocks.copy()
    one, other = (parent, child) if writer == "parent" else (child, parent)
    copies = tables.append(one, fresh(appended))
    assert 1024 - tables.pool.free == total
    assert total == -(-held // 8) + -(-(held + appended) // 8) - held // 8
    assert other.blocks == shared
    assert copies == [Copy(shared[-1], one.blocks[len(shared) - 1])] * copied
    assert (one.blocks[len(shared) - 1] == shared[-1]) == (copied == 0)


def test_24_the_second_writes_in_place():
    tables = tables_of(8, 4)
    first = tables.allocate(fresh(3))
    second = tables.fork(first)
    assert counts(tables)[0] == 2
    assert tables.append(first, fresh(1)) == [Copy(0, 1)]
    assert tables.pool.free == 6
    assert counts(tables)[:2] == [1, 1]
    assert tables.append(second, fresh(1)) == []
    assert tables.pool.free == 6
    assert second.blocks == [0]


def test_24_the_copy_counts_when_asking_whether_it_fits():
    tables = tables_of(2, 4)
    first = tables.allocate(fresh(3))
    second = tables.fork(first)
    assert refused(tables, lambda: tables.append(second, fresh(2)))
    assert second.blocks == [0]
    assert tables.reserve(second, 1) == [Copy(0, 1)]
    assert [block.filled for block in tables.snapshot().pool.blocks] == [3, 3]


@pytest.mark.parametrize("block_size", [4, 8])
@pytest.mark.parametrize("samples", [1, 3])
@pytest.mark.parametrize("room", [0, 1])
def test_25_swapping_out_and_in(block_size, samples, room):
    pool, host = BlockPool(8, block_size, keep_prefixes=False), BlockPool(8, block_size, False)
    tables = SwappingTables(pool, host)
    first = tables.allocate(fresh(block_size - room))
    group = [first, *(tables.fork(first) for _ in range(samples - 1))]
    held = first.blocks.copy()
    assert tables.can_swap_out(group)
    copies = tables.swap_out(group)
    assert [copy.source for copy in copies] == held
    assert [copy.target for copy in copies] == first.blocks
    assert (pool.free, host.free) == (8, 7)
    assert host.count(first.blocks[0]) == samples
    assert tables.can_swap_in(group)
    back = tables.swap_in(group)
    assert [copy.source for copy in back] == [copy.target for copy in copies]
    assert (pool.free, host.free) == (7, 8)
    assert pool.count(first.blocks[0]) == samples


def test_25_slots_to_come_count_when_asking_whether_it_fits():
    pool, host = BlockPool(2, 4, keep_prefixes=False), BlockPool(2, 4, keep_prefixes=False)
    tables = SwappingTables(pool, host)
    table = tables.allocate(fresh(3))
    sample = tables.fork(table)
    tables.swap_out([table, sample])
    tables.allocate(fresh(1))
    assert tables.can_swap_in([table, sample])
    assert not tables.can_swap_in([table, sample], ahead=1)  # one of them must copy the block
    tables.free(sample)
    assert tables.can_swap_in([table], ahead=1)
    assert not tables.can_swap_in([table], ahead=2)


def test_25_what_the_cache_has_kept_is_not_copied_back():
    tables = SwappingTables(BlockPool(4, 4), BlockPool(4, 4))
    table = tables.allocate(fresh(10))
    assert len(tables.swap_out([table])) == 3
    assert tables.swap_in([table]) == [Copy(2, 3)]  # the partly filled block alone
    assert table.blocks == [0, 1, 3]


def test_25_what_cannot_be_swapped():
    pool, host = BlockPool(8, 4), BlockPool(1, 4)
    tables = SwappingTables(pool, host)
    table, short = tables.allocate(fresh(5)), tables.allocate(fresh(1))
    assert not tables.can_swap_out([table])
    assert refused(tables, lambda: tables.swap_out([table]))
    tables.swap_out([short])
    before = tables.snapshot()
    for operation, sentence in (
        (lambda: tables.append(short, [1]), "Table 1 is swapped out: swap it in"),
        (lambda: tables.fork(short), "Table 1 is swapped out: swap it in"),
        (lambda: tables.swap_out([short]), "Table 1 is swapped out: swap it in"),
        (lambda: tables.swap_in([table]), "Table 0 is not swapped out"),
        (lambda: tables.swap_in([short, short]), "stands twice"),
    ):
        with pytest.raises(ValueError, match=sentence):
            operation()
    assert tables.snapshot() == before
    tables.free(short)
    assert host.free == 1
    with pytest.raises(ValueError, match=r"host's blocks have 8 tokens: choose 4"):
        SwappingTables(pool, BlockPool(1, 8))


# Prefix cache


@pytest.fixture
def cache():
    """Ten usable blocks of 16 tokens."""
    return tables_of(10, 16, keep_prefixes=True)


COMMON = fresh(48)


def test_27_full_blocks_are_shared(cache):
    r0 = cache.allocate(COMMON + fresh(7))
    assert r0.found == 0
    assert listed(r0.blocks) == [1, 2, 3, 4]
    assert findable(cache) == [1, 2, 3]
    assert counts(cache)[:4] == [1, 1, 1, 1]
    r1 = cache.allocate(COMMON + fresh(5))
    assert r1.found == 48
    assert listed(r1.blocks) == [1, 2, 3, 5]
    assert counts(cache)[:5] == [2, 2, 2, 1, 1]
    assert cache.pool.free == 5


def test_28_the_tail_of_a_prefix_is_evicted_before_its_head(cache):
    r0, r1 = cache.allocate(COMMON + fresh(7)), cache.allocate(COMMON + fresh(5))
    cache.free(r0)
    cache.free(r1)
    assert queue(cache) == [6, 7, 8, 9, 10, 4, 5, 3, 2, 1]
    r2 = cache.allocate(COMMON + fresh(6))
    assert r2.found == 48
    assert listed(r2.blocks) == [1, 2, 3, 6]
    assert cache.pool.free == 6
    cache.free(r2)
    r3 = cache.allocate(fresh(160))
    assert listed(r3.blocks) == [7, 8, 9, 10, 4, 5, 6, 3, 2, 1]
    assert cache.pool.free == 0


def test_29_hits_leave_the_queue(cache):
    long = fresh(87)
    first, second = cache.allocate(long), cache.allocate(fresh(48))
    cache.free(first)
    cache.free(second)
    assert queue(cache) == [10, 6, 5, 4, 3, 2, 1, 9, 8, 7]
    third = cache.allocate(long[:32] + fresh(3))
    assert listed(third.blocks) == [1, 2, 10]
    assert cache.pool.free == 7


def test_30_a_block_is_found_once_it_is_full(cache):
    table = cache.allocate(fresh(55))
    cache.append(table, fresh(4))
    assert len(table.blocks) == 4
    assert findable(cache) == [1, 2, 3]
    cache.append(table, fresh(19))
    assert listed(table.blocks) == [1, 2, 3, 4, 5]
    assert findable(cache) == [1, 2, 3, 4]


def test_31_taking_a_block_forgets_what_it_held():
    tables = tables_of(1, 16, keep_prefixes=True)
    tables.free(tables.allocate(fresh(16)))
    assert findable(tables) == [1]
    table = tables.allocate(fresh(15))
    assert table.blocks == [0]
    assert findable(tables) == []


def test_32_what_was_just_hit_is_not_taken_for_the_rest():
    tables = tables_of(2, 16, keep_prefixes=True)
    one, two = fresh(16), fresh(16)
    held = [tables.allocate(one), tables.allocate(two)]
    for table in held:
        tables.free(table)
    assert queue(tables) == [1, 2]
    both = tables.allocate(one + two)
    assert both.found == 16
    assert listed(both.blocks) == [1, 2]


@pytest.mark.parametrize(("tokens", "found"), [(1, 0), (16, 0), (17, 16), (32, 16), (33, 32)])
def test_32_the_last_token_is_always_computed(cache, tokens, found):
    prompt = fresh(tokens)
    cache.free(cache.allocate(prompt))
    assert cache.allocate(prompt).found == found


def test_33_failure_leaves_no_trace(cache):
    """Five are free, three of them hits: two are left, and three more are needed."""
    head, tail = fresh(48), fresh(48)
    r0 = cache.allocate(head)
    other = cache.allocate(head + tail)
    filler = cache.allocate(fresh(32))
    cache.free(other)
    assert counts(cache)[:6] == [1, 1, 1, 0, 0, 0]
    assert cache.pool.free == 5
    prompt = head + tail + fresh(48)
    assert cache.can_allocate(prompt) == "later"
    assert refused(cache, lambda: cache.allocate(prompt))
    assert counts(cache)[:6] == [1, 1, 1, 0, 0, 0]
    cache.free(filler)
    assert cache.allocate(prompt).found == 96
    assert r0.blocks == [0, 1, 2]


def test_34_without_keeping_prefixes_nothing_outlives_its_request():
    tables = tables_of(4, 4)
    prompt = fresh(10)
    table = tables.allocate(prompt)
    assert len(table.blocks) == 3
    tables.free(table)
    assert all(block.filled == 0 and block.key is None for block in tables.snapshot().pool.blocks)
    again = tables.allocate(prompt + fresh(6))
    assert again.found == 0
    assert len(again.blocks) == 4
    assert refused(tables, lambda: tables.append(again, fresh(4)))


@pytest.mark.parametrize("keep_prefixes", [False, True])
@pytest.mark.parametrize(("tokens", "free"), [(129, 1011), (16, 1023), (1, 1019)])
def test_35_equal_prompts_share_their_full_blocks(tokens, free, keep_prefixes):
    tables = tables_of(1024, 16, keep_prefixes)
    prompt = fresh(tokens)
    for _ in range(5):
        tables.allocate(prompt)
    assert tables.pool.free == free


def test_36_a_block_filled_with_what_is_cached_is_dropped_for_it():
    record = []
    tables = BlockTables(BlockPool(8, 4, record=record))
    tokens = fresh(8)
    first = tables.allocate(tokens)
    second = tables.allocate(tokens[:6])
    assert second.blocks == [0, 2]
    del record[:]
    tables.append(second, tokens[6:])
    assert second.blocks == first.blocks == [0, 1]
    assert counts(tables)[:3] == [2, 2, 0]
    assert tables.pool.free == 6
    assert record == [Event("write", 2), Event("share", 1), Event("free", 2)]


def test_39_salts_never_share(cache):
    prompt = COMMON + fresh(3)
    cache.allocate(prompt, salt="salt1")
    assert cache.allocate(prompt, salt="salt1").found == 48
    assert cache.allocate(prompt, salt="salt2").found == 0


def test_45_a_drained_cache_has_no_record_left(cache):
    held = [cache.allocate(COMMON + fresh(3)) for _ in range(3)]
    held.append(cache.fork(held[0]))
    for table in held:
        cache.append(table, fresh(2))
        cache.free(table)
    assert len(cache) == 0
    assert cache.snapshot().tables == ()
    assert cache.pool.free == 10
    assert set(counts(cache)) == {0}
    assert findable(cache) == [1, 2, 3]


# What the list does not say


def test_the_record_tells_a_copy_on_write_step_by_step():
    record = []
    tables = BlockTables(BlockPool(3, 4, record=record))
    first = tables.allocate([1, 2, 3, 4, 5])
    second = tables.fork(first)
    del record[:]
    tables.append(second, [6])
    assert record == [Event("take", 2), Event("copy", 2, 1), Event("leave", 1), Event("write", 2)]
    del record[:]
    tables.free(first)
    tables.free(second)
    tables.allocate(fresh(9))
    assert record == [
        *(Event("free", 1), Event("leave", 0), Event("free", 2), Event("keep", 0)),
        *(Event("take", 1), Event("take", 2), Event("evict", 0), Event("take", 0)),
        *(Event("write", 1), Event("write", 2), Event("write", 0)),
    ]


def test_a_shared_or_full_block_is_never_written():
    pool = BlockPool(2, 4)
    block = pool.take()
    pool.write(block, 4)
    with pytest.raises(ValueError, match=r"Block 0 holds 4 of 4 tokens: it cannot be filled up to"):
        pool.write(block, 5)
    other = pool.take()
    pool.share(other)
    with pytest.raises(ValueError, match=r"Block 1 is held by 2 tables: only a block"):
        pool.write(other, 1)


def test_reserved_blocks_stay_with_the_first_of_a_fork():
    tables = tables_of(8, 4)
    table = tables.allocate(fresh(3))
    tables.reserve(table, 6)
    child = tables.fork(table)
    assert len(table.blocks) == 3
    assert child.blocks == table.blocks[:1]
    assert tables.append(child, fresh(1)) == [Copy(0, 3)]
    assert tables.append(table, fresh(6)) == []
    assert tables.pool.free == 4


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: BlockPool(0), "blocks is 0: it must be a whole number of at least 1"),
        (lambda: BlockPool(4, 1.5), "block_size is 1.5: it must be a whole number"),
        (lambda: tables_of(4, 4, watermark=1), "watermark is 1: it must be a share from 0"),
        (lambda: tables_of(4, 4).allocate([]), "A prompt has 0 tokens: it must have at least 1"),
        (lambda: tables_of(4, 4).allocate(["a"]), "A token is 'a': token ids must be whole"),
        (lambda: tables_of(4, 4).allocate([1, -1]), "A token is -1: token ids must be whole"),
        (lambda: tables_of(4, 4).allocate([2**63]), "A token is 9223372036854775808"),
        (lambda: tables_of(4, 4).can_allocate([True]), "A token is True"),
        (lambda: tables_of(4, 4).can_allocate(7), "tokens is 7: it must be a list of token ids"),
        (lambda: tables_of(4, 4).allocate([1], salt=3), "salt is 3: it must be a text"),
    ],
)
def test_bad_values_get_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize("block_size", [2, 16])
def test_what_the_simulation_counts_is_what_block_tables_take(block_size):
    """A run short of memory, with its tables made pass by pass: no block more, and never refused.

    Whoever needs a block when the simulation pre-empts would not have found one.
    """
    blocks = 640 // block_size
    server = Server(cache_bytes=blocks * block_size * Server().model.kv_bytes_per_token)
    requests = Requests([0.01 * each for each in range(30)], [37, 90, 5] * 10, [60, 33, 150] * 10)
    timeline = simulate(requests, server, Paged(block_size))
    stays = timeline.stays
    assert stays.evicted.any()
    tables = tables_of(blocks, block_size)
    held = {}
    for q in range(timeline.passes):
        evicted = [stay for stay in held if stays.last_pass[stay] < q and stays.evicted[stay]]
        for stay in [stay for stay in held if stays.last_pass[stay] < q]:
            if stay in evicted:
                continue
            tables.free(held.pop(stay))
        if evicted:
            growing = sum(table.length % block_size == 0 for table in held.values())
            assert growing > tables.pool.free
        for stay in evicted:
            tables.free(held.pop(stay))
        for table in held.values():
            tables.append(table, fresh(1))
        for stay in (stays.first_pass == q).nonzero()[0].tolist():
            held[stay] = tables.allocate(fresh(int(stays.first_tokens[stay])))
        tokens = {stay: int(stays.tokens_in(q)[stay]) for stay in held}
        assert {stay: table.length for stay, table in held.items()} == tokens
        assert blocks - tables.pool.free == sum(-(-each // block_size) for each in tokens.values())
