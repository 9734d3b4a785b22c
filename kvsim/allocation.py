"""What a request holds of the cache: when it fits, when it grows, what it gives back.

An allocation is a setting (:class:`Contiguous`, :class:`Paged`, and those of
:mod:`kvsim.reserving`). For one run it hands out a :class:`Pool`, the ledger that the engine's
loop asks and tells; pools differ in nothing else. Requests go by their number, passes are numbered
from 0, and a request "holding ``tokens`` in pass ``q``" has that many tokens cached when pass
``q`` ends.
"""

from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from kvsim import checks
from kvsim.addresses import Addresses, FreeList
from kvsim.server import Server
from kvsim.workload import IntArray, Requests

Preemption = Literal["recompute", "swap"]


class Pool(Protocol):
    """The ledger of one run's cache memory."""

    def take(self, request: int, tokens: int, q: int) -> bool:
        """Give a request memory for the ``tokens`` it holds in pass ``q``; say if it fitted."""

    def give_back(self, request: int, tokens: int, q: int) -> None:
        """Take back the memory of a request that held ``tokens`` in pass ``q``."""

    def grow(self, q: int, passes: int) -> int:
        """Let the running requests grow by a token a pass, for up to ``passes`` from pass ``q``.

        Return for how many passes there was room; the growth of those has been taken.
        """


class Allocation(Protocol):
    """How a server allocates its KV cache. Memory comes in units of ``unit_tokens``."""

    @property
    def unit_tokens(self) -> int:
        """Tokens of one unit: a slot or a block."""

    @property
    def read_factor(self) -> float:
        """Time to read a cached token, relative to reading it from contiguous memory."""

    @property
    def swaps(self) -> bool:
        """Whether a pre-empted request is moved to the host, rather than recomputed."""

    def units(self, server: Server) -> int:
        """Units that the server's cache is divided into."""

    def reserved_tokens(self, prompt: IntArray, output: IntArray, cached: IntArray) -> IntArray:
        """Tokens that requests of such lengths hold memory for, with ``cached`` ones in it."""

    def units_held(self, tokens: IntArray) -> IntArray:
        """Units that hold memory for so many tokens each."""

    def check(self, requests: Requests, server: Server) -> None:
        """Raise ``ValueError`` if a request could never run, even alone."""

    def pool(self, server: Server, requests: Requests) -> Pool:
        """Return the ledger of an empty cache, for a run of ``requests``."""

    def addresses(self, server: Server) -> Addresses:
        """Return the units of an empty cache by number: who would lie where, for a drawing."""


class InOnePiece:
    """What all allocations have in common that give a request one piece of memory, for good."""

    @property
    def read_factor(self) -> float:
        """Contiguous memory is read at full speed."""
        return 1.0

    @property
    def swaps(self) -> bool:
        """Nothing is ever pre-empted."""
        return False


@dataclass(frozen=True)
class Contiguous(InOnePiece):
    """Reserve one slot of ``max_length`` tokens for each request, from admission to its end."""

    max_length: int = 8192

    def __post_init__(self) -> None:
        checks.keep(self, checks.length, "max_length")

    @property
    def unit_tokens(self) -> int:
        """Tokens of one slot."""
        return self.max_length

    def units(self, server: Server) -> int:
        """Slots in the server's cache. Raises ``ValueError`` if there is none."""
        return units_of("max_length", self.max_length, server)

    def reserved_tokens(self, prompt: IntArray, output: IntArray, cached: IntArray) -> IntArray:
        """Everybody reserves the maximum."""
        return np.full_like(cached, self.max_length)

    def units_held(self, tokens: IntArray) -> IntArray:
        """One slot each, whatever it holds."""
        return np.ones_like(tokens)

    def check(self, requests: Requests, server: Server) -> None:
        """Refuse requests longer than a slot, and prompts that no pass may hold."""
        self.units(server)
        refuse_longer(requests, self.max_length)
        refuse_long_prefills(requests, server)

    def pool(self, server: Server, requests: Requests) -> "_Slots":
        """Return an empty cache's slots."""
        return _Slots(self.units(server))

    def addresses(self, server: Server) -> FreeList:
        """Any slot serves: the one that was left last, as with blocks."""
        return FreeList(self.units(server))


