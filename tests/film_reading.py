"""Films read back, without the page's script, and the runs that they were cut from."""

from dataclasses import fields

import numpy as np

import kvsim
from kvsim.traffic import PLATE_DURATION_S
from kvsim_app import allocations
from kvsim_app.allocations import SERVER
from kvsim_app.results.container import unpack
from kvsim_app.results.films import TICK_S, Film, make_films, to_bytes
from kvsim_app.settings import choices, values

# Each column, and the one whose length it shares: that one's ends are in the file.
COLUMNS = {
    "request": "request",
    "first_pass": "request",
    "evicted": "evicted",
    "evicted_pass": "evicted",
    "clock_pass": "clock_pass",
    "clock_tick": "clock_pass",
    "seen_request": "seen_request",
    "seen_pass": "seen_request",
    "run_start": "run_start",
    "run_blocks": "run_start",
    "reserved": "run_start",
    "scattered": "scattered",
}
AXES = {
    "contiguous": ("reservation", "max_length", "rate"),
    "paged": ("block_overhead", "block_size", "max_length", "rate"),
}
DEFAULTS = {name: choice.default for name, choice in choices()}
KINDS = ("contiguous", "paged")


class FilmFile:
    """The films of a file, by kind and settings; nothing is taken from the code that reads it."""

    def __init__(self, data):
        self.header, self.arrays = unpack(data)
        self.axes = self.header["axes"]

    def number(self, kind, settings):
        """The number of the film at some settings."""
        place = tuple(self.axes[name].index(settings[name]) for name in AXES[kind])
        return int(self.arrays[f"{kind}_film"][place])

    def film(self, kind, settings):
        """The film at some settings."""
        number = self.number(kind, settings)
        return Film(**{name: self._column(name, number) for name in COLUMNS})

    def _column(self, name, number):
        ends = self.arrays[f"{COLUMNS[name]}_ends"].tolist()
        start = ends[number - 1] if number else 0
        return np.cumsum(self.arrays[f"{name}_steps"][start : ends[number]], dtype=np.int64)


def film_bytes(**settings):
    """A file with the films of both caches at some settings, defaults elsewhere."""
    return to_bytes(make_films({name: [value] for name, value in (DEFAULTS | settings).items()}))


def allocation_of(kind, settings):
    """How the cache is divided at some settings."""
    if kind == "contiguous":
        return allocations.contiguous(settings["reservation"], settings["max_length"])
    return allocations.paged(settings["block_size"], settings["block_overhead"])


def lengths_of(settings):
    """The lengths of requests at some settings."""
    return allocations.lengths(settings["workload"], settings["max_length"])


def run_of(kind, settings):
    """The whole run whose first minute a film shows."""
    requests = kvsim.Traffic(lengths_of(settings)).during(PLATE_DURATION_S, settings["rate"])
    return kvsim.simulate(requests, SERVER, allocation_of(kind, settings))


def passes_of(timeline):
    """Passes that start within the first minute."""
    return int(np.count_nonzero(timeline.pass_log.start_s < PLATE_DURATION_S))


def random_settings(random, **given):
    """Any position of the controls, but for those that are given."""
    return {name: random.choice(values(name)).item() for name in DEFAULTS} | given


def check_same(one, other):
    """Two films are the same in every column."""
    for field in fields(Film):
        np.testing.assert_array_equal(
            getattr(one, field.name), getattr(other, field.name), field.name
        )


class FilmClock:
    """Times and passes by a film's own clock, which is the run's within its tolerance."""

    def __init__(self, film):
        self.passes, self.ticks = film.clock_pass, film.clock_tick

    def read(self, passes, side):
        """When so many passes have gone by: "right" ends a level line, "left" starts it."""
        after = np.searchsorted(self.passes, passes, side).clip(1, len(self.passes) - 1)
        since, until = self.passes[after - 1], self.passes[after]
        start, stop = self.ticks[after - 1], self.ticks[after]
        return (start + (passes - since) * (stop - start) / (until - since)) * TICK_S

    def pass_at(self, time_s):
        """The pass under way at a time; None while the server is idle."""
        gone = np.interp(time_s / TICK_S, self.ticks, self.passes)
        after = np.searchsorted(self.ticks, time_s / TICK_S, "right").clip(1, len(self.ticks) - 1)
        idle = self.passes[after] == self.passes[after - 1] or time_s < self.ticks[0] * TICK_S
        return None if idle else min(int(gone), int(self.passes[-1]) - 1)
