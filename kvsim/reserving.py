"""Reserve, at admission, memory for what a request is expected to need: the paper's baselines.

Kwon et al. (SOSP 2023, section 6.1) compare PagedAttention with three versions of Orca, which
differ in what they know about the output of a request when they reserve memory for it. They give
it one run of neighbouring blocks, from admission to its end; nobody grows or is pre-empted.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from kvsim import checks
from kvsim.addresses import BuddyRuns, FirstFitRuns
from kvsim.allocation import InOnePiece, refuse_first, refuse_long_prefills, refuse_longer, units_of
from kvsim.kinds import one_of
from kvsim.pools import Unshared
from kvsim.server import Server
from kvsim.workload import IntArray, Requests

Estimate = Literal["max", "pow2", "oracle"]


@dataclass(frozen=True)
class Reserving(InOnePiece, ABC):
    """Reserve ``min(prompt + estimate, max_length)`` tokens, in one run of whole blocks.

    The estimate of the output is ``max_length`` (``"max"``); the next power of two at or above the
    true output (``"pow2"``: 25 gives 32, 32 gives 32); or the true output (``"oracle"``). Only an
    oracle may know the output in advance. That ``"pow2"`` looks at it is the paper's assumption:
    it stands for a server that guesses within a factor of two. Blocks have ``block_size`` tokens.
    Raises ``ValueError`` for another estimate, a ``max_length`` below 2, a ``block_size`` below 1.
    """

    estimate: Estimate = "max"
    max_length: int = 2048
    block_size: int = 16

    def __post_init__(self) -> None:
        one_of("estimate", self.estimate, get_args(Estimate))
        checks.keep(self, checks.length, "max_length")
        checks.keep(self, checks.whole, "block_size")

    @property
    def unit_tokens(self) -> int:
        """Tokens of one block."""
        return self.block_size

    def units(self, server: Server) -> int:
        """Blocks in the server's cache. Raises ``ValueError`` if there is none."""
        return units_of("block_size", self.block_size, server)

    def reserved_tokens(self, prompt: IntArray, output: IntArray, cached: IntArray) -> IntArray:
        """Prompt and estimated output, at most ``max_length``."""
        if self.estimate == "max":
            expected = np.full_like(output, self.max_length)
        elif self.estimate == "pow2":
            expected = _next_power_of_two(output)
        else:
            expected = output
        reserved: IntArray = np.minimum(prompt + expected, self.max_length)
        return reserved

    def run_blocks(self, requests: Requests) -> IntArray:
        """Blocks of the run that each request takes."""
        prompt, output = requests.prompt_tokens, requests.output_tokens
        return self.units_held(self.reserved_tokens(prompt, output, prompt))

    def check(self, requests: Requests, server: Server) -> None:
        """Refuse requests that no empty cache could take, and prompts that no pass may hold."""
        refuse_longer(requests, self.max_length)
        refuse_first(
            self.run_blocks(requests),
            self.addresses(server).largest,
            "reserves a run of {0:,} blocks, but the largest run of an empty cache has {1:,}: "
            "lower max_length or enlarge the cache.",
        )
        refuse_long_prefills(requests, server)

    def pool(self, server: Server, requests: Requests) -> "Runs":
        """Return an empty cache's blocks."""
        return Runs(self.addresses(server), self.run_blocks(requests).tolist())

    @abstractmethod
    def units_held(self, tokens: IntArray) -> IntArray:
        """Blocks of the run that holds so many tokens."""

    @abstractmethod
    def addresses(self, server: Server) -> BuddyRuns | FirstFitRuns:
        """Return the blocks of an empty cache by number."""


class Buddy(Reserving):
    """Runs of a power of two of blocks, from a buddy allocator: what the paper gives Orca.

    No run is larger than ``max_length`` needs. See :class:`Reserving` for the settings.
    """

    def units_held(self, tokens: IntArray) -> IntArray:
        """Blocks of the run that holds so many tokens, rounded up to a power of two."""
        return _next_power_of_two(-(-tokens // self.block_size))

    def addresses(self, server: Server) -> BuddyRuns:
        """Return the runs of an empty cache."""
        largest = int(self.units_held(np.array(self.max_length)))
        return BuddyRuns(self.units(server), largest)


class FirstFit(Reserving):
    """Runs of as many blocks as needed, at the lowest address that fits.

    What remains of the buddy allocator without its rounding. See :class:`Reserving` for the
    settings.
    """

    def units_held(self, tokens: IntArray) -> IntArray:
        """Blocks of the run that holds so many tokens."""
        return -(-tokens // self.block_size)

    def addresses(self, server: Server) -> FirstFitRuns:
        """Return an empty cache: one hole."""
        return FirstFitRuns(self.units(server))


class Runs(Unshared):
    """Who has which run: ``held`` is a range of block numbers for each running request."""

    def __init__(self, addresses: BuddyRuns | FirstFitRuns, run_blocks: list[int]) -> None:
        self.addresses = addresses
        self.run_blocks = run_blocks
        self.held: dict[int, range] = {}

    @property
    def free(self) -> int:
        """Blocks that are free."""
        return self.addresses.free

    def take(self, group: int, tokens: int, q: int) -> bool:
        """Give a request its run, if there is one."""
        try:
            self.held[group] = self.addresses.take(self.run_blocks[group])
        except IndexError:
            return False
        return True

    def give_back(self, request: int, tokens: int, q: int) -> None:
        """Take back the run of a request."""
        self.addresses.give_back(self.held.pop(request))

    def grow(self, q: int, passes: int) -> int:
        """Everybody has room until its end."""
        return passes


def _next_power_of_two(numbers: IntArray) -> IntArray:
    # frexp(n - 1) has the bit length of n - 1 as its exponent, exactly below 2**53.
    exponents = np.frexp(np.asarray(numbers, np.float64) - 1)[1]
    return np.left_shift(np.int64(1), exponents.astype(np.int64))
