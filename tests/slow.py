"""The model, one pass and one block at a time: slow, and plain enough to be checked by eye.

It reads in the order of the model's definition and shares no code with kvsim's engine. The fast
simulator has to agree with it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from kvsim import Contiguous


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
    ttft_s: float = math.nan
    finish_s: float = math.nan
    preemptions: int = 0


class Blocks:
    """Numbered blocks, each free or owned by one request."""

    def __init__(self, count: int, size: int) -> None:
        self.size = size
        self.free = list(range(count))
        self.owner: list[Request | None] = [None] * count

    def needed(self, tokens: int) -> int:
        return math.ceil(tokens / self.size)

    def take(self, request: Request) -> None:
        block = self.free.pop()
        assert self.owner[block] is None
        self.owner[block] = request
        request.blocks.append(block)

    def give_back(self, request: Request) -> None:
        for block in request.blocks:
            assert self.owner[block] is request
            self.owner[block] = None
        self.free += request.blocks
        request.blocks = []

    def check(self, running: list[Request]) -> None:
        """Every block is free or owned by one running request, which fills all of its own."""
        held = [block for request in running for block in request.blocks]
        assert len(set(held)) == len(held)
        assert len(held) + len(self.free) == len(self.owner)
        for request in running:
            assert len(request.blocks) == self.needed(request.cached)
            assert all(self.owner[block] is request for block in request.blocks)


@dataclass
class Pass:
    start_s: float
    end_s: float
    cached: dict[int, int]
    """Request number -> its cached tokens after the pass, oldest admission first."""
    admitted: list[int]
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
    if isinstance(allocation, Contiguous):
        size, watermark, swaps, block_overhead = allocation.max_length, 0.0, False, 0.0
    else:
        size, watermark = allocation.block_size, allocation.watermark
        swaps, block_overhead = allocation.preemption == "swap", allocation.block_overhead
    blocks = Blocks(capacity // size, size)
    scale = 1 + block_overhead / size
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
            if request not in running or blocks.needed(request.cached + 1) == len(request.blocks):
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
                blocks.take(request)

        # 3. Admission: nobody overtakes.
        admitted: list[Request] = []
        batched_tokens = len(running)
        while queue and not preempted:
            head = queue[0]
            tokens = 1 if head.on_host else head.prompt + head.produced
            held = blocks.needed(head.cached + tokens)
            if (
                held > len(blocks.free) - kept_free
                or len(running) + 1 > max_num_seqs
                or batched_tokens + tokens > max_batched_tokens
            ):
                break
            batched_tokens += tokens
            for _ in range(held):
                blocks.take(head)
            admitted.append(head)
            running.append(queue.popleft())
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
    return Run(everyone, passes)
