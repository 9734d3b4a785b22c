"""Any sequence of operations on block tables, against a memory that really holds tokens.

The memory follows the record of the pool: a block that is taken is empty, a copy has its source's
tokens, what is written are the tokens of the operation, in their order. Then every sequence must
read back exactly its own tokens.
"""

from itertools import pairwise

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
)

from kvsim import BlockPool, OutOfBlocksError, SwappingTables
from kvsim.block_manager.prefix_keys import chain

# Few token ids, so that sequences begin alike, and are filled with what is there already.
TOKENS = st.lists(st.integers(0, 1), max_size=9)
PROMPTS = st.lists(st.integers(0, 1), min_size=1, max_size=12)


class Memory:
    """What the blocks of one pool hold."""

    def __init__(self, pool, record):
        self.tokens = [[] for _ in range(pool.blocks)]
        self.size = pool.block_size
        self.record = record

    def follow(self, written=()):
        """Do what the record says; ``written`` are the tokens of the operation."""
        ahead = list(written)
        for event in self.record:
            if event.kind == "take":
                self.tokens[event.block] = []
            elif event.kind == "copy":
                self.tokens[event.block] = self.tokens[event.source].copy()
            elif event.kind == "write":
                block = self.tokens[event.block]
                fitting = self.size - len(block)
                block += ahead[:fitting]
                del ahead[:fitting]
            elif event.kind == "free":
                self.tokens[event.block] = None
        self.record.clear()
        assert not ahead, "not all tokens were written"


