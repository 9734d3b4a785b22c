"""Films: how the caches fill and empty through the first minute of traffic.

A film is a few numbers for each stay of a request in the cache, and a clock: from them static/
replays any pass. The page keeps those of its own workload at about every other rate, in one file;
a server makes all others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kvsim
from kvsim.reserving import Reserving
from kvsim.traffic import PLATE_DURATION_S

from .. import allocations
from ..allocations import SERVER
from .atlas_build import AXES, PLANS
from .atlas_rows import Job
from .container import pack, write_whole

TICK_S = 1e-3  # of the clock that is stored
CLOCK_TOLERANCE_S = 0.01  # besides rounding to ticks; a screen shows a frame for longer
Axes = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Film:
    """One run until ``PLATE_DURATION_S``, in order of admission.

    ``request`` and ``first_pass`` of each stay; ``evicted`` are the stays that end in pre-emption
    and ``evicted_pass`` their last passes, all others last until their request ends.
    ``clock_pass`` and ``clock_tick`` are the corners of a line: so many passes have ended or, in
    part, gone by at that time. The line is level while the server is idle.

    By that line a request may seem to be there for another pass than it was: for those,
    ``seen_request``, ``seen_pass`` is the first pass that begins with the request there.

    Where requests reserve runs of blocks, ``run_start`` and ``run_blocks`` say which blocks each
    stay has, and ``reserved`` for how many tokens; elsewhere these are empty. ``scattered`` are
    first passes and passes after the last, by turns, in which the head of the queue waits although
    enough blocks are free: no hole is large enough.
    """

    request: NDArray[np.int64]
    first_pass: NDArray[np.int64]
    evicted: NDArray[np.int64]
    evicted_pass: NDArray[np.int64]
    clock_pass: NDArray[np.int64]
    clock_tick: NDArray[np.int64]
    seen_request: NDArray[np.int64]
    seen_pass: NDArray[np.int64]
    run_start: NDArray[np.int64]
    run_blocks: NDArray[np.int64]
    reserved: NDArray[np.int64]
    scattered: NDArray[np.int64]


def film_of(timeline: kvsim.Timeline, duration_s: float = PLATE_DURATION_S) -> Film:
    """Cut a film from a run: the passes that start within ``duration_s``."""
    log, stays = timeline.pass_log, timeline.stays
    passes = int(np.searchsorted(log.start_s, duration_s))
    seen = np.flatnonzero(stays.first_pass < passes)
    evicted = seen[stays.evicted[seen] & (stays.last_pass[seen] < passes)]
    corners = _simplified(*_progress(log.start_s[:passes], log.end_s[:passes]))
    return Film(
        stays.request[seen],
        stays.first_pass[seen],
        evicted,
        stays.last_pass[evicted],
        *corners,
        *_seen(timeline.requests.arrival_s, log.start_s[:passes], *corners),
        *_runs(timeline, seen, passes),
    )


def _seen(
    arrival_s: NDArray[np.float64],
    start_s: NDArray[np.float64],
    clock_pass: NDArray[np.int64],
    clock_tick: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the requests, and their passes, that the clock would have wrong."""
    first = np.searchsorted(start_s, arrival_s)
    by_clock = np.searchsorted(_clock_s(np.arange(len(start_s)), clock_pass, clock_tick), arrival_s)
    wrong = np.flatnonzero(first != by_clock)
    return wrong, first[wrong]


def _clock_s(
    q: NDArray[np.int64], clock_pass: NDArray[np.int64], clock_tick: NDArray[np.int64]
) -> NDArray[np.float64]:
    """When passes begin by the clock, in the very arithmetic of static/replay.js."""
    corner = (np.searchsorted(clock_pass, q, side="right") - 1).clip(max=len(clock_pass) - 2)
    passes = clock_pass[corner + 1] - clock_pass[corner]
    ticks = clock_tick[corner + 1] - clock_tick[corner]
    share = (q - clock_pass[corner]) / np.maximum(passes, 1)
    time_s: NDArray[np.float64] = (clock_tick[corner] + share * ticks) * TICK_S
    return time_s


def _runs(
    timeline: kvsim.Timeline, seen: NDArray[np.int64], passes: int
) -> tuple[NDArray[np.int64], ...]:
    """Return ``run_start``, ``run_blocks``, ``reserved`` and ``scattered`` of a film."""
    if not isinstance(timeline.allocation, Reserving):
        return (np.zeros(0, np.int64),) * 4
    placement = kvsim.Placement(timeline)
    reserved, blocks = timeline.held(seen, timeline.stays.first_tokens[seen])
    starts = np.array([placement.units[stay][0] for stay in seen.tolist()], np.int64)
    scattered = np.diff(placement.scattered[:passes].astype(np.int8), prepend=0, append=0)
    return starts, blocks, reserved, np.flatnonzero(scattered)


