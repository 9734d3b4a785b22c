"""Where in the cache: units handed out by number, so that it can be said who lies where.

A cache's units (slots or blocks) are numbered from 0 in order of address. What is handed out lists
the units of a request in the order of its tokens: any of them where the cache is paged, a run of
neighbours (a ``range``) where memory must be contiguous.
"""

from bisect import bisect
from collections.abc import Sequence
from operator import sub
from typing import Protocol


class Addresses(Protocol):
    """The units of one cache, each free or handed out once."""

    @property
    def free(self) -> int:
        """Units that are free."""

    def fits(self, units: int) -> bool:
        """Whether so many units could be handed out now."""

    def take(self, units: int) -> Sequence[int]:
        """Hand out so many units. Raises ``IndexError``, changing nothing, if they do not fit."""

    def give_back(self, taken: Sequence[int]) -> None:
        """Take back units that were handed out."""


class FreeList:
    """Units that are all alike: the one given back last is handed out first.

    A fresh list hands them out in order. Units come back last first, so that the next request
    finds them in the order in which the one before used them.
    """

    def __init__(self, units: int) -> None:
        self._free = list(range(units))[::-1]

    @property
    def free(self) -> int:
        """Units that are free."""
        return len(self._free)

    def fits(self, units: int) -> bool:
        """Whether so many are free: any of them serve."""
        return units <= len(self._free)

    def take(self, units: int) -> list[int]:
        """Hand out so many units, wherever they lie."""
        if units > len(self._free):
            raise IndexError(f"{units} units wanted, {len(self._free)} free.")
        return [self._free.pop() for _ in range(units)]

    def give_back(self, taken: Sequence[int]) -> None:
        """Put units back on top of the list."""
        self._free.extend(reversed(taken))


class BuddyRuns:
    """Runs of a power of two of units: the buddy allocator of the paper's Orca baseline.

    A run of ``2**k`` units starts at a multiple of its size, and its buddy is the other half of
    the run twice as large. The smallest sufficient free run is taken, of those the one freed last,
    and halved until it is no larger than needed (the lower half is used); a run that comes back is
    merged with its buddy, again and again, while that is free. A fresh pool is cut from address 0
    into as many runs of ``largest`` as there are, and then the powers of two that are left.
    """

    def __init__(self, units: int, largest: int) -> None:
        self.free = units
        self.largest = min(largest, 1 << units.bit_length() - 1)  # that there is
        # Size -> starts of the free runs, last freed last. A dict keeps that order, and lets go
        # of a buddy from the middle of it.
        self._starts: dict[int, dict[int, None]] = {
            1 << k: {} for k in range(self.largest.bit_length())
        }
        for start in reversed(range(0, units - self.largest + 1, self.largest)):
            self._starts[self.largest][start] = None
        for size in self._starts:
            if size < self.largest and units & size:
                self._starts[size][units & -2 * size] = None

    def runs(self) -> list[range]:
        """Free runs, in order of address."""
        return sorted(
            (
                range(start, start + size)
                for size, starts in self._starts.items()
                for start in starts
            ),
            key=lambda run: run.start,
        )

    def fits(self, units: int) -> bool:
        """Whether a free run is large enough."""
        return any(starts and size >= units for size, starts in self._starts.items())

    def take(self, units: int) -> range:
        """Hand out a run of ``units``, which must be a power of two."""
        for size, starts in self._starts.items():
            if size >= units and starts:
                start, _ = starts.popitem()
                break
        else:
            raise IndexError(f"No free run of {units} units.")
        while size > units:
            size //= 2
            self._starts[size][start + size] = None
        self.free -= units
        return range(start, start + units)

    def give_back(self, taken: Sequence[int]) -> None:
        """Free a run, and merge it with its buddy while that is free too."""
        start, size = taken[0], len(taken)
        self.free += size
        while size < self.largest and start ^ size in self._starts[size]:
            del self._starts[size][start ^ size]
            start &= ~size
            size *= 2
        self._starts[size][start] = None


class FirstFitRuns:
    """Runs of any length: the lowest address that fits, and free neighbours are one hole."""

    def __init__(self, units: int) -> None:
        self.free = self.largest = units
        self._starts, self._stops = [0], [units]  # of the holes, in order of address

    def runs(self) -> list[range]:
        """Free runs, in order of address."""
        return list(map(range, self._starts, self._stops))

    def fits(self, units: int) -> bool:
        """Whether a hole is large enough."""
        return self._hole(units) is not None

    def _hole(self, units: int) -> int | None:
        """Return the place in the list of the lowest hole that is large enough."""
        for hole, size in enumerate(map(sub, self._stops, self._starts)):
            if size >= units:
                return hole
        return None

    def take(self, units: int) -> range:
        """Hand out the lowest run of ``units``."""
        hole = self._hole(units)
        if hole is None:
            raise IndexError(f"No hole of {units} units.")
        start = self._starts[hole]
        if self._stops[hole] == start + units:
            del self._starts[hole], self._stops[hole]
        else:
            self._starts[hole] += units
        self.free -= units
        return range(start, start + units)

    def give_back(self, taken: Sequence[int]) -> None:
        """Free a run, and join it with the holes beside it."""
        start, stop = taken[0], taken[-1] + 1
        self.free += stop - start
        hole = bisect(self._starts, start)  # the one after it
        if hole < len(self._starts) and self._starts[hole] == stop:
            stop = self._stops[hole]
            del self._starts[hole], self._stops[hole]
        if hole and self._stops[hole - 1] == start:
            self._stops[hole - 1] = stop
        else:
            self._starts.insert(hole, start)
            self._stops.insert(hole, stop)
