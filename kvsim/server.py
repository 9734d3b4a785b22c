"""The server: a model on a GPU, the memory left for its KV cache, and its admission limits."""

import math
from dataclasses import dataclass

from kvsim import checks
from kvsim.hardware import GPU, H100
from kvsim.kinds import of_kind
from kvsim.model import LLAMA_3_8B, Model

# What an 80 GB H100 has left for the cache beside 16 GB of weights and its working memory.
PLATE_CACHE_BYTES = 56e9


@dataclass(frozen=True)
class Server:
    """One server.

    ``cache_bytes`` is the memory for the KV cache. ``max_num_seqs`` bounds the running requests;
    ``max_batched_tokens`` bounds the tokens of one pass, where a decode counts one and a prefill
    its tokens. Both limits act at admission only and are off by default. Raises ``ValueError``
    for a cache that is not above zero or holds no token, and limits below one.
    """

    model: Model = LLAMA_3_8B
    gpu: GPU = H100
    cache_bytes: float = PLATE_CACHE_BYTES
    max_num_seqs: int | None = None
    max_batched_tokens: int | None = None

    def __post_init__(self) -> None:
        of_kind("model", self.model, Model)
        of_kind("gpu", self.gpu, GPU)
        checks.keep(self, checks.positive, "cache_bytes")
        if self.capacity_tokens < 1:
            raise ValueError(
                f"cache_bytes is {self.cache_bytes!r}: it must hold at least one token of "
                f"{self.model.name}, which is {self.model.kv_bytes_per_token:,.0f} bytes."
            )
        for name in ("max_num_seqs", "max_batched_tokens"):
            if getattr(self, name) is not None:
                checks.keep(self, checks.whole, name)

    @property
    def capacity_tokens(self) -> int:
        """Tokens whose keys and values fit in the cache."""
        return math.floor(self.cache_bytes / self.model.kv_bytes_per_token)
