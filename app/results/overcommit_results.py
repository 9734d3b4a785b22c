"""What pre-emption does past the sustained rate: figures of many settings, and a minute to draw.

Everything that is counted is of the first minute of traffic, but for the percentiles: they are of
all requests that arrive in it, also of those that end later.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kvsim
from kvsim.paper import figure_19
from kvsim.traffic import PLATE_DURATION_S, PLATE_SEED

from .. import allocations
from ..allocations import SERVER
from ..sections.controls import Overcommit
from .container import pack, read_current, write_whole
from .fingerprint import fingerprint

REPLICATIONS = 4
LENGTHS = allocations.lengths("exponential", 8192)
# What is drawn is kept in whole numbers of these.
EVICTED_TICK_S, AWAY_TICK_S, COST_TICK_S, MOVED_TICK_BYTES = 1e-2, 1e-3, 1e-4, 1e5
HELD_TICK = 1e-4  # of all blocks
POINTS_S = np.arange(PLATE_DURATION_S + 1)
WAYS = ("recompute", "swap", "charged")  # a swap with the derived charge for each block
AXES: dict[str, Sequence[Any]] = {
    "way": WAYS,
    "watermark": Overcommit.param["watermark"].objects,  # per cent
    "overcommit_block_size": Overcommit.param["overcommit_block_size"].objects,
    "overcommit_rate": Overcommit.param["overcommit_rate"].objects,
}
# The roots of what the results depend on in kvsim; see fingerprint.
ROOTS = ("engine", "preempting", "summary", "traffic")

Setting = tuple[kvsim.Server, kvsim.Paged, int]
Position = tuple[int, int, int, int]  # on each of the axes


@dataclass(frozen=True, eq=False)
class OvercommitResults:
    """What the file holds; see :func:`to_bytes`."""

    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]

    def axis(self, name: str) -> list[Any]:
        """Return the values of an axis."""
        values: list[Any] = self.header["axes"][name]
        return values

    def position(self, settings: Overcommit, **others: Any) -> Position:
        """Return where some settings stand on the axes; ``others`` go over them."""
        chosen = {name: getattr(settings, name) for name in Overcommit.param if name != "name"}
        chosen |= others
        swap = "charged" if chosen["copy_charge"] else "swap"
        chosen["way"] = swap if chosen["preemption"] == "swap" else "recompute"
        way, watermark, size, rate = (self.axis(name).index(chosen[name]) for name in AXES)
        return way, watermark, size, rate

    def events(self, position: Position) -> dict[str, NDArray[np.int64]]:
        """Return the pre-emptions to be drawn at a position, in ticks."""
        shape = [len(self.axis(name)) for name in AXES]
        number = int(np.ravel_multi_index(position, shape))
        ends = self.arrays["event_ends"]
        here = slice(int(ends[number - 1]) if number else 0, int(ends[number]))
        found: dict[str, NDArray[np.int64]] = {}
        for name in ("evicted_steps", "request_steps", "away", "recomputed", "moved", "cost"):
            column = self.arrays[f"event_{name}"][here].astype(np.int64)
            if name.endswith("_steps"):
                found[name.removesuffix("_steps")] = np.cumsum(column)
            else:
                found[name] = column
        return found

    def value(self, name: str, position: Position, *more: int) -> float:
        """Return one figure at a position."""
        return float(self.arrays[name][(*position, *more)])


def settings(axes: dict[str, Sequence[Any]]) -> Iterator[Setting]:
    """Yield the server, the allocation and the rate of each position, in the order of the axes."""
    charged = figure_19.charged(SERVER)
    for way, watermark, size, rate in product(*axes.values()):
        server, preemption = SERVER, way
        if way == "charged":
            server, preemption = charged, "swap"
        yield server, kvsim.Paged(size, preemption=preemption, watermark=watermark / 100), rate


def current_fingerprint(axes: dict[str, Sequence[Any]] = AXES) -> str:
    """Fingerprint of a file that this code would build now."""
    simulated = [repr(each) for each in settings(axes)]
    constants = [REPLICATIONS, PLATE_DURATION_S, PLATE_SEED, repr(LENGTHS), repr(POINTS_S.tolist())]
    return fingerprint({"simulated": simulated, "constants": constants}, ROOTS)


def runs(setting: Setting, replications: int = REPLICATIONS) -> list[kvsim.Timeline]:
    """Simulate a setting."""
    server, allocation, rate = setting
    return [
        kvsim.simulate(
            kvsim.Traffic(LENGTHS, replication=each).during(PLATE_DURATION_S, rate),
            server,
            allocation,
        )
        for each in range(replications)
    ]


def figures(timelines: Sequence[kvsim.Timeline]) -> dict[str, NDArray[np.float64]]:
    """Return the figures of one setting.

    ``ttft``, ``tpot`` and ``latency``: percentiles 50, 90 and 99 in seconds, of the requests of all
    runs. Means over runs: ``preemptions``, ``preempted`` (requests), ``recomputed`` (tokens),
    ``moved`` (bytes) and ``lost`` (seconds), and ``running``, requests on average over the minute.
    ``peak`` is the most that ran at once in any run.
    """
    summary = kvsim.summarise(timelines)
    counted = [_counted(timeline) for timeline in timelines]
    spread = {
        name: np.array([each.p50, each.p90, each.p99])
        for name, each in (
            ("ttft", summary.ttft_s),
            ("tpot", summary.tpot_s),
            ("latency", summary.latency_s),
        )
    }
    means = {name: np.mean([each[name] for each in counted]) for name in counted[0]}
    return {**spread, **means, "peak": np.max([each["peak"] for each in counted])}


def _counted(timeline: kvsim.Timeline) -> dict[str, float]:
    found = in_the_minute(timeline)
    log = timeline.pass_log
    seconds = log.end_s.clip(max=PLATE_DURATION_S) - log.start_s.clip(max=PLATE_DURATION_S)
    return {
        "preemptions": len(found),
        "preempted": len(np.unique(found.request)),
        "recomputed": float(found.recomputed_tokens.sum()),
        "moved": float(found.moved_bytes.sum()),
        "lost": float(found.cost_s.sum()),
        "running": float(seconds @ log.batch) / PLATE_DURATION_S,
        "peak": int(log.batch[log.start_s < PLATE_DURATION_S].max()),
    }


def in_the_minute(timeline: kvsim.Timeline) -> kvsim.Preemptions:
    """Return the pre-emptions of a run while its requests arrive."""
    found = kvsim.preemptions(timeline)
    counted = found.evicted_s < PLATE_DURATION_S
    return kvsim.Preemptions(**{name: column[counted] for name, column in vars(found).items()})


def held(timeline: kvsim.Timeline) -> NDArray[np.int64]:
    """Blocks in use at each of ``POINTS_S``, as a share of all, in ticks."""
    allocation, server = timeline.allocation, timeline.server
    under_way = [timeline.pass_at(each) for each in POINTS_S.tolist()]
    tokens = [0 if q is None else int(timeline.held_tokens[q]) for q in under_way]
    all_tokens = allocation.units(server) * allocation.unit_tokens
    return np.rint(np.array(tokens) / all_tokens / HELD_TICK).astype(np.int64)


def drawn(timeline: kvsim.Timeline) -> dict[str, NDArray[np.int64]]:
    """Return the pre-emptions of the minute, in ticks; times and requests as differences."""
    found = in_the_minute(timeline)
    evicted = np.rint(found.evicted_s / EVICTED_TICK_S).astype(np.int64)
    columns = {
        "evicted_steps": np.diff(evicted, prepend=0),
        "request_steps": np.diff(found.request, prepend=0),
        "away": (found.returned_s - found.evicted_s) / AWAY_TICK_S,
        "recomputed": found.recomputed_tokens,
        "moved": found.moved_bytes / MOVED_TICK_BYTES,
        "cost": found.cost_s / COST_TICK_S,
    }
    return {name: np.rint(column).astype(np.int64) for name, column in columns.items()}


def to_bytes(axes: dict[str, Sequence[Any]] = AXES) -> bytes:
    """Simulate every position, and put all into one file.

    Figures have the four axes; the percentiles a last one of three. ``held`` has a last axis of
    points in time. The pre-emptions of all positions stand in a row; those of position n, in the
    order of the axes, end before ``event_ends[n]``.
    """
    found, minutes, points = [], [], []
    for setting in settings(axes):
        timelines = runs(setting)
        found.append(figures(timelines))
        minutes.append(drawn(timelines[0]))
        points.append(held(timelines[0]))
    shape = tuple(len(axis) for axis in axes.values())
    arrays: dict[str, NDArray[Any]] = {
        name: np.array([each[name] for each in found], np.float32).reshape(
            *shape, *np.shape(found[0][name])
        )
        for name in found[0]
    }
    arrays["held"] = _whole(np.array(points), np.uint16).reshape(*shape, -1)
    arrays["event_ends"] = np.cumsum([len(each["away"]) for each in minutes]).astype(np.uint32)
    for name in minutes[0]:
        dtype = np.int16 if name == "request_steps" else np.uint16
        arrays[f"event_{name}"] = _whole(np.concatenate([each[name] for each in minutes]), dtype)
    header = {
        "fingerprint": current_fingerprint(axes),
        "axes": {name: list(axis) for name, axis in axes.items()},
        "replications": REPLICATIONS,
        "duration_s": PLATE_DURATION_S,
        "evicted_tick_s": EVICTED_TICK_S,
        "away_tick_s": AWAY_TICK_S,
        "cost_tick_s": COST_TICK_S,
        "moved_tick_bytes": MOVED_TICK_BYTES,
        "held_tick": HELD_TICK,
        "blocks": [SERVER.capacity_tokens // size for size in axes["overcommit_block_size"]],
    }
    return pack(header, arrays)


def _whole(values: NDArray[np.int64], dtype: type[np.integer[Any]]) -> NDArray[Any]:
    """Narrow whole numbers. Raises ``OverflowError`` if one does not fit."""
    if len(values) and (values.min() < np.iinfo(dtype).min or values.max() > np.iinfo(dtype).max):
        raise OverflowError(f"{values.min()} to {values.max()} do not fit {dtype.__name__}")
    return values.astype(dtype)


def build(path: Path) -> None:
    """Write the results to ``path``, whole or not at all."""
    write_whole(path, to_bytes())


def load(path: Path) -> OvercommitResults:
    """Read the file. Raises ``ResultsError`` if it is missing, damaged, or of other model code."""
    return OvercommitResults(*read_current(path, current_fingerprint()))