@dataclass(frozen=True)
class Paged:
    """Give each request a block of ``block_size`` tokens whenever its last one is full.

    ``block_overhead`` is what fetching a block costs in the attention kernel beyond its bytes, in
    tokens. When blocks run out the newest request is pre-empted, by ``"recompute"`` or ``"swap"``.
    A request is admitted only if the share ``watermark`` (0 to below 1) of all blocks stays free.
    Raises ``ValueError`` for values outside of these ranges.
    """

    block_size: int = 16
    block_overhead: float = 0.0
    preemption: Preemption = "recompute"
    watermark: float = 0.0

    def __post_init__(self) -> None:
        checks.keep(self, checks.whole, "block_size")
        checks.keep(self, checks.not_negative, "block_overhead")
        if self.preemption not in ("recompute", "swap"):
            raise ValueError(f"preemption is {self.preemption!r}: choose 'recompute' or 'swap'.")
        if not 0 <= checks.finite_number("watermark", self.watermark) < 1:
            raise ValueError(
                f"watermark is {self.watermark!r}: it must be a share from 0 to below 1."
            )

    @property
    def unit_tokens(self) -> int:
        """Tokens of one block."""
        return self.block_size

    @property
    def read_factor(self) -> float:
        """Each block read costs ``block_overhead`` tokens more than its own."""
        return 1 + self.block_overhead / self.block_size

    @property
    def swaps(self) -> bool:
        """Whether a pre-empted request is moved to the host, rather than recomputed."""
        return self.preemption == "swap"

    def units(self, server: Server) -> int:
        """Blocks in the server's cache. Raises ``ValueError`` if there is none."""
        return units_of("block_size", self.block_size, server)

    def reserved_tokens(self, prompt: IntArray, output: IntArray, cached: IntArray) -> IntArray:
        """Nothing is reserved beyond what is cached."""
        return cached

    def units_held(self, tokens: IntArray) -> IntArray:
        """Blocks that hold so many tokens each."""
        return -(-tokens // self.block_size)

    def reserve(self, server: Server) -> int:
        """Blocks that an admission must leave free."""
        return int(self.watermark * self.units(server))

    def check(self, requests: Requests, server: Server) -> None:
        """Refuse requests that exceed an empty cache, and prompts that no pass may hold."""
        or_lower = " or lower the watermark" if self.watermark else ""
        refuse_first(
            self.units_held(requests.final_tokens),
            self.units(server) - self.reserve(server),
            "needs {0:,} blocks at its end, but an empty cache can give it {1:,}: shorten the "
            f"request, enlarge the cache{or_lower}.",
        )
        refuse_long_prefills(requests, server)

    def pool(self, server: Server, requests: Requests) -> "_Blocks":
        """Return an empty cache's blocks."""
        return _Blocks(self.units(server), self.block_size, self.reserve(server))

    def addresses(self, server: Server) -> FreeList:
        """Any block serves: the one that was given back last."""
        return FreeList(self.units(server))


class _Slots:
    """Slots that are free; what a request holds never grows."""

    def __init__(self, slots: int) -> None:
        self.free = slots

    def take(self, request: int, tokens: int, q: int) -> bool:
        if self.free == 0:
            return False
        self.free -= 1
        return True

    def give_back(self, request: int, tokens: int, q: int) -> None:
        self.free += 1

    def grow(self, q: int, passes: int) -> int:
        return passes


class _Blocks:
    """Blocks that are free, and in which passes the running requests will need one more.

    A request fills its last block every ``block_size`` passes, so the number of its next growing
    pass modulo ``block_size``, its phase, never changes while it runs. ``growing[phase]`` counts
    the running requests of each phase.
    """

    def __init__(self, blocks: int, block_size: int, reserve: int) -> None:
        self.free = blocks
        self.block_size = block_size
        self.reserve = reserve
        self.running = 0
        self.growing = [0] * block_size

    def take(self, request: int, tokens: int, q: int) -> bool:
        size = self.block_size
        left = self.free + -tokens // size  # minus the ceiling of tokens / size
        if left < self.reserve:
            return False
        self.free = left
        self.running += 1
        self.growing[(q + 1 - tokens) % size] += 1
        return True

    def give_back(self, request: int, tokens: int, q: int) -> None:
        size = self.block_size
        self.free -= -tokens // size
        self.running -= 1
        self.growing[(q + 1 - tokens) % size] -= 1

    def grow(self, q: int, passes: int) -> int:
        size = self.block_size
        start = q % size
        if passes == 1:
            needed = self.growing[start]
            if needed > self.free:
                return 0
            self.free -= needed
            return 1
        rounds, rest = divmod(passes, size)
        end = start + rest
        needed = rounds * self.running + sum(self.growing[start:end])
        if end > size:
            needed += sum(self.growing[: end - size])
        if needed > self.free:
            return self._grow_while_free(start)
        self.free -= needed
        return passes

    def _grow_while_free(self, start: int) -> int:
        """Grow up to the first pass that finds too few free blocks."""
        rounds, left = divmod(self.free, self.running)  # a round takes a block for each request
        passes = rounds * self.block_size
        for needed in self.growing[start:] + self.growing[:start]:
            if needed > left:
                break
            left -= needed
            passes += 1
        self.free = left
        return passes


def units_of(name: str, unit_tokens: int, server: Server) -> int:
    """Whole units in the server's cache. Raises ``ValueError`` if there is none."""
    units = server.capacity_tokens // unit_tokens
    if units < 1:
        raise ValueError(
            f"{name} is {unit_tokens:,} tokens, but the cache holds {server.capacity_tokens:,}: "
            f"choose a {name} of at most {server.capacity_tokens:,} or enlarge the cache."
        )
    return units


def refuse_first(needed: IntArray, limit: int, sentence: str) -> None:
    """Raise ``ValueError`` for the first request that needs more than ``limit``."""
    beyond = needed > limit
    if beyond.any():
        first = int(beyond.argmax())
        raise ValueError(f"Request {first} " + sentence.format(needed[first], limit))


def refuse_longer(requests: Requests, max_length: int) -> None:
    """Raise ``ValueError`` for the first request of more than ``max_length`` tokens."""
    refuse_first(
        requests.prompt_tokens + requests.output_tokens,
        max_length,
        "needs {0:,} tokens (prompt + output), but max_length is {1:,}: shorten it or raise "
        "max_length.",
    )


def refuse_long_prefills(requests: Requests, server: Server) -> None:
    """Raise ``ValueError`` for the first prompt that no pass of the server may hold."""
    if server.max_batched_tokens is not None:
        refuse_first(
            requests.prompt_tokens,
            server.max_batched_tokens,
            "has a prompt of {0:,} tokens, but max_batched_tokens is {1:,} and prefills are not "
            "split: shorten it or raise max_batched_tokens.",
        )
