"""Where every token lies: a run replayed by an allocator that hands out addresses.

The engine counts units (only a run of neighbours has to be a real one there). Here all are real, so
that a drawing can show which blocks are whose. The units of a stay never move and only ever grow
in number, so one list for each stay tells where it lies in every pass.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kvsim.kinds import of_kind
from kvsim.timeline import Timeline
from kvsim.workload import IntArray

# What happens within a pass, in this order; the same things in order of admission.
_GROW, _EVICT, _ADMIT, _END = range(4)


@dataclass(frozen=True)
class Place:
    """What one running request has of the cache in a pass."""

    request: int
    units: Sequence[int]  # numbers of its blocks, or of its slot, in the order of its tokens
    prompt_tokens: int
    cached_tokens: int  # when the pass ends
    reserved_tokens: int  # that it holds memory for, the cached ones among them


class Placement:
    """The places of all requests of a run, in every pass; made by replaying its stays once.

    ``units`` are those of each stay in its last pass, in the order of its tokens: a ``range``
    where they are neighbours. ``scattered`` says of each pass whether the head of the queue waits
    although enough units are free, because they do not lie together.
    """

    def __init__(self, timeline: Timeline) -> None:
        of_kind("timeline", timeline, Timeline)
        if np.any(timeline.allocation.saved_units(timeline.requests, timeline.stays)):
            raise ValueError(
                "In this run several requests hold the same blocks, and a placement has one owner "
                "for each: use sharing='off', or kvsim.BlockTables for tables that share."
            )
        self.timeline = timeline
        stays = timeline.stays
        self.units: list[Sequence[int]] = [()] * len(stays.request)
        self.scattered = self._replay()

    def at(self, q: int) -> list[Place]:
        """Return the place of each request in pass ``q``, oldest admission first.

        Raises ``IndexError`` if there is no such pass.
        """
        if not 0 <= q < self.timeline.passes:
            raise IndexError(f"There is no pass {q}: this run has {self.timeline.passes}.")
        stays, requests = self.timeline.stays, self.timeline.requests
        here = np.flatnonzero(stays.running_in(q))
        cached = stays.tokens_in(q)[here]
        reserved, units = self.timeline.held(here, cached)
        numbers = stays.request[here]
        return [
            Place(request, self.units[stay][:held], prompt, tokens, tokens_reserved)
            for stay, request, held, prompt, tokens, tokens_reserved in zip(
                here.tolist(),
                numbers.tolist(),
                units.tolist(),
                requests.prompt_tokens[numbers].tolist(),
                cached.tolist(),
                reserved.tolist(),
                strict=True,
            )
        ]

    def _replay(self) -> NDArray[np.bool_]:
        """Take and give back addresses as the run did; return ``scattered``."""
        timeline = self.timeline
        stays = timeline.stays
        addresses = timeline.allocation.addresses(timeline.server)
        first_units = self.timeline.held(np.arange(len(self.units)), stays.first_tokens)[1].tolist()
        evicted: dict[int, list[int]] = {}
        for stay in np.flatnonzero(stays.evicted).tolist():
            evicted.setdefault(int(stays.last_pass[stay]) + 1, []).append(stay)
        growing: dict[int, list[int]] = {}
        changes: list[tuple[int, int, bool]] = []  # from this pass, this stay next, scattered

        head = 0
        for q, what, stay in self._events():
            if what == _GROW:
                # Blocks are short: the newest goes, as often as it takes.
                while not addresses.fits(1):
                    addresses.give_back(self.units[evicted[q].pop()])
                if stay not in growing:
                    self.units[stay] = growing[stay] = list(self.units[stay])
                growing[stay] += addresses.take(1)
            elif what == _EVICT:
                if evicted[q]:
                    addresses.give_back(self.units[evicted[q].pop()])
            elif what == _ADMIT:
                self.units[stay] = addresses.take(first_units[stay])
                head = stay + 1
            else:
                addresses.give_back(self.units[stay])
            if what >= _ADMIT and head < len(first_units):
                wanted = first_units[head]
                scattered = wanted <= addresses.free and not addresses.fits(wanted)
                changes.append((q + (what == _END), head, scattered))
        return self._scattered_in_each_pass(changes)

    def _events(self) -> list[tuple[int, int, int]]:
        """List all pass numbers, what happens, and to which stay, in the order of happening."""
        stays = self.timeline.stays
        everyone = np.arange(len(stays.request))
        grow_q, grow_stay = self._growth()
        evicted, ended = everyone[stays.evicted], everyone[~stays.evicted]
        parts = [
            (grow_q, _GROW, grow_stay),
            (stays.last_pass[evicted] + 1, _EVICT, evicted),
            (stays.first_pass, _ADMIT, everyone),
            (stays.last_pass[ended], _END, ended),
        ]
        q = np.concatenate([part[0] for part in parts])
        what = np.repeat([part[1] for part in parts], [len(part[0]) for part in parts])
        stay = np.concatenate([part[2] for part in parts])
        order = np.lexsort((stay, what, q))
        return list(zip(*(each[order].tolist() for each in (q, what, stay)), strict=True))

    def _growth(self) -> tuple[IntArray, IntArray]:
        """Return the pass and the stay of every unit that is taken after admission."""
        stay, q, cached = self.timeline.stays.rows()
        units = self.timeline.held(stay, cached)[1]
        grew = np.flatnonzero((np.diff(units) > 0) & (np.diff(stay) == 0)) + 1
        return q[grew], stay[grew]

    def _scattered_in_each_pass(self, changes: list[tuple[int, int, bool]]) -> NDArray[np.bool_]:
        timeline = self.timeline
        if not changes:
            return np.zeros(timeline.passes, bool)
        since, head, scattered = (np.array(column) for column in zip(*changes, strict=True))
        latest = np.zeros(timeline.passes, np.int64)
        # Of several changes before a pass the last one counts; after the last pass none does.
        latest[since[since < timeline.passes]] = np.flatnonzero(since < timeline.passes)
        latest = np.maximum.accumulate(latest)
        arrival_s = timeline.requests.arrival_s[timeline.stays.request[head]]
        waits: NDArray[np.bool_] = scattered[latest] & (
            arrival_s[latest] <= timeline.pass_log.start_s
        )
        return waits
