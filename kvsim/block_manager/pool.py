"""The physical blocks of a paged cache: numbered, counted, and found again by their contents.

A block is held by as many block tables as its reference count says, and is free at 0. Free blocks
wait in a queue: taken from its front, given back to its end, so the least recently used go first.
A free block that was full may keep its contents until it is taken; whoever needs the same contents
before that gets it out of the queue. So does vLLM's cache (version 1). Unlike it, and like the one
before, a block filled with contents that the cache has already is dropped for the cached one.
"""

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from kvsim import checks
from kvsim.block_manager.prefix_keys import Key

Kind = Literal["take", "share", "copy", "write", "leave", "free", "keep", "evict"]


class OutOfBlocksError(ValueError):
    """More blocks are wanted than are free; nothing has been changed."""


@dataclass(frozen=True)
class Event:
    """One thing that happened to a block.

    ``take``: it left the queue, empty. ``share``: one more table holds it. ``copy``: it got the
    contents of block ``source``. ``write``: tokens were written into it. ``leave``: one table
    fewer holds it. ``free``: nobody holds it, its contents are lost. ``keep``: nobody holds it,
    its contents stay. ``evict``: contents that had been kept are lost, since it is taken.
    """

    kind: Kind
    block: int
    source: int | None = None


@dataclass(frozen=True)
class BlockState:
    """A block at one moment: how many tables hold it, its tokens, its key if it can be found."""

    count: int
    filled: int
    key: Key | None

    @property
    def kept(self) -> bool:
        """Whether nobody holds it, and its contents are still there to be found."""
        return self.count == 0 and self.key is not None


@dataclass(frozen=True)
class PoolState:
    """A pool at one moment: its blocks by number, and the queue of the free ones."""

    blocks: tuple[BlockState, ...]
    queue: tuple[int, ...]


class BlockPool:
    """``blocks`` blocks of ``block_size`` tokens, numbered from 0; all are free at first.

    With ``keep_prefixes`` full blocks keep their contents after the last table has left them, until
    they are taken. Without, only blocks that some table holds are found. Everything that happens is
    appended to ``record``, if one is given. Raises ``ValueError`` for sizes below 1.
    """

    def __init__(
        self,
        blocks: int,
        block_size: int = 16,
        keep_prefixes: bool = True,
        record: list[Event] | None = None,
    ) -> None:
        self.blocks = checks.whole("blocks", blocks)
        self.block_size = checks.whole("block_size", block_size)
        self.keep_prefixes = keep_prefixes
        self._record = record
        self._counts = [0] * self.blocks
        self._filled = [0] * self.blocks
        self._keys: list[Key | None] = [None] * self.blocks
        self._found: dict[Key, int] = {}
        self._queue = OrderedDict.fromkeys(range(self.blocks))

    @property
    def free(self) -> int:
        """Blocks that nobody holds, those with kept contents included."""
        return len(self._queue)

    def state(self) -> PoolState:
        """Return what every block is like now, as a value that stays as it is."""
        blocks = map(BlockState, self._counts, self._filled, self._keys)
        return PoolState(tuple(blocks), tuple(self._queue))

    def count(self, block: int) -> int:
        """Block tables that hold a block."""
        return self._counts[block]

    def filled(self, block: int) -> int:
        """Tokens in a block."""
        return self._filled[block]

    def find(self, key: Key) -> int | None:
        """Return the block with these contents, or None."""
        return self._found.get(key)

    def find_all(self, keys: Iterable[Key]) -> list[int]:
        """Return the blocks of a sequence's beginning, up to the first that is not there."""
        blocks: list[int] = []
        for key in keys:
            block = self.find(key)
            if block is None:
                break
            blocks.append(block)
        return blocks

    def needed(self, found: Iterable[int], more: int) -> int:
        """Blocks of the queue that it costs to hold ``found`` ones and ``more`` new ones."""
        return more + sum(self._counts[block] == 0 for block in found)

    def require(self, needed: int) -> None:
        """Raise :class:`OutOfBlocksError` unless so many blocks are free."""
        if needed > self.free:
            raise OutOfBlocksError(
                f"Blocks needed: {needed}; free: {self.free} of {self.blocks}. Free a table first."
            )

    def take(self) -> int:
        """Take the block at the front of the queue, empty, for one table.

        Raises :class:`OutOfBlocksError` if none is free.
        """
        self.require(1)
        block, _ = self._queue.popitem(last=False)
        if self._keys[block] is not None:
            self._forget(block)
            self._note("evict", block)
        self._counts[block] = 1
        self._note("take", block)
        return block

    def share(self, block: int) -> int:
        """Hold a block for one more table; a free one with kept contents leaves the queue.

        Raises ``ValueError`` for a free block without contents.
        """
        if self._counts[block] == 0:
            if self._keys[block] is None:
                raise ValueError(f"Block {block} is free and empty: there is nothing to share.")
            del self._queue[block]
        self._counts[block] += 1
        self._note("share", block)
        return block

    def copy(self, block: int) -> int:
        """Exchange one table's hold of a shared block for a copy that is its own."""
        copied = self.take()
        self._filled[copied] = self._filled[block]
        self._note("copy", copied, block)
        self.give_back(block)
        return copied

    def write(self, block: int, filled: int) -> None:
        """Fill a block up to ``filled`` tokens.

        Raises ``ValueError`` if other tables hold it, nobody does, or it is full: contents that
        can be found never change.
        """
        if self._counts[block] != 1:
            raise ValueError(
                f"Block {block} is held by {self._counts[block]} tables: only a block that "
                "exactly one table holds may be written to."
            )
        if not self._filled[block] < filled <= self.block_size:
            raise ValueError(
                f"Block {block} holds {self._filled[block]} of {self.block_size} tokens: it "
                f"cannot be filled up to {filled}."
            )
        self._filled[block] = filled
        self._note("write", block)

    def publish(self, block: int, key: Key) -> int:
        """Let a block that was just filled be found; return the block to hold from now on.

        That is another one if the contents are in the cache already: it is shared, and the one
        just filled is given back.
        """
        cached = self.find(key)
        if cached is not None:
            self.share(cached)
            self.give_back(block)
            return cached
        self._keys[block] = key
        self._found[key] = block
        return block

    def put(self, filled: int, key: Key | None) -> int:
        """Take a block for contents that come from another pool."""
        block = self.take()
        self._filled[block] = filled
        return block if key is None else self.publish(block, key)

    def give_back(self, block: int) -> None:
        """Let one table leave a block. Raises ``ValueError`` if none holds it."""
        if self._counts[block] == 0:
            raise ValueError(f"Block {block} is free already: it cannot be freed again.")
        self._counts[block] -= 1
        if self._counts[block]:
            self._note("leave", block)
            return
        self._queue[block] = None
        if self.keep_prefixes and self._keys[block] is not None:
            self._note("keep", block)
        else:
            self._forget(block)
            self._note("free", block)

    def _forget(self, block: int) -> None:
        self._filled[block] = 0
        key, self._keys[block] = self._keys[block], None
        if key is not None:
            del self._found[key]

    def _note(
        self,
        kind: Kind,
        block: int,
        source: int | None = None,
    ) -> None:
        if self._record is not None:
            self._record.append(Event(kind, block, source))
