"""Block tables that can be swapped out to the host's memory and in again.

A group of tables (the samples of one request) moves together: a block that several of them hold
is copied once and shared again on the other side.
"""

from collections.abc import Sequence
from dataclasses import replace

from kvsim.block_manager.pool import BlockPool
from kvsim.block_manager.prefix_keys import Key
from kvsim.block_manager.tables import BlockTable, BlockTables, Copy, Snapshot
from kvsim.kinds import of_kind


class SwappingTables(BlockTables):
    """The block tables over the cache's pool and, for those that are swapped out, the ``host``'s.

    Raises ``ValueError`` if the two pools' blocks differ in size.
    """

    def __init__(self, pool: BlockPool, host: BlockPool, watermark: float = 0.0) -> None:
        super().__init__(pool, watermark)
        of_kind("host", host, BlockPool)
        if host.block_size != pool.block_size:
            raise ValueError(
                f"The host's blocks have {host.block_size} tokens: choose {pool.block_size}, as "
                "in the cache."
            )
        self.host = host

    def snapshot(self) -> Snapshot:
        """Return everything as it is now, as a value that stays as it is."""
        return replace(super().snapshot(), host=self.host.state())

    def can_swap_out(self, group: Sequence[BlockTable]) -> bool:
        """Whether the host has room for these tables. Raises as :meth:`swap_out` otherwise."""
        return self._moving_needs(group, self.pool, self.host) <= self.host.free

    def can_swap_in(self, group: Sequence[BlockTable], ahead: int = 0) -> bool:
        """Whether the cache has room for these tables and then ``ahead`` more tokens of each."""
        needed = self._moving_needs(group, self.host, self.pool)
        for table in group:
            needed += self._blocks_of(table.length + ahead) - self._blocks_of(table.length)
        if ahead:
            ends = [table.blocks[len(table.keys)] for table in group if table.rest]
            needed += len(ends) - len(set(ends))  # copied on write
        return needed <= self.pool.free

    def _moving_needs(
        self, group: Sequence[BlockTable], source: BlockPool, target: BlockPool
    ) -> int:
        contents = self._contents(group, source)
        found = _cached_homes(contents, target).values()
        return target.needed(found, len(contents) - len(found))

    def swap_out(self, group: Sequence[BlockTable]) -> list[Copy]:
        """Move tables to the host, what they share once; return the copies from cache to host.

        Blocks that are reserved and empty are given back. Raises
        :class:`~kvsim.OutOfBlocksError` if the host is too full, ``ValueError`` if a
        table was freed or is there already.
        """
        return self._move(group, self.pool, self.host)

    def swap_in(self, group: Sequence[BlockTable]) -> list[Copy]:
        """Move tables back; return the copies from host to cache. Raises as :meth:`swap_out`.

        What the cache still has of them is shared rather than copied.
        """
        return self._move(group, self.host, self.pool)

    def _move(
        self, group: Sequence[BlockTable], source: BlockPool, target: BlockPool
    ) -> list[Copy]:
        contents = self._contents(group, source)
        target.require(self._moving_needs(group, source, target))
        homes = _cached_homes(contents, target)
        # Held before any block is taken, so that none of them is.
        for home in homes.values():
            target.share(home)
        copies = []
        for block, key in contents.items():
            if block not in homes:
                homes[block] = target.put(source.filled(block), key)
                copies.append(Copy(block, homes[block]))
        held: set[int] = set()
        for table in group:
            written = self._written(table)
            for home in (homes[block] for block in written if block in held):
                target.share(home)
            held.update(written)
            self._leave(table)
            table.pool, table.blocks = target, [homes[block] for block in written]
        return copies

    def _contents(self, group: Sequence[BlockTable], source: BlockPool) -> dict[int, Key | None]:
        """Return the blocks that hold tokens of these tables, each once, and their keys."""
        if len(set(group)) < len(group):
            raise ValueError("A table stands twice in the group: name each table once.")
        contents: dict[int, Key | None] = {}
        for table in group:
            self._check_in(table, source)
            contents.update(zip(self._written(table), [*table.keys, None], strict=False))
        return contents


def _cached_homes(contents: dict[int, Key | None], pool: BlockPool) -> dict[int, int]:
    """Return which block of ``pool`` has the contents already, for those of which one has."""
    keyed = ((block, pool.find(key)) for block, key in contents.items() if key is not None)
    return {block: home for block, home in keyed if home is not None}
