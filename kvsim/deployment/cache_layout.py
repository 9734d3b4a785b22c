"""How a server cuts the memory of its cache into blocks, for one kind of layer or for several.

What vLLM does, told by its formulas: layers of a kind form groups of equal size, a block holds
some tokens of every layer of a group, and all blocks have the same bytes.
"""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np

from kvsim import checks
from kvsim.deployment.layers import Attention, Latent, Layer, LinearState
from kvsim.kinds import all_of_kind, one_of
from kvsim.workload import IntArray

GIB = 2**30
# Bytes of an element of keys and values, by what servers call the type of the cache.
KV_DTYPES = {"bf16": 2, "fp8": 1}
DEFAULT_BLOCK_SIZE = 16
MOST_TOKENS = 10**9
# vLLM raises blocks in steps of what its attention kernels need at least.
_BLOCK_STEP = 16


@dataclass(frozen=True)
class Group:
    """Groups of layers of one kind: a block holds ``block_tokens`` of each of their layers."""

    layer: Layer
    block_tokens: int
    groups: int


@dataclass(frozen=True)
class Layout:
    """Blocks of a cache, on one GPU.

    ``bytes_per_token`` is what a token takes while every attention layer keeps it; ``block_bytes``
    what a block takes in all layers of a group. ``state_blocks`` is how many blocks a request
    holds of each group with a state. ``batched_tokens`` bounds the tokens of one pass.
    """

    groups: tuple[Group, ...]
    bytes_per_token: int
    block_bytes: int
    block_size: int
    state_blocks: int
    batched_tokens: int

    @property
    def group_count(self) -> int:
        """Groups over all kinds: into so many parts the blocks are shared out."""
        return sum(group.groups for group in self.groups)

    @property
    def of_one_group(self) -> bool:
        """Whether all layers are alike, so that tokens times their bytes is the whole truth."""
        return self.group_count == 1

    def blocks(self, available_bytes: float | Fraction) -> int:
        """Whole blocks in so many bytes of one GPU."""
        return floor(Fraction(available_bytes) / self.block_bytes)

    def tokens(self, blocks: int) -> int:
        """Tokens of requests that every group holds all of: ``GPU KV cache size``, once.

        With several groups it is no capacity: sliding windows and states need fewer blocks.
        """
        return blocks // self.group_count * self.block_size

    def blocks_per_request(self, tokens: int) -> int:
        """Most blocks that a request of ``tokens`` tokens holds, over all groups."""
        if checks.whole("tokens", tokens) > MOST_TOKENS:
            raise ValueError(f"tokens is {tokens}: it must be at most {MOST_TOKENS:,}.")
        return int(self.blocks_held(np.array([tokens]))[0])

    def blocks_held(self, tokens: IntArray) -> IntArray:
        """Most blocks that requests of ``tokens`` tokens hold, for each of them."""
        held = np.zeros_like(tokens)
        for group in self.groups:
            if isinstance(group.layer, LinearState):
                held += group.groups * self.state_blocks
            else:
                block = min(group.block_tokens, MOST_TOKENS)
                held += group.groups * group.layer.blocks(tokens, block, self.batched_tokens)
        return held

    def concurrency(self, blocks: int, max_length: int) -> float:
        """Requests of ``max_length`` tokens that ``blocks`` hold: ``Maximum concurrency``."""
        return blocks / self.blocks_per_request(max_length)

    def reported_tokens(self, blocks: int, max_length: int) -> int:
        """Tokens that newer servers print: their concurrency in tokens of the longest requests."""
        return blocks * max_length // self.blocks_per_request(max_length)

    def longest(self, blocks: int, asked: int) -> int:
        """Longest request, of at most ``asked`` tokens, that fits alone; 0 if none does."""
        fits, fails = 0, asked + 1
        while fails - fits > 1:
            middle = (fits + fails) // 2
            if self.blocks_per_request(middle) <= blocks:
                fits = middle
            else:
                fails = middle
        return fits


