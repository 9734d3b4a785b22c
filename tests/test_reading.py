"""One position looked up in the atlas: that it is the right cell."""

from dataclasses import replace

import numpy as np
import pytest
from sampling import fresh_random

from kvsim_app.atlas import load
from kvsim_app.paths import ATLAS
from kvsim_app.reading import read
from kvsim_app.settings import Settings, choices, values


@pytest.fixture(scope="module")
def atlas():
    return load(ATLAS)


def test_a_position_finds_its_own_cell(atlas):
    random = fresh_random()
    for _ in range(50):
        index = {name: int(random.integers(len(values(name)))) for name, _ in choices()}
        settings = Settings(**{name: values(name)[at] for name, at in index.items()})
        reading = read(atlas, settings)
        size, length, rate, overhead = index.values()
        assert reading.contiguous.ttft_s == tuple(
            atlas.arrays["contiguous_ttft"][length, rate].tolist()
        )
        assert reading.paged.ttft_s == tuple(
            atlas.arrays["paged_ttft"][overhead, size, length, rate].tolist()
        )
        assert reading.paged.requests == atlas.arrays["paged_requests"][size, length]
        assert reading.contiguous.share == atlas.arrays["contiguous_share"][length]


def test_what_runs_fits_the_cache(atlas):
    random = fresh_random()
    for _ in range(200):
        settings = Settings(
            **{name: values(name)[random.integers(len(values(name)))] for name, _ in choices()}
        )
        reading = read(atlas, settings)
        for side, unit in (
            (reading.contiguous, settings.max_length),
            (reading.paged, settings.block_size),
        ):
            assert np.all(side.running_tokens >= 1)
            assert np.all(side.running_tokens <= settings.max_length)
            assert side.running_tokens.sum() <= side.reserved_tokens <= reading.capacity_tokens
            assert side.reserved_tokens % unit == 0
        assert len(reading.contiguous.running_tokens) <= reading.contiguous.requests


def test_curves_rise_with_the_rate_once_a_queue_grows(atlas):
    rates = np.array(atlas.axes["rate"])
    for kind in ("contiguous", "paged"):
        sustained = atlas.arrays[f"{kind}_sustained"].reshape(-1)
        medians = atlas.arrays[f"{kind}_ttft"][..., 1].reshape(len(sustained), len(rates))
        for limit, median in zip(sustained, medians, strict=True):
            assert np.all(np.diff(median[rates > limit]) > 0)


def test_low_median_and_high_are_in_order(atlas):
    for kind in ("contiguous", "paged"):
        low, median, high = np.moveaxis(atlas.arrays[f"{kind}_ttft"], -1, 0)
        assert np.all(low <= median)
        assert np.all(median <= high)
        assert np.all(low > 0)
        assert np.all(np.isfinite(high))


def test_a_value_that_the_atlas_lacks_is_refused(atlas):
    fewer = replace(atlas, axes=atlas.axes | {"rate": [1, 2, 3]})
    with pytest.raises(ValueError, match="18"):
        read(fewer, Settings())
