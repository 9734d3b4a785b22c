"""Blocks that several requests hold at once, and those that stay cached when nobody does.

What is shared are full blocks of tokens that requests have in common from their beginning: a
system prompt, and the prompt of several samples. Samples start with all of their prompt's blocks in
common; a partly filled last one is copied by each that writes to it while another still holds it
(copy on write), so that the last to write keeps it. Kwon et al. (SOSP 2023), sections 4.3 and 4.4.

As the engine takes many passes at once, blocks are counted here and not numbered; for tables of
numbered blocks see :mod:`kvsim.block_manager.tables`.
"""

from collections import deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from kvsim.pools import Blocks
from kvsim.workload import Requests

_SYSTEM = "system prompt"


class SharedBlocks(Blocks):
    """Blocks with shared prompts; with ``keep``, contents outlive those who held them.

    A running group has the full blocks of its prompt once, of which the first ``system`` are those
    of the system prompt that all groups have in common, and further blocks for each member.
    """

    def __init__(
        self, blocks: int, block_size: int, reserve: int, requests: Requests, keep: bool
    ) -> None:
        super().__init__(blocks, block_size, reserve)
        self.samples = requests.samples
        self.system = requests.shared_tokens // block_size
        self.prompt = requests.prompt_tokens[:: self.samples].tolist()
        self.final = requests.final_tokens.tolist()
        self.unfinished = [self.samples] * len(self.prompt)
        self.live: dict[int, int] = {}  # members of each running group that have not ended
        self.unforked: list[int] = []  # groups whose members are about to write for the first time
        self.queue = _FreeQueue(blocks) if keep else None

    def ready(self, members: Sequence[int], tokens: int) -> Sequence[int]:
        """Return what is found in the cache; the first member computes the prompt for all."""
        group = members[0] // self.samples
        prompt, size = self.prompt[group], self.block_size
        shared, own = self._found(members)
        ready = [max(prompt, (prompt // size + each) * size) for each in own]
        whole = shared == prompt // size
        ready[0] = (shared + own[0] if whole else shared) * size
        return ready

    def take(self, group: int, tokens: int, q: int) -> bool:
        """Give a group what it does not find in use, if the reserve stays free."""
        size, prompt, members = self.block_size, self.prompt[group], self.unfinished[group]
        needed = self._blocks(prompt, members, tokens) - (self.system if self.live else 0)
        if self.free - needed < self.reserve:
            return False
        self.free -= needed
        if self.queue:
            first = group * self.samples
            keys = (_SYSTEM, ("prompt", group), *range(first, first + self.samples))
            self.queue.take(needed - sum(self.queue.hit(key) for key in keys))
        self.live[group] = members
        self.running += members
        self.growing[(q + 1 - tokens) % size] += members
        if members > 1 and tokens == prompt and prompt % size:
            self.unforked.append(group)
        return True

    def give_back(self, request: int, tokens: int, q: int) -> None:
        """Take back what nobody else holds, the end of it first."""
        size, group = self.block_size, request // self.samples
        prompt = self.prompt[group]
        full = prompt // size
        ended = tokens == self.final[request]
        self.running -= 1
        self.growing[(q + 1 - tokens) % size] -= 1
        self.live[group] -= 1
        self.unfinished[group] -= ended
        if tokens > prompt:
            own = -(-tokens // size) - full
            self._release(None if ended else request, own, tokens // size - full)
        if not self.live[group]:
            del self.live[group]
            if tokens == prompt and prompt % size:
                self._release(None, 1, 0)
            waits = self.unfinished[group] > 0
            self._release(
                ("prompt", group) if waits else None, full - self.system, full - self.system
            )
            if not self.live:
                self._release(_SYSTEM, self.system, self.system)

    def grow(self, q: int, passes: int) -> int:
        """Give blocks to those whose last one is full, and copies to the first writers."""
        before = self.free
        copies = sum(max(self.live.get(group, 1) - 1, 0) for group in self.unforked)
        if copies:
            needed = self.growing[q % self.block_size] + copies
            if needed > self.free:
                return 0
            self.free -= needed
            room = 1
        else:
            room = super().grow(q, passes)
        if room:
            self.unforked.clear()
        if self.queue:
            self.queue.take(before - self.free)
        return room

    def content(self, members: Sequence[int], tokens: int) -> tuple[int, int]:
        """Return tokens and blocks of a group; its prompt's full blocks count once."""
        prompt = self.prompt[members[0] // self.samples]
        shared = prompt // self.block_size * self.block_size
        own = tokens - shared
        held = tokens if tokens == prompt else shared + len(members) * own
        return held, self._blocks(prompt, len(members), tokens)

    def missing(self, members: Sequence[int], tokens: int) -> tuple[int, int]:
        """Return what of the content is neither kept nor held by others."""
        held, blocks = self.content(members, tokens)
        shared, own = self._found(members)
        found = shared + sum(own)
        return held - found * self.block_size, blocks - found

    def _blocks(self, prompt: int, members: int, tokens: int) -> int:
        """Blocks of a group whose members hold so many tokens each."""
        blocks = -(-tokens // self.block_size)
        if tokens == prompt:  # its members have not written yet
            return blocks
        full = prompt // self.block_size
        return full + members * (blocks - full)

    def _found(self, members: Sequence[int]) -> tuple[int, list[int]]:
        """Full blocks in the cache: of the prompt, and beyond it of each member.

        A group's own are given up before the prompt that they follow, and that before the system
        prompt: what is found is never behind something that is not.
        """
        if not self.queue:
            return (self.system if self.live else 0), [0] * len(members)
        system = self.system if self.live else self.queue.kept(_SYSTEM)
        group = members[0] // self.samples
        own = [self.queue.kept(member) for member in members]
        return system + self.queue.kept(("prompt", group)), own

    def _release(self, key: Hashable, blocks: int, full: int) -> None:
        self.free += blocks
        if self.queue and blocks:
            self.queue.give(key, blocks, full)


@dataclass
class _Segment:
    """Free blocks that were given back together; the first ``full`` can be found again."""

    key: Hashable
    blocks: int
    full: int


class _FreeQueue:
    """Free blocks in the order in which they are given up: those left longest ago first.

    Of a segment the last block is given up first.
    """

    def __init__(self, blocks: int) -> None:
        self.segments = deque([_Segment(None, blocks, 0)])
        self.by_key: dict[Hashable, _Segment] = {}

    def give(self, key: Hashable, blocks: int, full: int) -> None:
        """Append blocks, the first ``full`` of them to be found by a key, unless that is None."""
        segment = _Segment(key, blocks, full)
        self.segments.append(segment)
        if key is not None:
            self.by_key[key] = segment

    def take(self, blocks: int) -> None:
        """Take blocks from the front; their contents are lost."""
        while blocks:
            segment = self.segments[0]
            taken = min(blocks, segment.blocks)
            segment.blocks -= taken
            blocks -= taken
            if not segment.blocks:
                self.segments.popleft()
                if self.by_key.get(segment.key) is segment:
                    del self.by_key[segment.key]

    def kept(self, key: Hashable) -> int:
        """Full blocks under a key that have not been given up."""
        segment = self.by_key.get(key)
        return min(segment.blocks, segment.full) if segment else 0

    def hit(self, key: Hashable) -> int:
        """Take those blocks out of the queue; what was not full stays in its place."""
        found = self.kept(key)
        segment = self.by_key.pop(key, None)
        if segment:
            segment.blocks -= found
            segment.full = 0
        return found
