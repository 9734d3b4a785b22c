"""How a server allocates its KV cache: settings, and what they mean for a request's memory.

:class:`Contiguous`, :class:`Paged`, and those of :mod:`kvsim.reserving`. For one run an allocation
hands out a :class:`kvsim.pools.Pool`, the ledger that the engine's loop asks and tells; allocations
differ in nothing else.
"""

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np

from kvsim import checks
from kvsim.addresses import Addresses, FreeList
from kvsim.kinds import one_of
from kvsim.pools import Blocks, Pool, Slots
from kvsim.saved_blocks import saved_blocks
from kvsim.server import Server
from kvsim.shared_blocks import SharedBlocks
from kvsim.stays import Stays
from kvsim.workload import IntArray, Requests

Preemption = Literal["recompute", "swap"]
Sharing = Literal["off", "running", "kept"]


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

    def group_size(self, requests: Requests) -> int:
        """Requests in succession that share memory, and so are admitted and pre-empted together."""

    def units(self, server: Server) -> int:
        """Units that the server's cache is divided into."""

    def reserved_tokens(self, prompt: IntArray, output: IntArray, cached: IntArray) -> IntArray:
        """Tokens that requests of such lengths hold memory for, with ``cached`` ones in it."""

    def units_held(self, tokens: IntArray) -> IntArray:
        """Units that hold memory for so many tokens each."""

    def saved_units(self, requests: Requests, stays: Stays) -> IntArray | int:
        """Units saved in each pass of a run because several requests hold the same."""

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

    def group_size(self, requests: Requests) -> int:
        """Nobody shares: each sample of a prompt has a piece of its own."""
        return 1

    def saved_units(self, requests: Requests, stays: Stays) -> int:
        """Nobody shares."""
        return 0


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

    def pool(self, server: Server, requests: Requests) -> Slots:
        """Return an empty cache's slots."""
        return Slots(self.units(server))

    def addresses(self, server: Server) -> FreeList:
        """Any slot serves: the one that was left last, as with blocks."""
        return FreeList(self.units(server))


@dataclass(frozen=True)
class Paged:
    """Give each request a block of ``block_size`` tokens whenever its last one is full.

    ``block_overhead`` is what fetching a block costs in the attention kernel beyond its bytes, in
    tokens. When blocks run out the newest request is pre-empted, by ``"recompute"`` or ``"swap"``.
    A request is admitted only if the share ``watermark`` (0 to below 1) of all blocks stays free.

    ``sharing`` says for how long the full blocks of a prompt serve others who have the same:
    ``"off"`` not at all, ``"running"`` while a running request holds them, ``"kept"`` until their
    memory is needed, those used least recently first. It makes a difference to requests with
    several samples or a system prompt; kept blocks also serve a pre-empted request that returns.
    What is in the cache is not computed again. Raises ``ValueError`` for values outside of these
    ranges.
    """

    block_size: int = 16
    block_overhead: float = 0.0
    preemption: Preemption = "recompute"
    watermark: float = 0.0
    sharing: Sharing = "running"

    def __post_init__(self) -> None:
        checks.keep(self, checks.whole, "block_size")
        checks.keep(self, checks.not_negative, "block_overhead")
        one_of("preemption", self.preemption, get_args(Preemption))
        one_of("sharing", self.sharing, get_args(Sharing))
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

    def group_size(self, requests: Requests) -> int:
        """Return the samples of a prompt, if they share it."""
        return 1 if self.sharing == "off" else requests.samples

    def units(self, server: Server) -> int:
        """Blocks in the server's cache. Raises ``ValueError`` if there is none."""
        return units_of("block_size", self.block_size, server)

    def reserved_tokens(self, prompt: IntArray, output: IntArray, cached: IntArray) -> IntArray:
        """Nothing is reserved beyond what is cached."""
        return cached

    def units_held(self, tokens: IntArray) -> IntArray:
        """Blocks that hold so many tokens each."""
        return -(-tokens // self.block_size)

    def saved_units(self, requests: Requests, stays: Stays) -> IntArray | int:
        """Blocks that are held once in place of several times."""
        return 0 if self.sharing == "off" else saved_blocks(requests, stays, self.block_size)

    def reserve(self, server: Server) -> int:
        """Blocks that an admission must leave free."""
        return int(self.watermark * self.units(server))

    def check(self, requests: Requests, server: Server) -> None:
        """Refuse requests that exceed an empty cache, and prompts that no pass may hold."""
        or_lower = " or lower the watermark" if self.watermark else ""
        size = self.group_size(requests)
        if server.max_num_seqs is not None and len(requests) and size > server.max_num_seqs:
            raise ValueError(
                f"samples is {size}, but max_num_seqs is {server.max_num_seqs} and all samples of "
                "a prompt run together: take fewer, or raise max_num_seqs."
            )
        refuse_first(
            most_blocks(requests, size, self.block_size),
            self.units(server) - self.reserve(server),
            "needs {0:,} blocks at its end, but an empty cache can give it {1:,}: shorten the "
            f"request, enlarge the cache{or_lower}.",
        )
        refuse_long_prefills(requests, server)

    def pool(self, server: Server, requests: Requests) -> Blocks:
        """Return an empty cache's blocks."""
        size = self.units(server), self.block_size, self.reserve(server)
        nothing_common = requests.samples == 1 and not requests.shared_tokens
        if self.sharing == "off" or (self.sharing == "running" and nothing_common):
            return Blocks(*size)
        return SharedBlocks(*size, requests, keep=self.sharing == "kept")

    def addresses(self, server: Server) -> FreeList:
        """Any block serves: the one that was given back last."""
        return FreeList(self.units(server))


def most_blocks(requests: Requests, group_size: int, block_size: int) -> IntArray:
    """Most blocks that each group of requests holds at any time, its prompt's full ones once.

    The members of a group grow together; a group holds most just before one of them ends.
    """
    final = -np.sort(-requests.final_tokens.reshape(-1, group_size), axis=1)
    prompt = requests.prompt_tokens[::group_size, np.newaxis]
    full = prompt // block_size
    blocks = full + np.arange(1, group_size + 1) * (-(-final // block_size) - full)
    unwritten = -(-prompt // block_size)
    most: IntArray = np.where(final > prompt, blocks, unwritten).max(axis=1)
    return most


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
