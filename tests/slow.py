"""The model, one pass and one block at a time: slow, and plain enough to be checked by eye.

It reads in the order of the model's definition and shares no code with kvsim's engine. The fast
simulator has to agree with it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from kvsim import Buddy, Contiguous, FirstFit, Paged


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


@dataclass
class Pass:
    start_s: float
    end_s: float
    cached: dict[int, int]
    """Request number -> its cached tokens after the pass, oldest admission first."""
    admitted: list[int]
    free: int
    """Blocks that nobody has during the pass."""
    scattered: bool
    """Whether the head of the queue finds enough free blocks, but not side by side."""
    compute_bound: bool


@dataclass
class Run:
    requests: list[Request]
    passes: list[Pass]

    @property
    def peak_running(self) -> int:
        return max(len(one.cached) for one in self.passes)

    @property
    def stays(self) -> list[tuple[int, int, int, int]]:
        """(request, first pass, tokens after it, last pass) of each stay in the cache, sorted."""
        stays: list[list[int]] = []
        latest: dict[int, list[int]] = {}
        for q, one in enumerate(self.passes):
            for number in one.admitted:
                latest[number] = [number, q, one.cached[number], q]
                stays.append(latest[number])
            for number in one.cached:
                latest[number][-1] = q
        return sorted(tuple(stay) for stay in stays)


def kv_bytes_per_token(model):
    return 2 * model.layers * model.kv_heads * model.head_dim * model.bytes_per_kv_element


def roofline_s(server, processed, attended, cached, scale=1.0):
    """Arithmetic and memory time of a pass, of which the longer counts."""
    model, gpu = server.model, server.gpu
    width = model.attention_heads * model.head_dim
    flops = 2 * model.parameters * processed + 4 * model.layers * width * attended
    read_bytes = (
        model.bytes_per_parameter * model.parameters + kv_bytes_per_token(model) * cached * scale
    )
    return flops / gpu.effective_flops, read_bytes / gpu.effective_bandwidth


def simulate(requests, server, allocation) -> Run:
    gpu = server.gpu
    token_bytes = kv_bytes_per_token(server.model)
    max_num_seqs = server.max_num_seqs or math.inf
    max_batched_tokens = server.max_batched_tokens or math.inf

    # Memory. A slot is a block of max_length tokens, of which no request needs a second one.
    capacity = math.floor(server.cache_bytes / token_bytes)
    watermark, swaps, scale = 0.0, False, 1.0
    if isinstance(allocation, Contiguous):
        blocks = Blocks(capacity // allocation.max_length, allocation.max_length)
    elif isinstance(allocation, Paged):
        blocks = Blocks(capacity // allocation.block_size, allocation.block_size)
        watermark, swaps = allocation.watermark, allocation.preemption == "swap"
        scale = 1 + allocation.block_overhead / allocation.block_size
    else:
        kind = BuddyRuns if isinstance(allocation, Buddy) else Runs
        blocks = kind(capacity // allocation.block_size, allocation)
    kept_free = math.floor(watermark * len(blocks.owner))

    to_come = deque(
        Request(number, float(arrival_s), int(prompt), int(output))
        for number, (arrival_s, prompt, output) in enumerate(
            zip(requests.arrival_s, requests.prompt_tokens, requests.output_tokens, strict=True)
        )
    )
    everyone = list(to_come)
    queue: deque[Request] = deque()
    running: list[Request] = []  # oldest admission first
    passes: list[Pass] = []
    t = 0.0

    while to_come or queue or running:
        # 1. Arrivals.
        if not running and not queue:
            t = max(t, to_come[0].arrival_s)
        while to_come and to_come[0].arrival_s <= t:
            queue.append(to_come.popleft())

        # 2. Growth: room for the token that this pass writes.
        moved_tokens = 0
        preempted = False
        for request in running.copy():
            if request not in running:
                continue
            if blocks.needed(request, request.cached + 1) == len(request.blocks):
                continue
            while not blocks.free and request in running:
                victim = running.pop()
                blocks.give_back(victim)
                queue.appendleft(victim)
                victim.preemptions += 1
                victim.on_host = swaps
                moved_tokens += victim.cached if swaps else 0
                victim.cached = victim.cached if swaps else 0
                preempted = True
            if request in running:
                blocks.take(request, 1)

        # 3. Admission: nobody overtakes.
        admitted: list[Request] = []
        batched_tokens = len(running)
        while queue and not preempted:
            head = queue[0]
            tokens = 1 if head.on_host else head.prompt + head.produced
            held = blocks.needed(head, head.cached + tokens)
            if (
                blocks.find(held) is None
                or held > len(blocks.free) - kept_free
                or len(running) + 1 > max_num_seqs
                or batched_tokens + tokens > max_batched_tokens
            ):
                break
            batched_tokens += tokens
            blocks.take(head, held)
            admitted.append(head)
            running.append(queue.popleft())
        wanted = blocks.needed(queue[0], queue[0].prompt + queue[0].produced) if queue else math.inf
        scattered = wanted <= len(blocks.free) and blocks.find(wanted) is None
        assert running, "nobody runs, and nobody ever will"

        # 4. The pass: prefill of those just admitted, one decoded token for all others.
        processed = attended = 0
        for request in running:
            if request in admitted and not request.on_host:
                request.cached = request.prompt + request.produced
                processed += request.cached
                attended += request.cached * (request.cached + 1) // 2
            else:
                moved_tokens += request.cached if request.on_host else 0
                request.on_host = False
                request.cached += 1
                processed += 1
                attended += request.cached
        blocks.check(running)

        # 5. Its time.
        cached = sum(request.cached for request in running)
        compute_s, memory_s = roofline_s(server, processed, attended, cached, scale)
        start_s = t
        t += max(compute_s, memory_s) + gpu.pass_overhead_s
        t += token_bytes * moved_tokens / gpu.effective_pcie_bandwidth
        passes.append(
            Pass(
                start_s,
                t,
                {request.number: request.cached for request in running},
                [request.number for request in admitted],
                len(blocks.free),
                scattered,
                compute_s > memory_s,
            )
        )

        # 6. One more output token for each; those with all of theirs give back their memory.
        for request in running.copy():
            request.produced += 1
            if request.produced == 1:
                request.ttft_s = t - request.arrival_s
            if request.produced == request.output:
                request.finish_s = t
                running.remove(request)
                blocks.give_back(request)

    assert sorted(blocks.free) == list(range(len(blocks.owner)))
    if isinstance(blocks, BuddyRuns):
        assert sorted(blocks.free_runs) == blocks.initial
    return Run(everyone, passes)
