"""The model, one pass and one block at a time: slow, and plain enough to be checked by eye.

It reads in the order of the model's definition and shares no code with kvsim's engine. The fast
simulator has to agree with it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from slow_memory import Blocks, BuddyRuns, Request, Runs
from slow_sharing import SharedBlocks

from kvsim import Buddy, Contiguous, Paged


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
    ready: dict[int, int]
    """Request number -> its tokens that were not computed, of those admitted."""
    moved_tokens: int
    moved_blocks: int


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
    watermark, swaps, scale, size = 0.0, False, 1.0, 1
    if isinstance(allocation, Contiguous):
        blocks = Blocks(capacity // allocation.max_length, allocation.max_length)
    elif isinstance(allocation, Paged):
        blocks = Blocks(capacity // allocation.block_size, allocation.block_size)
        common = requests.samples > 1 or requests.shared_tokens
        if allocation.sharing == "kept" or (common and allocation.sharing == "running"):
            size = requests.samples
            blocks = SharedBlocks(
                len(blocks.owner), blocks.size, requests, allocation.sharing == "kept"
            )
        watermark, swaps = allocation.watermark, allocation.preemption == "swap"
        scale = 1 + allocation.block_overhead / allocation.block_size
    else:
        kind = BuddyRuns if isinstance(allocation, Buddy) else Runs
        blocks = kind(capacity // allocation.block_size, allocation)
    kept_free = math.floor(watermark * len(blocks.owner))

    everyone = [
        Request(number, float(arrival_s), int(prompt), int(output))
        for number, (arrival_s, prompt, output) in enumerate(
            zip(requests.arrival_s, requests.prompt_tokens, requests.output_tokens, strict=True)
        )
    ]
    # Samples of one prompt that share it come and go together: a group of requests.
    to_come = deque(everyone[i : i + size] for i in range(0, len(everyone), size))
    queue: deque[list[Request]] = deque()
    running: list[Request] = []  # oldest admission first
    passes: list[Pass] = []
    t = 0.0

    while to_come or queue or running:
        # 1. Arrivals.
        if not running and not queue:
            t = max(t, to_come[0][0].arrival_s)
        while to_come and to_come[0][0].arrival_s <= t:
            queue.append(to_come.popleft())

        # 2. Growth: room for the token that this pass writes.
        moved_tokens = moved_blocks = 0
        preempted = False
        growing: dict[int, list[Request]] = {}
        for request in running:
            growing.setdefault(request.number // size, []).append(request)
        for members in growing.values():
            while members and blocks.needed_to_write(members) > len(blocks.free):
                newest = running[-1].number // size
                victims = growing[newest].copy()
                del running[-len(victims) :]
                growing[newest].clear()
                tokens, count = blocks.give_back_group(victims, swaps)
                moved_tokens += tokens
                moved_blocks += count
                queue.appendleft(victims)
                for victim in victims:
                    victim.preemptions += 1
                    victim.on_host = swaps
                preempted = True
            for request in members:
                blocks.write_next(request)

        # 3. Admission: nobody overtakes.
        admitted: list[Request] = []
        ready: dict[int, int] = {}
        batched_tokens = len(running)
        while queue and not preempted:
            head = queue[0]
            tokens = head[0].prompt + head[0].produced
            known = [tokens - 1] * len(head) if head[0].on_host else blocks.ready(head, tokens)
            computed = sum(tokens - each for each in known)
            if (
                not blocks.admits(head, tokens, kept_free)
                or len(running) + len(head) > max_num_seqs
                or batched_tokens + computed > max_batched_tokens
            ):
                break
            batched_tokens += computed
            if head[0].on_host:
                fetched_tokens, fetched_blocks = blocks.fetched(head, tokens)
                moved_tokens += fetched_tokens
                moved_blocks += fetched_blocks
            blocks.admit(head, tokens)
            for request, each in zip(queue.popleft(), known, strict=True):
                ready[request.number] = each
                admitted.append(request)
                running.append(request)
        wanted = (
            blocks.needed(queue[0][0], queue[0][0].prompt + queue[0][0].produced)
            if queue
            else math.inf
        )
        scattered = wanted <= len(blocks.free) and blocks.find(wanted) is None
        assert running, "nobody runs, and nobody ever will"

        # 4. The pass: prefill of those just admitted, one decoded token for all others.
        processed = attended = 0
        for request in running:
            if request in admitted:
                request.cached = request.prompt + request.produced
                request.on_host = False
                known = ready[request.number]
            else:
                request.cached += 1
                known = request.cached - 1
            processed += request.cached - known
            attended += sum(range(known + 1, request.cached + 1))
        blocks.check(running)

        # 5. Its time.
        cached = sum(request.cached for request in running)
        compute_s, memory_s = roofline_s(server, processed, attended, cached, scale)
        start_s = t
        t += max(compute_s, memory_s) + gpu.pass_overhead_s
        t += token_bytes * moved_tokens / gpu.effective_pcie_bandwidth
        t += 2 * server.model.layers * gpu.copy_overhead_s * moved_blocks
        passes.append(
            Pass(
                start_s,
                t,
                {request.number: request.cached for request in running},
                [request.number for request in admitted],
                len(blocks.free),
                scattered,
                compute_s > memory_s,
                {number: ready[number] for number in ready},
                moved_tokens,
                moved_blocks,
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
