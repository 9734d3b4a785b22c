"""One position looked up in the atlas: that it is the right cell."""

from dataclasses import replace

import numpy as np
import pytest
from sampling import fresh_random

from kvsim_app.reading import binding, read
from kvsim_app.results.atlas import load
from kvsim_app.results.files import ATLASES
from kvsim_app.settings import Settings, choices, values

KINDS = ("contiguous", "paged")
RUN_BLOCK_TOKENS = 16  # of the allocations that reserve runs of blocks


@pytest.fixture(scope="module", params=ATLASES)
def atlas(request):
    return load(ATLASES[request.param])


def random_settings(random, atlas):
    """A position of the controls in an atlas's workload."""
    position = {name: values(name)[random.integers(len(values(name)))] for name, _ in choices()}
    settings = Settings(**position | {"workload": atlas.constants["workload"]})
    print(settings)
    return settings


def places(atlas, settings):
    """Where a position is in the arrays of each kind, without the rate."""
    at = {name: axis.index(getattr(settings, name)) for name, axis in atlas.axes.items()}
    return {
        "contiguous": (at["reservation"], at["max_length"]),
        "paged": (at["block_overhead"], at["block_size"], at["max_length"]),
    }


def test_a_position_finds_its_own_cell(atlas):
    random = fresh_random()
    for _ in range(50):
        settings = random_settings(random, atlas)
        reading = read(atlas, settings)
        rate = atlas.axes["rate"].index(settings.rate)
        for kind, place in places(atlas, settings).items():
            side = getattr(reading, kind)

            def at(name, *more, kind=kind, place=place):
                return atlas.arrays[f"{kind}_{name}"][(*place, *more)].tolist()

            assert side.ttft_s == tuple(at("ttft", rate))
            assert (side.requests, side.share) == (at("requests"), at("share"))
            assert side.sustained_per_s == at("sustained")
            assert side.queue_grows == (settings.rate > at("sustained"))
            assert (side.waiting, side.running) == (at("waiting", rate), at("running", rate))
            assert side.cached_tokens == at("cached", rate)
            assert side.held_tokens == at("held", rate)
            assert side.saved == tuple(at("saved", rate))
            assert side.doubled_per_s == tuple(at("doubled"))


def test_what_runs_fits_the_cache(atlas):
    random = fresh_random()
    for _ in range(200):
        settings = random_settings(random, atlas)
        reading = read(atlas, settings)
        slots = settings.reservation == "slots"
        for side, unit in (
            (reading.contiguous, settings.max_length if slots else RUN_BLOCK_TOKENS),
            (reading.paged, settings.block_size),
        ):
            assert side.cached_tokens <= side.held_tokens <= reading.capacity_tokens
            assert side.held_tokens % unit == 0
            assert bool(side.running) == bool(side.cached_tokens)
            assert side.cached_tokens <= side.running * settings.max_length
        if slots:
            assert reading.contiguous.running <= reading.contiguous.requests


def test_a_snapshot_is_of_those_who_run(atlas):
    random = fresh_random()
    for _ in range(50):
        settings = random_settings(random, atlas)
        reading = read(atlas, settings)
        rate = atlas.axes["rate"].index(settings.rate)
        for kind, place in places(atlas, settings).items():
            number = int(atlas.arrays[f"{kind}_snapshot"][(*place, rate)])
            tokens = atlas.snapshot_tokens(number, settings.max_length)
            side = getattr(reading, kind)
            assert len(tokens) == side.running
            assert tokens.sum() == side.cached_tokens
            assert np.all(tokens >= 1)
            assert np.all(tokens <= settings.max_length)


def test_what_is_guessed_better_fits_more_often(atlas):
    """At the longest maximum: an oracle beats a power of two, and that the maximum."""
    requests = atlas.arrays["contiguous_requests"][:, -1].tolist()
    fits = dict(zip(atlas.axes["reservation"], requests, strict=True))
    for kind in ("buddy", "firstfit"):
        assert fits[f"{kind}-max"] < fits[f"{kind}-pow2"]
        assert fits[f"{kind}-max"] < fits[f"{kind}-oracle"]
    assert fits["firstfit-pow2"] < fits["firstfit-oracle"]


def test_curves_rise_with_the_rate_once_a_queue_grows(atlas):
    """But for what chance leaves in a median of a few replications."""
    rates = np.array(atlas.axes["rate"])
    for kind in KINDS:
        sustained = atlas.arrays[f"{kind}_sustained"].reshape(-1)
        medians = atlas.arrays[f"{kind}_ttft"][..., 1].reshape(len(sustained), len(rates))
        for limit, median in zip(sustained, medians, strict=True):
            growing = median[rates > limit]
            assert np.all(growing >= 0.95 * np.maximum.accumulate(growing))


def test_low_median_and_high_are_in_order(atlas):
    for kind in KINDS:
        low, median, high = np.moveaxis(atlas.arrays[f"{kind}_ttft"], -1, 0)
        assert np.all(low <= median)
        assert np.all(median <= high)
        assert np.all(low > 0)
        assert np.all(np.isfinite(high))


def test_a_value_that_the_atlas_lacks_is_refused(atlas):
    fewer = replace(atlas, axes=atlas.axes | {"rate": [1, 2, 3]})
    with pytest.raises(ValueError, match="18"):
        read(fewer, Settings(workload=atlas.constants["workload"]))


@pytest.mark.parametrize(
    ("saved", "places"),
    [
        ((0, 0, 0), []),
        ((4, -20, 4), []),
        ((0, 5, -1), [0, 1]),
        ((0, 6, 0), [1]),
        ((97, 99, 93), [0, 1]),
        ((94, 99, 95), [0, 1, 2]),
        ((98, 94, 98), [0, 1, 2]),
        ((100, 43, 94), [0]),
    ],
)
def test_what_saves_nearly_as_much_as_the_best_binds_as_well(saved, places):
    assert binding(saved) == places
