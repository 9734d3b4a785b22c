"""The memory of the slow simulator: numbered blocks, each free or owned by one request."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from kvsim import Buddy, FirstFit


@dataclass(eq=False)
class Request:
    number: int
    arrival_s: float
    prompt: int
    output: int
    produced: int = 0
    cached: int = 0
    on_host: bool = False
    blocks: list[int] = field(default_factory=list)
    tables: list[list[int]] = field(default_factory=list)
    """The blocks of each of its stays in the cache when it ended, in order of its tokens."""
    ttft_s: float = math.nan
    finish_s: float = math.nan
    preemptions: int = 0


class Blocks:
    """Numbered blocks, each free or owned by one request. The one freed last is taken first."""

    def __init__(self, count: int, size: int) -> None:
        self.size = size
        self.free = list(range(count))[::-1]
        self.owner: list[Request | None] = [None] * count

    def needed(self, request: Request, tokens: int) -> int:
        """Blocks that the request has to have once so many of its tokens are cached."""
        return math.ceil(tokens / self.size)

    def find(self, count: int) -> list[int] | None:
        """The blocks that would be taken next, if there are so many."""
        return self.free[: -1 - count : -1] if count <= len(self.free) else None

    def take(self, request: Request, count: int) -> None:
        for block in self.find(count):
            assert self.owner[block] is None
            self.owner[block] = request
            self.unlist(block)
            request.blocks.append(block)

    def unlist(self, block: int) -> None:
        assert self.free.pop() == block

    def admits(self, group: list[Request], tokens: int, kept_free: int) -> bool:
        """Whether the memory for so many tokens can be had. Nobody shares: a group is a request."""
        held = self.needed(group[0], tokens)
        return self.find(held) is not None and held <= len(self.free) - kept_free

    def ready(self, group: list[Request], tokens: int) -> list[int]:
        """Of each member's tokens, those that need not be computed."""
        return [0]

    def fetched(self, group: list[Request], tokens: int) -> tuple[int, int]:
        """Tokens and blocks that have to come from the host."""
        return group[0].cached, self.needed(group[0], group[0].cached)

    def admit(self, group: list[Request], tokens: int) -> None:
        self.take(group[0], self.needed(group[0], tokens))

    def needed_to_write(self, group: list[Request]) -> int:
        """Blocks that it takes to write one more token."""
        return self.needed(group[0], group[0].cached + 1) - len(group[0].blocks)

    def write_next(self, request: Request) -> None:
        if self.needed_to_write([request]):
            self.take(request, 1)

    def give_back_group(self, group: list[Request], swaps: bool) -> tuple[int, int]:
        """Take back the memory of a pre-empted group; the tokens and blocks that go to the host."""
        moved = (group[0].cached, len(group[0].blocks)) if swaps else (0, 0)
        self.give_back(group[0])
        return moved

    def give_back(self, request: Request) -> None:
        for block in reversed(request.blocks):
            assert self.owner[block] is request
            self.owner[block] = None
            self.free.append(block)
        request.tables.append(request.blocks)
        request.blocks = []

    def check(self, running: list[Request]) -> None:
        """Every block is free or owned by one running request, which fills all of its own."""
        held = [block for request in running for block in request.blocks]
        assert len(set(held)) == len(held)
        assert len(held) + len(self.free) == len(self.owner)
        for request in running:
            assert len(request.blocks) == self.needed(request, request.cached)
            assert all(self.owner[block] is request for block in request.blocks)


class Runs(Blocks):
    """Blocks of which a request takes a run of neighbours, at the lowest address, for good."""

    def __init__(self, count: int, allocation: Buddy | FirstFit) -> None:
        super().__init__(count, allocation.block_size)
        self.estimate, self.max_length = allocation.estimate, allocation.max_length

    def needed(self, request: Request, tokens: int) -> int:
        expected = {
            "max": self.max_length,
            "pow2": next(2**k for k in range(64) if 2**k >= request.output),
            "oracle": request.output,
        }[self.estimate]
        return math.ceil(min(request.prompt + expected, self.max_length) / self.size)

    def find(self, count: int) -> list[int] | None:
        for start in range(len(self.owner) - count + 1):
            run = list(range(start, start + count))
            if all(self.owner[block] is None for block in run):
                return run
        return None

    def unlist(self, block: int) -> None:
        self.free.remove(block)


class BuddyRuns(Runs):
    """Runs of powers of two, split and merged by halves; the one freed last is taken first."""

    def __init__(self, count: int, allocation: Buddy) -> None:
        super().__init__(count, allocation)
        self.free_runs: list[tuple[int, int]] = []  # start and size, freed last last
        start, size = 0, self.power(math.ceil(self.max_length / self.size))
        while size:
            while start + size <= count:
                self.free_runs.insert(0, (start, size))  # so that the lowest is taken first
                start += size
            size //= 2
        self.initial = sorted(self.free_runs)

    def power(self, blocks: int) -> int:
        return next(2**k for k in range(64) if 2**k >= blocks)

    def needed(self, request: Request, tokens: int) -> int:
        return self.power(super().needed(request, tokens))

    def smallest(self, count: int) -> tuple[int, int] | None:
        enough = [run for run in self.free_runs if run[1] >= count]
        least = min((size for _, size in enough), default=0)
        return next((run for run in reversed(enough) if run[1] == least), None)

    def find(self, count: int) -> list[int] | None:
        run = self.smallest(count)
        return list(range(run[0], run[0] + count)) if run else None

    def take(self, request: Request, count: int) -> None:
        start, size = self.smallest(count)
        super().take(request, count)
        self.free_runs.remove((start, size))
        while size > count:
            size //= 2
            self.free_runs.append((start + size, size))

    def give_back(self, request: Request) -> None:
        start, size = request.blocks[0], len(request.blocks)
        super().give_back(request)
        while True:
            buddy = (start + size if start % (2 * size) == 0 else start - size, size)
            if buddy not in self.free_runs or (start, size) in self.initial:
                break
            self.free_runs.remove(buddy)
            start, size = min(start, buddy[0]), 2 * size
        self.free_runs.append((start, size))

    def check(self, running: list[Request]) -> None:
        super().check(running)
        in_runs = [block for start, size in self.free_runs for block in range(start, start + size)]
        assert sorted(in_runs) == sorted(self.free)
        for start, size in self.free_runs:
            assert start % size == 0
