"""What a request holds of the cache: when it fits, when it grows, what it gives back.

A pool is the ledger of one run's memory. Requests go by their number, passes are numbered from 0,
and a request "holding ``tokens`` in pass ``q``" has that many tokens cached when pass ``q`` ends.
Requests that share memory (samples of one prompt) are admitted and pre-empted together: a group.
Where nothing is shared a group is one request, and has its number.
"""

from collections.abc import Sequence
from typing import Protocol


class Pool(Protocol):
    """The ledger of one run's cache memory."""

    def ready(self, members: Sequence[int], tokens: int) -> Sequence[int]:
        """Of the ``tokens`` of each member of a group that is about to be admitted: how many it
        need not compute, because they are in the cache or another member computes them.
        """

    def take(self, group: int, tokens: int, q: int) -> bool:
        """Give a group memory for the ``tokens`` of each member in pass ``q``; say if it fitted."""

    def give_back(self, request: int, tokens: int, q: int) -> None:
        """Take back the memory of a request that held ``tokens`` in pass ``q``."""

    def grow(self, q: int, passes: int) -> int:
        """Let the running requests grow by a token a pass, for up to ``passes`` from pass ``q``.

        Return for how many passes there was room; the growth of those has been taken.
        """

    def content(self, members: Sequence[int], tokens: int) -> tuple[int, int]:
        """Tokens, and units of memory, of a group with ``tokens`` each: shared ones once."""

    def missing(self, members: Sequence[int], tokens: int) -> tuple[int, int]:
        """The part of that content that is not in the cache, of a group that is not running."""


class Unshared:
    """What all pools have in common in which nobody shares: a group is one request."""

    def ready(self, members: Sequence[int], tokens: int) -> Sequence[int]:
        """Nothing is there before it is computed."""
        return (0,)

    def content(self, members: Sequence[int], tokens: int) -> tuple[int, int]:
        """Return its tokens, in one piece."""
        return tokens, 1

    def missing(self, members: Sequence[int], tokens: int) -> tuple[int, int]:
        """All of it."""
        return self.content(members, tokens)


class Slots(Unshared):
    """Slots that are free; what a request holds never grows."""

    def __init__(self, slots: int) -> None:
        self.free = slots

    def take(self, group: int, tokens: int, q: int) -> bool:
        """Give a request a slot, if there is one."""
        if self.free == 0:
            return False
        self.free -= 1
        return True

    def give_back(self, request: int, tokens: int, q: int) -> None:
        """Take back a slot."""
        self.free += 1

    def grow(self, q: int, passes: int) -> int:
        """A slot has room until its request ends."""
        return passes


class Blocks(Unshared):
    """Blocks that are free, and in which passes the running requests will need one more.

    A request fills its last block every ``block_size`` passes, so the number of its next growing
    pass modulo ``block_size``, its phase, never changes while it runs. ``growing[phase]`` counts
    the running requests of each phase.
    """

    def __init__(self, blocks: int, block_size: int, reserve: int) -> None:
        self.free = blocks
        self.block_size = block_size
        self.reserve = reserve
        self.running = 0
        self.growing = [0] * block_size

    def take(self, group: int, tokens: int, q: int) -> bool:
        """Give a request its blocks, if the reserve stays free."""
        size = self.block_size
        left = self.free + -tokens // size  # minus the ceiling of tokens / size
        if left < self.reserve:
            return False
        self.free = left
        self.running += 1
        self.growing[(q + 1 - tokens) % size] += 1
        return True

    def give_back(self, request: int, tokens: int, q: int) -> None:
        """Take back the blocks of a request."""
        size = self.block_size
        self.free -= -tokens // size
        self.running -= 1
        self.growing[(q + 1 - tokens) % size] -= 1

    def grow(self, q: int, passes: int) -> int:
        """Give a block to everybody whose last one is full, pass by pass."""
        size = self.block_size
        start = q % size
        if passes == 1:
            needed = self.growing[start]
            if needed > self.free:
                return 0
            self.free -= needed
            return 1
        rounds, rest = divmod(passes, size)
        end = start + rest
        needed = rounds * self.running + sum(self.growing[start:end])
        if end > size:
            needed += sum(self.growing[: end - size])
        if needed > self.free:
            return self._grow_while_free(start)
        self.free -= needed
        return passes

    def content(self, members: Sequence[int], tokens: int) -> tuple[int, int]:
        """Return its tokens, and blocks."""
        return tokens, -(-tokens // self.block_size)

    def _grow_while_free(self, start: int) -> int:
        """Grow up to the first pass that finds too few free blocks."""
        rounds, left = divmod(self.free, self.running)  # a round takes a block for each request
        passes = rounds * self.block_size
        for needed in self.growing[start:] + self.growing[:start]:
            if needed > left:
                break
            left -= needed
            passes += 1
        self.free = left
        return passes
