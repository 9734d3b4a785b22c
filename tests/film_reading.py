"""Films read back, without the page's script, and the runs that they were cut from."""

from dataclasses import fields, replace

import numpy as np

import kvsim
from kvsim.curve import PLATE_DURATION_S
from kvsim_app.atlas_build import LENGTHS, SERVER
from kvsim_app.container import unpack
from kvsim_app.films import AXIS_ORDER, Film, make_films, to_bytes
from kvsim_app.settings import choices, values

# Each column, and the one whose length it shares: that one's ends are in the file.
COLUMNS = {
    "request": "request",
    "first_pass": "request",
    "evicted": "evicted",
    "evicted_pass": "evicted",
    "clock_pass": "clock_pass",
    "clock_tick": "clock_pass",
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
        names = AXIS_ORDER if kind == "paged" else AXIS_ORDER[2:]
        place = tuple(self.axes[name].index(settings[name]) for name in names)
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
        return kvsim.Contiguous(settings["max_length"])
    return kvsim.Paged(settings["block_size"], settings["block_overhead"])


def run_of(kind, settings):
    """The whole run whose first minute a film shows."""
    traffic = kvsim.Traffic(replace(LENGTHS, max_length=settings["max_length"]))
    requests = traffic.during(PLATE_DURATION_S, settings["rate"])
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
