"""How many tokens the cache of a pasted log holds: as printed, or from blocks, or from bytes."""

import math
from dataclasses import dataclass
from typing import Literal

from kvsim import checks
from kvsim.deployment.cache_layout import GIB
from kvsim.kinds import of_kind
from kvsim.logs.server_log import ServerLog

# vLLM's default on GPUs; SGLang's pages have one token unless told otherwise.
DEFAULT_BLOCK = {"vLLM": 16, "SGLang": 1}


@dataclass(frozen=True)
class BlockSize:
    """Tokens of a block, and how that is known."""

    tokens: int
    source: Literal["printed", "figures", "default"]


@dataclass(frozen=True)
class LogCapacity:
    """What a cache holds, in tokens, with the interval that rounding in the log allows.

    ``basis`` names the figures it follows from. From ``concurrency`` it is what requests of the
    maximum length use together, and says nothing about shorter ones.
    """

    tokens: int
    tokens_low: int
    tokens_high: int
    basis: Literal["tokens", "blocks", "bytes", "concurrency"]

    @property
    def sentence(self) -> str:
        """Say what it is and where it comes from."""
        start = f"The cache holds {self.tokens:,} tokens"
        if self.tokens_low != self.tokens_high:
            start += f" ({self.tokens_low:,} to {self.tokens_high:,}, as figures are rounded)"
        return (
            start
            + {
                "tokens": ", as the engine says.",
                "blocks": ": its blocks times the tokens of one.",
                "bytes": ": its bytes by those of a token, in whole blocks.",
                "concurrency": ", counted in requests of the maximum length.",
            }[self.basis]
        )


def cache_of(log: ServerLog, bytes_per_token: float | None = None) -> LogCapacity:
    """Return what the cache of a log holds.

    ``bytes_per_token`` is what one token takes on one GPU, for lines that give bytes only. Tokens
    come from the line that states them, else from blocks and their size, else from the bytes,
    else from the printed concurrency. Where layers of several kinds share the cache, that alone
    says how much it holds. Raises ``ValueError`` if the lines do not say. What a model makes of
    so many GiB, :func:`kvsim.figures_of_gib` says, for all its layers.
    """
    of_kind("log", log, ServerLog)
    if bytes_per_token is not None:
        bytes_per_token = checks.positive("bytes_per_token", bytes_per_token)
    if several_groups(log):
        return _from_concurrency(log)
    tokens, blocks, block = log.whole("tokens"), log.whole("blocks"), block_size(log)
    if tokens is not None:
        return _positive(LogCapacity(tokens, tokens, tokens, "tokens"))
    if blocks is not None and block is not None:
        tokens = blocks * block.tokens
        return _positive(LogCapacity(tokens, tokens, tokens, "blocks"))
    printed = log.figures.get("cache_gib")
    if "max_concurrency" in log.figures and (printed is None or bytes_per_token is None):
        return _from_concurrency(log)
    if printed is None:
        raise ValueError(
            "The lines do not say how large the cache is: paste those with its tokens, its blocks "
            "or its GiB."
        )
    if bytes_per_token is None:
        raise ValueError(
            f"The lines give the cache as {printed.value} GiB only: say what a token takes on one "
            "GPU, in bytes."
        )
    step = block.tokens if block else 1
    tokens, low, high = (
        math.floor(max(printed.number + off, 0) * GIB / (bytes_per_token * step)) * step
        for off in (0, -printed.half, printed.half)
    )
    return _positive(LogCapacity(tokens, low, high, "bytes"))


def _positive(capacity: LogCapacity) -> LogCapacity:
    if capacity.tokens < 1:
        raise ValueError(
            "The cache of this log holds no token: nothing was left for it beside the weights."
        )
    return capacity


def _from_concurrency(log: ServerLog) -> LogCapacity:
    concurrency, longest = log.figures.get("max_concurrency"), log.whole("max_length")
    if concurrency is None or longest is None:
        raise ValueError(
            "Layers of several kinds share this cache, so its tokens are no capacity: paste the "
            "line with the maximum concurrency too."
        )
    low, middle, high = (
        math.floor(max(concurrency.number + off, 0) * longest)
        for off in (-concurrency.half, 0, concurrency.half)
    )
    return _positive(LogCapacity(middle, low, high, "concurrency"))


def several_groups(log: ServerLog) -> bool:
    """Tell whether layers of several kinds share the blocks of a vLLM server.

    They do where it says so, and where its figures fit no single kind: blocks of a size that is
    no power of two, as only linear states raise it to; tokens that are no whole blocks; or a
    concurrency that is neither tokens by maximum length nor blocks by those of a request of
    maximum length. Sliding windows whose figures fit by chance are not told apart.
    """
    if log.engine != "vLLM":
        return False
    if log.run.has("hybrid", "hybrid_block"):
        return True
    tokens, longest = log.whole("tokens"), log.whole("max_length")
    concurrency, block = log.figures.get("max_concurrency"), block_size(log)
    if block and block.tokens & (block.tokens - 1):
        return True
    if not tokens or not longest or concurrency is None or block is None:
        return False
    if longest % block.tokens == 0 and tokens % block.tokens:
        return True
    per_request = math.ceil(longest / block.tokens) * block.tokens
    return all(
        abs(tokens / length - concurrency.number) > concurrency.half + 1e-9
        for length in (longest, per_request)
    )


def block_size(log: ServerLog) -> BlockSize | None:
    """Return the block size: as printed, else as other figures have it, else the default."""
    printed = log.whole("block_size")
    if printed:
        return BlockSize(printed, "printed")
    derived = _derived_block(log)
    if derived:
        return BlockSize(derived, "figures")
    default = DEFAULT_BLOCK.get(log.engine)
    return BlockSize(default, "default") if default else None


def _derived_block(log: ServerLog) -> int | None:
    blocks, tokens, longest = (log.whole(name) for name in ("blocks", "tokens", "max_length"))
    concurrency = log.figures.get("max_concurrency")
    if not blocks:
        return None
    if tokens and tokens % blocks == 0:
        return tokens // blocks
    if concurrency is None or not longest:
        return None
    low, high = (
        (concurrency.number + off) * longest / blocks
        for off in (-concurrency.half, concurrency.half)
    )
    fitting = [2**power for power in range(12) if low <= 2**power <= high]
    return fitting[0] if len(fitting) == 1 else None
