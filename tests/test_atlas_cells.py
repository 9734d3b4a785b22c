"""The shipped atlas is what the simulation says: its fingerprint, and a random sample of cells.

The sample is another one in each run; with a failure stands the line that repeats it.
"""

from dataclasses import replace

import numpy as np
import pytest
from sampling import fresh_random

import kvsim
from kvsim.curve import PLATE_DURATION_S
from kvsim_app import atlas_build
from kvsim_app.atlas import load
from kvsim_app.paths import ATLAS

SIMULATED = 8
SUSTAINED = 3
CLOSED = 20
STALE = "the atlas is stale: build it again with `kvsim atlas`"


@pytest.fixture(scope="module")
def atlas():
    return load(ATLAS)


def random_place(random, kind, name):
    """A position in one of the atlas's arrays, and the number of its job."""
    shape = atlas_build.SHAPES[kind, "sustained"]
    place = tuple(int(random.integers(size)) for size in shape)
    return place, int(np.ravel_multi_index(place, shape))


def random_kind(random):
    """One in four is contiguous; that axis is short."""
    return "contiguous" if random.random() < 0.25 else "paged"


def test_the_atlas_was_built_by_this_code(atlas):
    assert atlas.fingerprint == atlas_build.current_fingerprint(), STALE
    assert atlas.axes == atlas_build.AXES, STALE
    for name, value in atlas_build.constants().items():
        stored = atlas.constants[name]
        assert (tuple(stored) if isinstance(stored, list) else stored) == value, STALE


def test_the_atlas_is_complete(atlas):
    for (kind, name), shape in atlas_build.SHAPES.items():
        assert atlas.arrays[f"{kind}_{name}"].shape == shape
    assert atlas.constants["replications"] >= 16
    assert atlas.constants["duration_s"] == 60
    for kind in ("contiguous", "paged"):
        assert atlas.arrays[f"{kind}_snapshot"].max() < len(atlas.arrays["snapshot_ends"])


def test_a_sample_of_simulated_cells(atlas):
    random = fresh_random()
    for _ in range(SIMULATED):
        kind = random_kind(random)
        place, job = random_place(random, kind, "ttft")
        rate = int(random.integers(len(atlas.axes["rate"])))
        allocation, lengths = atlas_build.jobs()[kind][job]
        print(allocation, lengths, atlas.axes["rate"][rate], "requests/s")
        cell = atlas_build.compute_cell(allocation, lengths, atlas.axes["rate"][rate])
        stored = {
            name: atlas.arrays[f"{kind}_{name}"][(*place, rate)]
            for name in ("ttft", "waiting", "snapshot")
        }
        assert stored["ttft"].tolist() == np.float32(cell.ttft_s).tolist(), STALE
        assert stored["waiting"] == cell.waiting, STALE
        check_snapshot(atlas, cell, int(stored["snapshot"]), place[-1], atlas.axes["rate"][rate])


def check_snapshot(atlas, cell, number, length, rate_per_s):
    """The requests drawn are those that run, with the tokens that they hold."""
    ends = atlas.arrays["snapshot_ends"]
    here = slice(int(ends[number - 1]) if number else 0, int(ends[number]))
    running = np.cumsum(atlas.arrays["snapshot_request_steps"][here], dtype=int)
    np.testing.assert_array_equal(running, cell.running, STALE)
    # From the traffic itself, cut at the length that the slider names.
    max_length = atlas.axes["max_length"][length]
    traffic = kvsim.Traffic(replace(atlas_build.LENGTHS, max_length=max_length))
    prompts = traffic.during(PLATE_DURATION_S, rate_per_s).prompt_tokens
    np.testing.assert_array_equal(
        atlas.snapshot_tokens(number, max_length), prompts[cell.running] + cell.decoded, STALE
    )


def test_a_sample_of_sustained_rates(atlas):
    random = fresh_random()
    for _ in range(SUSTAINED):
        kind = random_kind(random)
        place, job = random_place(random, kind, "sustained")
        allocation, lengths = atlas_build.jobs()[kind][job]
        print(allocation, lengths)
        rate = kvsim.sustained_rate(
            atlas_build.SERVER, allocation, lengths, replications=atlas_build.REPLICATIONS
        )
        assert atlas.arrays[f"{kind}_sustained"][place] == np.float32(rate), STALE


def test_a_sample_of_closed_forms(atlas):
    random = fresh_random()
    for _ in range(CLOSED):
        max_length = int(random.choice(atlas.axes["max_length"]))
        block_size = int(random.choice(atlas.axes["block_size"]))
        print(max_length, block_size)
        lengths = replace(atlas_build.LENGTHS, max_length=max_length)
        length = atlas.axes["max_length"].index(max_length)
        size = atlas.axes["block_size"].index(block_size)
        for kind, place, allocation in (
            ("contiguous", (length,), kvsim.Contiguous(max_length)),
            ("paged", (size, length), kvsim.Paged(block_size)),
        ):
            fits = kvsim.capacity(atlas_build.SERVER, allocation, lengths)
            assert atlas.arrays[f"{kind}_requests"][place] == fits.requests, STALE
            assert atlas.arrays[f"{kind}_share"][place] == fits.share_in_use, STALE