def _progress(
    start_s: NDArray[np.float64], end_s: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the clock's line in full: both ends of every pass, in passes and ticks."""
    count = np.repeat(np.arange(len(start_s) + 1), 2)[1:-1]
    ticks = np.rint(np.column_stack([start_s, end_s]).ravel() / TICK_S).astype(np.int64)
    kept = np.append(True, (np.diff(ticks) > 0) | (np.diff(count) > 0))
    return count[kept], ticks[kept]


def _simplified(
    count: NDArray[np.int64], ticks: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Leave out corners, but the last two, whose absence moves no pass beyond the tolerance."""
    slack = CLOCK_TOLERANCE_S / TICK_S
    points = list(zip(count.tolist(), ticks.tolist(), strict=True))
    kept = points[:1]
    slowest, fastest = 0.0, np.inf  # ticks a pass of lines that pass by all points since
    for (passes, tick), following in zip(points[1:], [*points[2:-1], None, None], strict=True):
        since, start = kept[-1]
        steps = passes - since
        if steps == 0:  # idle until here: a corner of its own
            kept.append((passes, tick))
            slowest, fastest = 0.0, np.inf
            continue
        slope = (tick - start) / steps
        slowest = max(slowest, slope - slack / steps)
        fastest = min(fastest, slope + slack / steps)
        if following is None or following[0] == passes:
            corner = True
        else:
            next_slope = (following[1] - start) / (following[0] - since)
            corner = not slowest <= next_slope <= fastest
        if corner:
            kept.append((passes, tick))
            slowest, fastest = 0.0, np.inf
    passes_kept, ticks_kept = np.array(kept).T
    return passes_kept, ticks_kept


@dataclass(frozen=True)
class FilmSet:
    """The films of all positions of some ``axes``, of one workload; equal ones are kept once.

    ``numbers`` has the number of the film of each position: for ``contiguous`` by (reservation,
    max_length, rate), for ``paged`` by (block_overhead, block_size, max_length, rate).
    """

    axes: Axes
    numbers: dict[str, NDArray[np.uint16]]
    films: tuple[Film, ...]


# So many that the file stays about as small as the atlas.
KEPT: Axes = {
    **AXES,
    "workload": ["exponential"],
    "reservation": ["slots"],
    "block_overhead": [0.0],
    "rate": [1, *range(2, 41, 2)],
}


def make_films(axes: Axes) -> FilmSet:
    """Simulate the first replication at each position; ``axes`` name one workload."""
    (workload,) = axes["workload"]
    lengths = [allocations.lengths(workload, each) for each in axes["max_length"]]
    rates = axes["rate"]
    contiguous = [
        (allocations.contiguous(reservation, each.max_length), each)
        for reservation, each in product(axes["reservation"], lengths)
    ]
    paged = [
        (allocations.paged(size, overhead), each)
        for overhead, size, each in product(axes["block_overhead"], axes["block_size"], lengths)
    ]
    films: list[Film] = []
    known: dict[tuple[bytes, ...], int] = {}

    def numbers_of(positions: Sequence[Job], *names: str) -> NDArray[np.uint16]:
        numbers = []
        for position, rate in product(positions, rates):
            film = film_at(*position, rate)
            content = tuple(column.tobytes() for column in vars(film).values())
            numbers.append(known.setdefault(content, len(films)))
            if numbers[-1] == len(films):
                films.append(film)
        return np.array(numbers, np.uint16).reshape([len(axes[name]) for name in names])

    return FilmSet(
        axes,
        {
            "contiguous": numbers_of(contiguous, "reservation", "max_length", "rate"),
            "paged": numbers_of(paged, "block_overhead", "block_size", "max_length", "rate"),
        },
        tuple(films),
    )


def film_at(allocation: kvsim.Allocation, lengths: kvsim.Lengths, rate_per_s: float) -> Film:
    """Cut the film of one position."""
    requests = kvsim.Traffic(lengths).during(PLATE_DURATION_S, rate_per_s)
    return film_of(kvsim.simulate(requests, SERVER, allocation))


def to_bytes(films: FilmSet) -> bytes:
    """Put films into one file, with the requests they show.

    Columns hold neighbours' differences: they are small, so the file is.
    """
    arrays: dict[str, NDArray[Any]] = {
        f"{kind}_film": numbers for kind, numbers in films.numbers.items()
    }
    for name, dtype in (
        ("request", np.int16),
        ("first_pass", np.uint16),
        ("evicted", np.uint16),
        ("evicted_pass", np.int32),
        ("clock_pass", np.uint16),
        ("clock_tick", np.uint32),
        ("seen_request", np.uint16),
        ("seen_pass", np.int32),
        ("run_start", np.int32),
        ("run_blocks", np.int32),
        ("reserved", np.int32),
        ("scattered", np.int32),
    ):
        columns = [np.diff(getattr(film, name), prepend=0) for film in films.films]
        arrays[f"{name}_steps"] = np.concatenate(columns).astype(dtype)
    for name in ("request", "evicted", "clock_pass", "seen_request", "run_start", "scattered"):
        ends = np.cumsum([len(getattr(film, name)) for film in films.films])
        arrays[f"{name}_ends"] = ends.astype(np.uint32)
    (workload,) = films.axes["workload"]
    lengths = [allocations.lengths(workload, each) for each in films.axes["max_length"]]
    count = len(kvsim.Traffic(lengths[0]).during(PLATE_DURATION_S, max(films.axes["rate"])))
    traffic = [kvsim.Traffic(each).first(count, rate_per_s=1) for each in lengths]
    arrays["unit_arrival_s"] = traffic[0].arrival_s  # divided by the rate, the arrivals at it
    arrays["prompt_tokens"] = np.array([each.prompt_tokens for each in traffic], np.uint32)
    arrays["output_tokens"] = np.array([each.output_tokens for each in traffic], np.uint32)
    header = {
        "fingerprint": PLANS[workload].fingerprint(),
        "axes": films.axes,
        "tick_s": TICK_S,
        "duration_s": PLATE_DURATION_S,
    }
    return pack(header, arrays)


def build(path: Path) -> None:
    """Write the films that the page keeps to ``path``, whole or not at all."""
    write_whole(path, to_bytes(make_films(KEPT)))
