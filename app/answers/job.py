"""One answer in the making: its pieces of work in stages, and the atlas so far."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, product
from threading import Lock
from typing import Any

import kvsim

from ..results import atlas
from ..results.atlas_build import Drawn, assemble, jobs
from ..results.atlas_rows import Job as Place
from ..results.atlas_rows import Row
from .asked import REPLAYS, Asked, trace_bytes
from .rows import coarse_row, results_of, unknown_row, whole_row

ACTIVE = ("waiting", "running")
STAGES = ("coarse", "asked", "others")
COARSE, ASKED, OTHERS = range(len(STAGES))
MOST_TICKETS = 1000  # of one answer, so that none grows without bound
COARSE_RATES = 8
STEPS = 10  # versions of the atlas while the other positions are computed
Found = tuple[kvsim.Summary, kvsim.BindingLimits | None]
Result = tuple[kvsim.Setting | kvsim.Replay, kvsim.Summary, kvsim.BindingLimits | None]


@dataclass(eq=False)
class Task:
    """A piece of work: ``function(*arguments)`` in a worker, and ``settle`` for what it returns.

    ``name`` is what a row is kept under, for other answers; empty if it is of no use to them.
    """

    stage: int
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    settle: Callable[[Any], None]
    name: str = ""
    tries: int = 0


class AnswerJob:
    """An answer; ``Answering`` holds its lock while it changes one.

    Its pieces of work are: two rows at the position asked about, at a few rates, once; the same
    rows in full, and the results to keep; all other positions outward from there.
    """

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.identity = asked.identity
        self.state = "waiting"
        self.reason: str | None = None
        self.stage: int | None = None  # of the piece that was begun last
        # Its readers, and when each was last heard of.
        self.tickets: dict[str, float] = {}
        self.results: dict[str, Result] = {}
        self.version = 0
        self.done = 0
        self.started = 0  # pieces, by which answers take turns
        self.in_flight = 0
        self._rows: dict[Place, Row] = {}
        self._atlas: tuple[int, bytes] = (0, b"")
        self._assembling = Lock()
        self._places = jobs(asked.plan)
        self.pending = sorted(self._tasks(), key=lambda task: task.stage)
        self.total = len(self.pending)

    @property
    def active(self) -> bool:
        """Whether there is still something to compute."""
        return self.state in ACTIVE

    def hear(self, ticket: str, now_s: float) -> None:
        """Note that a reader asks about it."""
        self.tickets.pop(ticket, None)
        self.tickets[ticket] = now_s
        while len(self.tickets) > MOST_TICKETS:
            self.tickets.pop(next(iter(self.tickets)))

    def status(self, ticket: str) -> dict[str, Any]:
        """Return what a reader is told."""
        asked = self.asked
        return {
            "job": self.identity,
            "ticket": ticket,
            "state": self.state,
            "stage": STAGES[self.stage] if self.active and self.stage is not None else None,
            "done": self.done,
            "total": self.total,
            "version": self.version,
            "reason": self.reason,
            "title": asked.title,
            "axes": asked.plan.axes,
            "position": asked.position,
            "notes": asked.notes,
            "replications": asked.plan.replications,
            "results": self.records() or None,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return the results to keep, when those of both allocations are there."""
        if len(self.results) < len(self.asked.allocations):
            return []
        return [
            {"kind": kind} | kvsim.record(*self.results[kind]) for kind in self.asked.allocations
        ]

    def finish(self, state: str, reason: str | None = None) -> None:
        """End it; what is there stays."""
        self.state, self.reason = state, reason
        self.pending.clear()
        self.tickets.clear()

    @property
    def size_bytes(self) -> int:
        """Bytes of what is held, beside the atlas."""
        rows = sum(row_bytes(row) for row in self._rows.values())
        return rows + (trace_bytes(self.asked.trace) if self.asked.trace else 0) + 10_000

    def forget_rows(self) -> None:
        """Let go of what the atlas was made of, once it is finished."""
        self._rows.clear()

    def atlas(self) -> tuple[int, bytes]:
        """Return the atlas so far with its version; takes a while, and needs no lock."""
        with self._assembling:
            if self._atlas[0] < self.version:
                version, rows = self.version, dict(self._rows)
                plan = self.asked.plan
                unknown = unknown_row(len(plan.axes["rate"]))
                every = dict.fromkeys(chain(*self._places.values()), unknown) | rows
                made = assemble(plan, every, self.identity)
                self._atlas = version, atlas.to_bytes(made)
            return self._atlas

    def _tasks(self) -> Iterator[Task]:
        asked, plan = self.asked, self.asked.plan
        rates = plan.axes["rate"]
        outward = self._outward()
        here = {places[0] for places in outward}
        for place in (places[0] for places in outward):
            arguments = (plan.server, *place, rates, _some(rates, asked.position["rate"]))
            yield Task(
                COARSE, coarse_row, (*arguments, plan.saturated_requests), self._settler(place)
            )
        results = [
            Task(ASKED, results_of, (setting,), self._results_settler(kind, setting))
            for kind, setting in self._settings().items()
        ]
        if asked.trace is None:
            yield from results
        for place in dict.fromkeys(_merged(outward)):
            yield Task(
                ASKED if place in here else OTHERS,
                whole_row,
                (plan.server, *place, rates, plan.replications, plan.saturated_requests),
                self._settler(place),
                self._name(place),
            )
        if asked.trace is not None:  # which may take longer than the curves
            yield from results

    def _outward(self) -> list[list[Place]]:
        """Return the places of each kind, those nearest to the position first; paged come first."""
        axes, at = self.asked.plan.axes, self.asked.position

        def steps(*names: str) -> list[int]:
            here = [axes[name].index(at[name]) for name in names]
            indices = product(*(range(len(axes[name])) for name in names))
            return [
                sum(abs(one - other) for one, other in zip(each, here, strict=True))
                for each in indices
            ]

        distances = {
            "paged": steps("block_overhead", "block_size", "max_length"),
            "contiguous": steps("reservation", "max_length"),
        }
        return [
            [
                place
                for _, place in sorted(
                    zip(far, self._places[kind], strict=True), key=lambda each: each[0]
                )
            ]
            for kind, far in distances.items()
        ]

    def _settings(self) -> Mapping[str, kvsim.Setting | kvsim.Replay]:
        """Return the settings whose results are to be kept, by kind of allocation."""
        asked, at = self.asked, self.asked.position
        if asked.trace is not None:
            rate = at["rate"] if asked.replay == REPLAYS[0] else None
            return {
                kind: kvsim.Replay(
                    asked.trace, asked.plan.server, each, at["max_length"], rate, asked.limits
                )
                for kind, each in asked.allocations.items()
            }
        return {
            kind: kvsim.Setting(
                asked.plan.server,
                each,
                asked.lengths,
                at["rate"],
                asked.plan.replications,
                limits=asked.limits,
            )
            for kind, each in asked.allocations.items()
        }

    def _settler(self, place: Place) -> Callable[[Row], None]:
        def settle(row: Row) -> None:
            self._rows[place] = row
            if self.stage != OTHERS or self.done % max(1, self.total // STEPS) == 0:
                self.version += 1

        return settle

    def _results_settler(
        self, kind: str, setting: kvsim.Setting | kvsim.Replay
    ) -> Callable[[Found], None]:
        def settle(found: Found) -> None:
            self.results[kind] = (setting, *found)

        return settle

    def _name(self, place: Place) -> str:
        plan = self.asked.plan
        lengths: Drawn | str | kvsim.Lengths = place[1]
        if self.asked.trace is not None:
            lengths = f"{self.asked.trace.digest} {place[1].max_length}"
        parts = (plan.server, place[0], lengths, plan.axes["rate"], plan.replications)
        whole = repr((*parts, plan.saturated_requests))
        return hashlib.sha256(whole.encode()).hexdigest()


def _some(rates: list[float], asked: float) -> list[float]:
    """Return a few of the rates: evenly spread, with the one asked about."""
    few, last = min(COARSE_RATES, len(rates)), len(rates) - 1
    return sorted({*(rates[round(n * last / max(few - 1, 1))] for n in range(few)), asked})


def _merged(lists: list[list[Place]]) -> Iterator[Place]:
    """Take from each list in proportion to its length, so that all end together."""
    keyed = (((rank + 0.5) / len(each), place) for each in lists for rank, place in enumerate(each))
    return (place for _, place in sorted(keyed, key=lambda each: each[0]))


def row_bytes(row: Row) -> int:
    """Bytes of a row, roughly."""
    return sum(cell.running.nbytes + cell.decoded.nbytes + 500 for cell in row.cells)
