"""What one layer of a model keeps for the tokens of a request: the kinds, and their bytes."""

from dataclasses import dataclass

import numpy as np

from kvsim import checks
from kvsim.workload import IntArray


@dataclass(frozen=True)
class Attention:
    """Keys and values of a token, for some heads: MHA, GQA or MQA by the number of ``kv_heads``.

    With ``window`` (tokens) a token attends to that many at most, itself included, and what lies
    before them may be given back. Raises ``ValueError`` for what is not a whole number above zero.
    """

    kv_heads: int
    head_dim: int
    window: int | None = None

    def __post_init__(self) -> None:
        checks.keep(self, checks.whole, "kv_heads", "head_dim")
        if self.window is not None:
            checks.keep(self, checks.whole, "window")

    def token_bytes(self, element_bytes: int, tp: int = 1) -> int:
        """Bytes of a token on each of ``tp`` GPUs, which share the heads or have one each.

        Raises ``ValueError`` where heads cannot be dealt out evenly: servers refuse that too.
        """
        if self.kv_heads % tp and tp % self.kv_heads:
            raise ValueError(
                f"tp is {tp}, but {self.kv_heads} key and value heads cannot be dealt out evenly "
                f"to as many GPUs: give a divisor or a multiple of {self.kv_heads}."
            )
        return 2 * max(1, self.kv_heads // tp) * self.head_dim * element_bytes

    def blocks(self, tokens: IntArray, block_size: int, batched_tokens: int) -> IntArray:
        """Most blocks that requests of ``tokens`` hold of this layer.

        ``batched_tokens`` bounds the tokens of one pass, all of which stand in the window of a
        layer that has one while the pass runs; and the window may begin within a block.
        """
        if self.window is None:
            return -(-tokens // block_size)
        return -(-np.minimum(self.window - 1 + batched_tokens, tokens) // block_size) + 1


@dataclass(frozen=True)
class Latent:
    """The compressed latent vector of a token and its rotary key (MLA), the same on every GPU.

    DeepSeek-AI, "DeepSeek-V2" (2024), section 2.1: ``rank`` is its ``kv_lora_rank``, ``rope_dim``
    its ``qk_rope_head_dim``. Raises ``ValueError`` for what is not a whole number above zero.
    """

    rank: int
    rope_dim: int

    def __post_init__(self) -> None:
        checks.keep(self, checks.whole, "rank", "rope_dim")

    def token_bytes(self, element_bytes: int, tp: int = 1) -> int:
        """Bytes of a token on each of ``tp`` GPUs: every one keeps all of it."""
        return (self.rank + self.rope_dim) * element_bytes

    def blocks(self, tokens: IntArray, block_size: int, batched_tokens: int) -> IntArray:
        """Blocks that requests of ``tokens`` hold of this layer."""
        return -(-tokens // block_size)


@dataclass(frozen=True)
class LinearState:
    """A state of fixed size for each request, whatever its length: gated delta-net layers.

    Each of ``value_heads`` keeps ``key_dim`` x ``value_dim`` elements of
    ``state_element_bytes``; a convolution keeps what all heads put into it for the last
    ``conv_kernel - 1`` tokens, in two bytes each. ``value_heads`` is None if the size is not
    known: then only a block that the server has already raised to hold a state tells what it
    takes. Raises ``ValueError`` for what is not a whole number above zero.
    """

    value_heads: int | None = None
    key_heads: int = 1
    key_dim: int = 1
    value_dim: int = 1
    conv_kernel: int = 1
    state_element_bytes: int = 2

    def __post_init__(self) -> None:
        if self.value_heads is not None:
            checks.keep(self, checks.whole, "value_heads")
        checks.keep(self, checks.whole, "key_heads", "key_dim", "value_dim", "conv_kernel")
        checks.keep(self, checks.whole, "state_element_bytes")

    def state_bytes(self, tp: int = 1, draft_tokens: int = 0) -> int | None:
        """Bytes of a state on each of ``tp`` GPUs; its convolution also keeps draft tokens.

        vLLM, ``MambaStateShapeCalculator.gated_delta_net_state_shape``. Raises ``ValueError``
        where heads cannot be dealt out evenly.
        """
        if self.value_heads is None:
            return None
        if self.value_heads % tp or self.key_heads % tp:
            raise ValueError(
                f"tp is {tp}, but the {self.key_heads} and {self.value_heads} heads of a linear "
                "layer cannot be dealt out evenly to as many GPUs: give a divisor of both."
            )
        elements = self.value_heads * self.key_dim * self.value_dim
        channels = 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim
        convolution = (self.conv_kernel - 1 + draft_tokens) * channels * 2
        return (elements * self.state_element_bytes + convolution) // tp


Layer = Attention | Latent | LinearState