class BlockContents(RuleBasedStateMachine):
    """Tables of up to 8 blocks, a host of 4, and the tokens that each sequence should have."""

    held = Bundle("held")

    @initialize(
        blocks=st.integers(1, 8),
        block_size=st.integers(1, 4),
        keep_prefixes=st.booleans(),
        watermark=st.sampled_from([0.0, 0.25]),
    )
    def start(self, blocks, block_size, keep_prefixes, watermark):
        records = [], []
        pool = BlockPool(blocks, block_size, keep_prefixes, records[0])
        host = BlockPool(4, block_size, keep_prefixes, records[1])
        self.tables = SwappingTables(pool, host, watermark)
        self.memory, self.host_memory = Memory(pool, records[0]), Memory(host, records[1])
        self.own = {}  # table -> its tokens
        self.salts = {}

    def written(self, table):
        """What lies in a table's blocks."""
        memory = self.host_memory if table.pool is self.tables.host else self.memory
        return [token for block in table.blocks for token in memory.tokens[block]]

    def refused(self, operation):
        """Nothing has changed when an operation is refused."""
        before = self.tables.snapshot(), [vars(table).copy() for table in self.tables]
        with pytest.raises(OutOfBlocksError):
            operation()
        assert (self.tables.snapshot(), [vars(table) for table in self.tables]) == before
        assert not self.memory.record
        assert not self.host_memory.record

    @rule(target=held, prompt=PROMPTS, salt=st.sampled_from(["", "other"]))
    def allocate(self, prompt, salt):
        pool, size = self.tables.pool, self.tables.pool.block_size
        before = self.tables.snapshot().pool
        answer = self.tables.can_allocate(prompt, salt)
        try:
            table = self.tables.allocate(prompt, salt)
        except OutOfBlocksError:
            assert answer != "yes"
            assert not self.memory.record
            self.refused(lambda: self.tables.allocate(prompt, salt))
            return multiple()
        assert table.found % size == 0
        assert table.found <= len(prompt) - 1
        self.memory.follow(prompt[table.found :])
        for block in table.blocks[: table.found // size]:
            assert before.blocks[block].key is not None
        taken = len(before.queue) - pool.free
        if answer == "yes":
            assert len(before.queue) - taken >= self.tables.reserve_blocks
        if answer == "never":
            assert pool.blocks + -len(prompt) // size < self.tables.reserve_blocks
        self.own[table], self.salts[table] = list(prompt), salt
        return table

    @rule(table=held, tokens=TOKENS)
    def append(self, table, tokens):
        if table.pool is self.tables.host:
            with pytest.raises(ValueError, match="swapped out"):
                self.tables.append(table, tokens)
            return
        before = self.tables.snapshot().pool
        last = before.blocks[table.blocks[len(table.keys)]] if table.rest else None
        shared = bool(tokens and last and last.count > 1)
        blocks = -(-(table.length + len(tokens)) // self.memory.size)
        needed = max(0, blocks - len(table.blocks)) + shared
        if needed > len(before.queue):
            self.refused(lambda: self.tables.append(table, tokens))
            return
        copies = self.tables.append(table, tokens)
        assert len(copies) == shared
        for copy in copies:
            assert before.blocks[copy.source].count > 1
        for event in self.memory.record:
            if event.kind == "write":  # only what nobody else held, and nobody could find
                assert before.blocks[event.block].count <= 1
                assert before.blocks[event.block].key is None or event.block in before.queue
        self.memory.follow(tokens)
        self.own[table] += tokens

    @rule(table=held, slots=st.integers(0, 9), write=st.booleans())
    def reserve(self, table, slots, write):
        if table.pool is not self.tables.pool:
            return
        try:
            self.tables.reserve(table, slots)
        except OutOfBlocksError:
            self.refused(lambda: self.tables.reserve(table, slots))
            return
        self.memory.follow()
        if write:
            free = self.tables.pool.free
            assert self.tables.append(table, [1] * slots) == []
            assert self.tables.pool.free >= free, "it has been reserved"
            self.memory.follow([1] * slots)
            self.own[table] += [1] * slots

    @rule(target=held, table=held)
    def fork(self, table):
        if table.pool is self.tables.host:
            return multiple()
        free = self.tables.pool.free
        child = self.tables.fork(table)
        assert self.tables.pool.free == free
        self.memory.follow()
        self.own[child], self.salts[child] = self.own[table].copy(), self.salts[table]
        return child

    @rule(table=consumes(held))
    def free(self, table):
        self.tables.free(table)
        self.memory.follow()
        self.host_memory.follow()
        del self.own[table]
        with pytest.raises(ValueError, match="has been freed"):
            self.tables.free(table)

    @rule(tables=st.lists(held, min_size=1, max_size=3, unique=True), inwards=st.booleans())
    def swap(self, tables, inwards):
        """Move a group; those on the other side already are left out."""
        pools = (self.tables.pool, self.memory), (self.tables.host, self.host_memory)
        (source, from_memory), (target, to_memory) = reversed(pools) if inwards else pools
        group = [table for table in tables if table.pool is source]
        fits = self.tables.can_swap_in if inwards else self.tables.can_swap_out
        move = self.tables.swap_in if inwards else self.tables.swap_out
        if not fits(group):
            self.refused(lambda: move(group))
            return
        contents = [tokens and tokens.copy() for tokens in from_memory.tokens]
        copies = move(group)
        assert len({copy.source for copy in copies}) == len(copies)
        from_memory.follow()
        to_memory.follow()
        for copy in copies:
            to_memory.tokens[copy.target] = contents[copy.source]
        assert all(table.pool is target for table in group)

    @invariant()
    def every_sequence_reads_back_its_own_tokens(self):
        for table in self.tables:
            assert self.written(table) == self.own[table]
            assert table.length == len(self.own[table])
        assert set(self.tables) == set(self.own)

    @invariant()
    def counts_are_the_tables_that_hold_a_block(self):
        snapshot = self.tables.snapshot()
        for state, swapped in ((snapshot.pool, False), (snapshot.host, True)):
            holding = [table.blocks for table in snapshot.tables if table.swapped == swapped]
            for number, block in enumerate(state.blocks):
                assert block.count == sum(blocks.count(number) for blocks in holding)
            free = [number for number, block in enumerate(state.blocks) if block.count == 0]
            assert sorted(state.queue) == free

    @invariant()
    def blocks_hold_what_the_pool_says(self):
        snapshot = self.tables.snapshot()
        for state, memory in (
            (snapshot.pool, self.memory),
            (snapshot.host, self.host_memory),
        ):
            for block, tokens in zip(state.blocks, memory.tokens, strict=True):
                assert block.filled == len(tokens or [])
                assert block.key is None or block.filled == self.memory.size
                assert block.key is not None or block.count or not block.filled
            keys = [block.key for block in state.blocks if block.key]
            assert len(set(keys)) == len(keys)

    @invariant()
    def full_blocks_with_the_same_beginning_are_one(self):
        size = self.memory.size
        blocks = {}
        for table in self.tables:
            tokens = self.own[table]
            for end in range(size, len(tokens) + 1, size):
                beginning = table.pool, self.salts[table], tuple(tokens[:end])
                block = blocks.setdefault(beginning, table.blocks[end // size - 1])
                assert block == table.blocks[end // size - 1]

    @invariant()
    def salts_share_nothing(self):
        owners = {}
        for table in self.tables:
            for block in table.blocks:
                salt = self.salts[table]
                assert owners.setdefault((table.pool, block), salt) == salt

    @invariant()
    def without_keeping_nothing_is_kept(self):
        snapshot = self.tables.snapshot()
        for pool, state in (
            (self.tables.pool, snapshot.pool),
            (self.tables.host, snapshot.host),
        ):
            assert pool.keep_prefixes or not any(block.kept for block in state.blocks)

    def teardown(self):
        if not hasattr(self, "tables"):
            return
        for table in list(self.tables):
            self.tables.free(table)
        for pool in (self.tables.pool, self.tables.host):
            assert pool.free == pool.blocks
            assert {block.count for block in pool.state().blocks} == {0}


TestBlockContents = BlockContents.TestCase
TestBlockContents.settings = settings(max_examples=120, stateful_step_count=30, deadline=None)


def test_keys_follow_the_whole_beginning():
    """Equal blocks after different ones are different; so are the same blocks in another order."""
    keys = chain([1, 2, 1, 2, 1, 2], 2, "")
    assert len(set(keys)) == 3
    assert chain([1, 2, 3, 4], 2, "")[1] != chain([3, 4, 1, 2], 2, "")[1]
    assert all(one != other for one, other in pairwise(keys + chain([1, 2], 2, "salt")))
