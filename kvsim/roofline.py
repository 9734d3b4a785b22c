"""How long a pass takes: a roofline, for one pass and for a stretch of them."""

from math import ceil, isfinite, sqrt

import numpy as np

from kvsim.server import Server
from kvsim.workload import FloatArray, IntArray


class Roofline:
    """Pass times of a server whose cached tokens cost ``read_factor`` of their bytes to read.

    A pass processes ``processed`` tokens that attend to ``attended`` positions, and ends with
    ``cached`` tokens of running requests. It takes the longer of its arithmetic and its memory
    traffic, plus an overhead, plus the time to move ``moved`` cached tokens, in ``moved_blocks``
    blocks, to or from the host.
    """

    def __init__(self, server: Server, read_factor: float) -> None:
        model, gpu = server.model, server.gpu
        self.token_s = model.flops_per_token / gpu.effective_flops
        self.attended_s = model.flops_per_attended / gpu.effective_flops
        self.weights_s = model.weight_bytes / gpu.effective_bandwidth
        self.cached_s = model.kv_bytes_per_token * read_factor / gpu.effective_bandwidth
        self.moved_s = model.kv_bytes_per_token / gpu.effective_pcie_bandwidth
        # Keys and values of each layer lie apart: as many copies for every block.
        self.moved_block_s = 2 * model.layers * gpu.copy_overhead_s
        self.overhead_s = gpu.pass_overhead_s
        if not isfinite(self.pass_s(1, 1, server.capacity_tokens, 1, 1)):
            raise ValueError(
                f"A pass of {model.name} takes no finite time on {gpu.name}: raise its rates or "
                "shares, or lower pass_overhead_s or copy_overhead_s."
            )

    def pass_s(
        self, processed: int, attended: int, cached: int, moved: int = 0, moved_blocks: int = 0
    ) -> float:
        """Duration of one pass in seconds."""
        compute_s = self.token_s * processed + self.attended_s * attended
        memory_s = self.weights_s + self.cached_s * cached
        longer_s = compute_s if compute_s > memory_s else memory_s
        if not moved:
            return longer_s + self.overhead_s
        moving_s = self.moved_s * moved + self.moved_block_s * moved_blocks
        return longer_s + self.overhead_s + moving_s

    def passes_s(
        self,
        processed: IntArray,
        attended: IntArray,
        cached: IntArray,
        moved: IntArray,
        moved_blocks: IntArray,
    ) -> FloatArray:
        """Duration of each of many passes in seconds."""
        compute_s = self.token_s * processed + self.attended_s * attended
        memory_s = self.weights_s + self.cached_s * cached
        longer_s: FloatArray = np.maximum(compute_s, memory_s)
        moving_s = self.moved_s * moved + self.moved_block_s * moved_blocks
        return longer_s + self.overhead_s + moving_s

    def decode_s(
        self, batch: int, cached: int, passes: int, available_s: float
    ) -> tuple[int, float]:
        """Return how many decode passes are done, and the seconds they take.

        ``batch`` requests hold ``cached`` tokens before the first pass and ``batch`` more after
        each. The stretch ends after ``passes`` of them, or with the first that ends
        ``available_s`` or later. While one side of the roof binds, pass times grow by the same
        step, and their sum is that of an arithmetic series.
        """
        compute_s = self.token_s * batch
        # Arithmetic minus memory traffic is a line in the cached tokens.
        excess_s = compute_s - self.weights_s
        excess_per_cached_s = self.attended_s - self.cached_s
        compute_binds = excess_s + excess_per_cached_s * (cached + batch) > 0
        if compute_binds:
            per_cached_s, fixed_s = self.attended_s, compute_s
        else:
            per_cached_s, fixed_s = self.cached_s, self.weights_s
        half_step_s = per_cached_s * batch / 2
        linear_s = fixed_s + self.overhead_s + per_cached_s * cached + half_step_s
        total_s = passes * (linear_s + half_step_s * passes)
        if total_s > available_s:
            root = linear_s + sqrt(linear_s * linear_s + 4 * half_step_s * available_s)
            passes = min(passes, ceil(2 * available_s / root) or 1)
            total_s = passes * (linear_s + half_step_s * passes)
        last_excess_s = excess_s + excess_per_cached_s * (cached + batch * passes)
        if (last_excess_s > 0) == compute_binds:
            return passes, total_s
        # The other side binds before the stretch is over: take it in two.
        crossing = (-excess_s / excess_per_cached_s - cached) / batch
        before = min(max(int(crossing), 1), passes - 1)
        before_s = before * (linear_s + half_step_s * before)
        after, after_s = self.decode_s(
            batch, cached + batch * before, passes - before, available_s - before_s
        )
        return before + after, before_s + after_s
