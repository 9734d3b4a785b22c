"""The same server as a straightforward SimPy model, which kvsim's speed is measured against.

Requests are processes, a pass is one timeout, and its work is added up over the requests in it, as
model and SimPy suggest. (Keeping running totals and plain objects instead, as kvsim does, makes
it about twice as fast.) It pre-empts by recomputation, without limits.
"""

from collections import deque

import simpy

from kvsim import Contiguous


class Request:
    """A process that arrives, waits in the queue, and notes when it was answered."""

    def __init__(self, simulation, arrival_s, prompt, output):
        self.simulation = simulation
        self.arrival_s = arrival_s
        self.prompt = prompt
        self.output = output
        self.produced = 0
        self.cached = 0
        self.room = 0
        self.answered = simulation.env.event()
        self.finished = simulation.env.event()
        simulation.env.process(self.live())

    def live(self):
        env = self.simulation.env
        yield env.timeout(self.arrival_s)
        self.simulation.join(self)
        yield self.answered
        self.ttft_s = env.now - self.arrival_s
        yield self.finished
        self.finish_s = env.now


class Slots:
    """Memory of one slot for each request."""

    read_factor = 1.0

    def __init__(self, capacity_tokens, max_length):
        self.free = capacity_tokens // max_length

    def take(self, request, tokens):
        if self.free == 0:
            return False
        self.free -= 1
        return True

    def give_back(self, request):
        self.free += 1

    def grow(self, running, preempt):
        return False


class Blocks:
    """Memory in blocks, of which a request takes one more when it has filled its own."""

    def __init__(self, capacity_tokens, block_size, block_overhead):
        self.block_size = block_size
        self.free = capacity_tokens // block_size
        self.read_factor = 1 + block_overhead / block_size

    def take(self, request, tokens):
        blocks = -(-tokens // self.block_size)
        if blocks > self.free:
            return False
        self.free -= blocks
        request.room = blocks * self.block_size
        return True

    def give_back(self, request):
        self.free += request.room // self.block_size
        request.room = 0

    def grow(self, running, preempt):
        """Make room for one more token of each running request; return if any was pre-empted."""
        preempted = False
        for request in list(running):
            if request.cached < request.room or not request.room:
                continue  # it has room, or has just been pre-empted
            while not self.free and request.room:
                preempt()
                preempted = True
            if request.room:
                self.free -= 1
                request.room += self.block_size
        return preempted


class Simulation:
    """One run: the requests, and a process that works through passes."""

    def __init__(self, requests, server, allocation):
        model, gpu = server.model, server.gpu
        if isinstance(allocation, Contiguous):
            self.memory = Slots(server.capacity_tokens, allocation.max_length)
        else:
            self.memory = Blocks(
                server.capacity_tokens, allocation.block_size, allocation.block_overhead
            )
        self.token_s = model.flops_per_token / gpu.effective_flops
        self.attended_s = model.flops_per_attended / gpu.effective_flops
        self.weights_s = model.weight_bytes / gpu.effective_bandwidth
        self.cached_s = model.kv_bytes_per_token * self.memory.read_factor / gpu.effective_bandwidth
        self.overhead_s = gpu.pass_overhead_s
        self.env = simpy.Environment()
        self.arrived = self.env.event()
        self.requests = [
            Request(self, *one)
            for one in zip(
                requests.arrival_s.tolist(),
                requests.prompt_tokens.tolist(),
                requests.output_tokens.tolist(),
                strict=True,
            )
        ]
        self.queue = deque()
        self.running = []  # oldest admission first
        self.passes = 0
        self.preemptions = 0

    def run(self):
        self.env.process(self.serve())
        self.env.run()
        return self

    def join(self, request):
        self.queue.append(request)
        if not self.arrived.triggered:
            self.arrived.succeed()

    def serve(self):
        env, memory, queue = self.env, self.memory, self.queue
        while True:
            if not self.running and not queue:
                self.arrived = env.event()
                yield self.arrived

            preempted = memory.grow(self.running, self.preempt)
            prefilling = []
            while queue and not preempted:
                if not memory.take(queue[0], queue[0].prompt + queue[0].produced):
                    break
                prefilling.append(queue.popleft())
            yield env.timeout(self.pass_s(self.running, prefilling))
            self.passes += 1

            self.running += prefilling
            for request in self.running:
                request.produced += 1
                request.cached = request.prompt + request.produced - 1
                if request.produced == 1:
                    request.answered.succeed()
                if request.produced == request.output:
                    memory.give_back(request)
                    request.finished.succeed()
            self.running = [each for each in self.running if each.produced < each.output]

    def pass_s(self, decoding, prefilling):
        """Roofline time of a pass."""
        prefills = [request.prompt + request.produced for request in prefilling]
        decodes = [request.cached + 1 for request in decoding]
        processed = sum(prefills) + len(decodes)
        attended = sum(m * (m + 1) // 2 for m in prefills) + sum(decodes)
        compute_s = self.token_s * processed + self.attended_s * attended
        memory_s = self.weights_s + self.cached_s * (sum(prefills) + sum(decodes))
        return max(compute_s, memory_s) + self.overhead_s

    def preempt(self):
        """Throw the newest request out; it will be recomputed."""
        request = self.running.pop()
        self.memory.give_back(request)
        self.queue.appendleft(request)
        self.preemptions += 1