def cache_layout(
    layers: tuple[Layer, ...],
    *,
    block_size: int | None = None,
    kv_dtype: str = "bf16",
    tp: int = 1,
    pp: int = 1,
    batched_tokens: int = 2048,
    draft_tokens: int = 0,
    prefix_caching: bool = False,
) -> Layout:
    """Return how the cache of ``layers`` (those of draft heads included) is cut into blocks.

    ``block_size`` is the tokens of a block as they are asked for (16 if not given); where a block
    must hold a state, it is raised as vLLM does. ``tp`` GPUs share the heads of each of ``pp``
    stages, of which the one with most layers decides. With ``prefix_caching`` a request keeps a
    second state. Raises ``ValueError`` for bad values, and names what the formulas do not cover.
    """
    layers = tuple(all_of_kind("layers", layers, Attention, Latent, LinearState))
    one_of("kv_dtype", kv_dtype, tuple(KV_DTYPES))
    for name, value in (("tp", tp), ("pp", pp), ("batched_tokens", batched_tokens)):
        checks.whole(name, value)
    checks.whole("draft_tokens", draft_tokens, least=0)
    if block_size is not None:
        checks.whole("block_size", block_size)
    counts = Counter(layers)
    attention = [layer for layer in counts if not isinstance(layer, LinearState)]
    states = [layer for layer in counts if isinstance(layer, LinearState)]
    _refuse_the_uncovered(counts, attention, states, pp)
    token_bytes: dict[Layer, int] = {
        layer: layer.token_bytes(KV_DTYPES[kv_dtype], tp) for layer in attention
    }
    largest = max(token_bytes.values())
    tokens = block_size or DEFAULT_BLOCK_SIZE
    for state in states:
        tokens = _raised(tokens, state.state_bytes(tp, draft_tokens), largest, block_size)
    group_size = ceil(len(layers) / pp) if len(counts) == 1 else min(counts.values())
    groups = []
    for layer, count in counts.items():
        own = token_bytes.get(layer, largest)
        if largest % own:
            raise ValueError(
                f"Layers of {largest:,} and of {own:,} bytes a token have no common size of "
                "blocks: the formulas do not cover this model."
            )
        number = 1 if len(counts) == 1 else ceil(count / group_size)
        groups.append(Group(layer, tokens * largest // own, number))
    kept = sum(token_bytes[layer] * counts[layer] for layer in attention)
    return Layout(
        groups=tuple(groups),
        bytes_per_token=kept if len(counts) > 1 else largest * group_size,
        block_bytes=largest * tokens * group_size,
        block_size=tokens,
        state_blocks=draft_tokens + (2 if prefix_caching else 1),
        batched_tokens=batched_tokens,
    )


def _refuse_the_uncovered(
    counts: "Counter[Layer]",
    attention: list[Attention | Latent],
    states: list[LinearState],
    pp: int,
) -> None:
    if not attention:
        raise ValueError("There is no attention layer, so there is no cache of tokens to cut.")
    if pp > sum(counts.values()):
        raise ValueError(f"pp is {pp}, but the model has {sum(counts.values())} layers.")
    if pp > 1 and len(counts) > 1:
        raise ValueError(
            f"pp is {pp}, but this model has several kinds of layers: how its groups spread over "
            "pipeline stages is not covered by the formulas, so give 1."
        )
    if states and len(counts) > 2:
        raise ValueError(
            "A linear state beside several kinds of attention is not covered by the formulas."
        )


def _raised(tokens: int, state: int | None, token_bytes: int, asked: int | None) -> int:
    """Tokens of a block that has room for a state, in the steps in which vLLM raises them."""
    if state is None:
        if asked is None:
            raise ValueError(
                "The size of the linear layers' state is not given (linear_num_value_heads and "
                "its like in config.json): give the block size that the server printed."
            )
        return asked
    step = max(tokens, _BLOCK_STEP)
    return max(tokens, step * ceil(state / (step * token_bytes)))


def printed_interval(printed_gib: float | Fraction) -> tuple[Fraction, Fraction]:
    """Return the least and most bytes of a figure in GiB that was printed with two decimals."""
    bytes_ = Fraction(printed_gib) * GIB
    half = Fraction(GIB, 200)
    return max(bytes_ - half, Fraction(0)), bytes_ + half
