"""Block tables: which physical blocks hold the tokens of a sequence, in order.

Tables share blocks: full ones with the same beginning, and after a fork all of them. A block that
several tables hold is never written to; who wants to write into a partly filled one gets a copy
(copy-on-write), and the last one left writes in place. Every operation looks first whether there
are blocks enough: one that is refused has changed nothing.

    pool = BlockPool(blocks=64, block_size=16)
    tables = BlockTables(pool)
    prompt = tables.allocate(range(50))
    sample = tables.fork(prompt)
    copies = tables.append(sample, [7])  # [Copy(source=3, target=4)]
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from kvsim import checks
from kvsim.block_manager.pool import BlockPool, PoolState
from kvsim.block_manager.prefix_keys import Key, chain, first_key, next_key, token_ids
from kvsim.kinds import of_kind

Answer = Literal["yes", "later", "never"]


class Copy(NamedTuple):
    """The contents of block ``source`` must be copied to block ``target``."""

    source: int
    target: int


@dataclass(eq=False)
class BlockTable:
    """One sequence: its blocks, and ``length`` tokens in them, ``found`` of them on arrival.

    ``keys`` are those of its full blocks, ``rest`` are the token ids after them. A freed table
    has no blocks, and no operation takes it.
    """

    number: int
    pool: BlockPool
    start: Key
    blocks: list[int] = field(default_factory=list)
    keys: list[Key] = field(default_factory=list)
    rest: list[int] = field(default_factory=list)
    length: int = 0
    found: int = 0


@dataclass(frozen=True)
class TableState:
    """A table at one moment."""

    number: int
    length: int
    blocks: tuple[int, ...]
    swapped: bool


@dataclass(frozen=True)
class Snapshot:
    """The pool and all tables at one moment; ``host`` is the pool of those swapped out."""

    pool: PoolState
    tables: tuple[TableState, ...]
    host: PoolState | None = None


class BlockTables:
    """The block tables over one pool.

    ``watermark`` (0 to below 1) is the share of all blocks, rounded down, that an admission must
    leave free; it binds :meth:`can_allocate` alone. Raises ``ValueError`` for other values.
    """

    def __init__(self, pool: BlockPool, watermark: float = 0.0) -> None:
        of_kind("pool", pool, BlockPool)
        if not 0 <= checks.finite_number("watermark", watermark) < 1:
            raise ValueError(f"watermark is {watermark!r}: it must be a share from 0 to below 1.")
        self.pool = pool
        self.reserve_blocks = int(watermark * pool.blocks)
        self._tables: dict[int, BlockTable] = {}
        self._next = 0

    def __iter__(self) -> Iterator[BlockTable]:
        """Go through the tables that have not been freed, in order of number."""
        return iter(self._tables.values())

    def __len__(self) -> int:
        """Tables that have not been freed."""
        return len(self._tables)

    def snapshot(self) -> Snapshot:
        """Return everything as it is now, as a value that stays as it is."""
        tables = tuple(
            TableState(table.number, table.length, tuple(table.blocks), self._swapped(table))
            for table in self
        )
        return Snapshot(self.pool.state(), tables)

    def can_allocate(self, tokens: Iterable[int], salt: str = "") -> Answer:
        """Say whether a prompt may be admitted, so that the watermark's blocks stay free.

        "never" means: not even into an empty cache.
        """
        prompt = _prompt(tokens)
        found = self._cached(prompt, salt)
        blocks = self._blocks_of(len(prompt))
        if self.pool.blocks - blocks < self.reserve_blocks:
            return "never"
        needed = self.pool.needed(found, blocks - len(found))
        return "yes" if self.pool.free - needed >= self.reserve_blocks else "later"

    def allocate(self, tokens: Iterable[int], salt: str = "") -> BlockTable:
        """Make a table for a prompt: share what the cache has of it, and write the rest.

        The last token is always written, so at most all tokens but one are ``found``. Sequences of
        different ``salt`` share nothing. Raises :class:`~kvsim.OutOfBlocksError` if it
        does not fit, ``ValueError`` for a prompt without tokens.
        """
        prompt = _prompt(tokens)
        found = self._cached(prompt, salt)
        more = self._blocks_of(len(prompt)) - len(found)
        self.pool.require(self.pool.needed(found, more))
        table = self._new(first_key(salt))
        table.blocks = [self.pool.share(block) for block in found]
        table.length = table.found = len(found) * self.pool.block_size
        table.keys = chain(prompt[: table.found], self.pool.block_size, salt)
        self.append(table, prompt[table.found :])
        return table

    def append(self, table: BlockTable, tokens: Iterable[int]) -> list[Copy]:
        """Write tokens at the end of a sequence; return the copies to make before.

        Raises :class:`~kvsim.OutOfBlocksError` if they do not fit, ``ValueError`` if
        the table was freed or is swapped out.
        """
        ids = token_ids(tokens)
        copies = self.reserve(table, len(ids))
        written = 0
        while written < len(ids):
            room = self.pool.block_size - len(table.rest)
            self._write(table, ids[written : written + room])
            written += room
        return copies

    def _write(self, table: BlockTable, ids: list[int]) -> None:
        """Write what fits into the last block; let it be found when it is full."""
        table.rest += ids
        table.length += len(ids)
        last = len(table.keys)
        self.pool.write(table.blocks[last], len(table.rest))
        if len(table.rest) == self.pool.block_size:
            key = next_key(table.keys[-1] if table.keys else table.start, table.rest)
            table.blocks[last] = self.pool.publish(table.blocks[last], key)
            table.keys.append(key)
            table.rest = []

    def reserve(self, table: BlockTable, tokens: int) -> list[Copy]:
        """Give a sequence blocks of its own for its next ``tokens`` tokens.

        Return the copies to make. Raises as :meth:`append` does.
        """
        self._check_in(table, self.pool)
        tokens = checks.whole("tokens", tokens, least=0)
        copying = tokens > 0 and self._ends_in_shared(table)
        more = max(0, self._blocks_of(table.length + tokens) - len(table.blocks))
        self.pool.require(more + copying)
        copies = []
        if copying:
            last = len(table.keys)
            source, table.blocks[last] = table.blocks[last], self.pool.copy(table.blocks[last])
            copies.append(Copy(source, table.blocks[last]))
        table.blocks += [self.pool.take() for _ in range(more)]
        return copies

    def fork(self, table: BlockTable) -> BlockTable:
        """Make a second table of the same blocks; none is taken.

        Blocks that are reserved and empty stay with the first. Raises ``ValueError`` if the table
        was freed or is swapped out.
        """
        self._check_in(table, self.pool)
        child = self._new(table.start)
        child.blocks = [self.pool.share(block) for block in self._written(table)]
        child.keys, child.rest = table.keys.copy(), table.rest.copy()
        child.length, child.found = table.length, table.length
        return child

    def free(self, table: BlockTable) -> None:
        """Give back a sequence's blocks, the last one first. Raises ``ValueError`` if it has been.

        So the end of a prefix is lost before its beginning, without which it could not be found.
        """
        self._check_live(table)
        self._leave(table)
        table.blocks = []
        del self._tables[table.number]

    def _cached(self, prompt: list[int], salt: str) -> list[int]:
        """Return the blocks with a prompt's beginning, of which its last token is no part."""
        return self.pool.find_all(chain(prompt[:-1], self.pool.block_size, salt))

    def _blocks_of(self, tokens: int) -> int:
        return -(-tokens // self.pool.block_size)

    def _written(self, table: BlockTable) -> list[int]:
        """Return the blocks that hold tokens: those after them are reserved."""
        return table.blocks[: self._blocks_of(table.length)]

    def _ends_in_shared(self, table: BlockTable) -> bool:
        return bool(table.rest) and self.pool.count(table.blocks[len(table.keys)]) > 1

    def _new(self, start: Key) -> BlockTable:
        table = self._tables[self._next] = BlockTable(self._next, self.pool, start)
        self._next += 1
        return table

    def _leave(self, table: BlockTable) -> None:
        for block in reversed(table.blocks):
            table.pool.give_back(block)

    def _swapped(self, table: BlockTable) -> bool:
        return table.pool is not self.pool

    def _check_live(self, table: BlockTable) -> None:
        of_kind("table", table, BlockTable)
        if self._tables.get(table.number) is not table:
            raise ValueError(f"Table {table.number} has been freed: allocate another.")

    def _check_in(self, table: BlockTable, pool: BlockPool) -> None:
        self._check_live(table)
        if table.pool is not pool:
            swapped = "swapped out: swap it in" if self._swapped(table) else "not swapped out"
            raise ValueError(f"Table {table.number} is {swapped}.")


def _prompt(tokens: Iterable[int]) -> list[int]:
    prompt = token_ids(tokens)
    if not prompt:
        raise ValueError("A prompt has 0 tokens: it must have at least 1.")
    return prompt
