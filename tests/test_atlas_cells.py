"""The shipped atlases are what the simulation says: their fingerprints, and a sample of cells.

The sample is another one in each run; with a failure stands the line that repeats it.
"""

from dataclasses import replace

import numpy as np
import pytest
from sampling import fresh_random

import kvsim
from kvsim.traffic import PLATE_DURATION_S
from kvsim_app import allocations
from kvsim_app.allocations import SERVER
from kvsim_app.results import atlas_build
from kvsim_app.results.atlas import load
from kvsim_app.results.atlas_build import PLANS
from kvsim_app.results.atlas_rows import compute_cell
from kvsim_app.results.files import ATLASES
from kvsim_app.settings import values

SIMULATED = 3  # of each workload
CLOSED = 20
STALE = "the atlas is stale: build it again with `kvsim atlas`"
ORDER = {
    "contiguous": ("reservation", "max_length"),
    "paged": ("block_overhead", "block_size", "max_length"),
}


@pytest.fixture(scope="module", params=PLANS)
def plan(request):
    return PLANS[request.param]


@pytest.fixture(scope="module")
def atlas(plan):
    return load(ATLASES[plan.workload])


def allocation_of(kind, at):
    """An allocation by the values of its controls, not by its place in the atlas."""
    if kind == "paged":
        return kvsim.Paged(at["block_size"], at["block_overhead"])
    return allocations.contiguous(at["reservation"], at["max_length"])


def random_position(random, plan, kind):
    """A position in one of the atlas's arrays: the place, the allocation, and the lengths."""
    place = tuple(int(random.integers(len(plan.axes[name]))) for name in ORDER[kind])
    at = {name: plan.axes[name][index] for name, index in zip(ORDER[kind], place, strict=True)}
    print(plan.workload, kind, at)
    lengths = allocations.lengths(plan.workload, at["max_length"])
    return place, allocation_of(kind, at), lengths


def random_kind(random):
    """One in two is contiguous: that has the reservations."""
    return "contiguous" if random.random() < 0.5 else "paged"


def test_the_names_stand_for_what_they_say():
    assert set(values("workload")) == set(PLANS)
    exponential = kvsim.ExponentialLengths(max_length=4096)
    assert allocations.lengths("exponential", 4096) == exponential
    for name, table in (
        ("sharegpt", kvsim.SHAREGPT),
        ("azure-conversation", kvsim.AZURE_CONVERSATION),
        ("azure-code", kvsim.AZURE_CODE),
    ):
        assert allocations.lengths(name, 4096) == replace(table, max_length=4096)
    assert allocations.contiguous("slots", 4096) == kvsim.Contiguous(4096)
    for name, kind in (("buddy", kvsim.Buddy), ("firstfit", kvsim.FirstFit)):
        for estimate in ("max", "pow2", "oracle"):
            wanted = kind(estimate=estimate, max_length=4096)
            assert allocations.contiguous(f"{name}-{estimate}", 4096) == wanted
    assert allocations.paged(32, 3.7) == kvsim.Paged(32, 3.7)


def test_the_atlas_was_built_by_this_code(plan, atlas):
    assert atlas.fingerprint == plan.fingerprint(), STALE
    assert atlas.axes == atlas_build.AXES == plan.axes, STALE
    for name, value in plan.constants().items():
        stored = atlas.constants[name]
        assert (tuple(stored) if isinstance(stored, list) else stored) == value, STALE


def test_the_fingerprint_tells_plans_apart():
    small = replace(PLANS["exponential"], axes=PLANS["exponential"].axes | {"rate": [1]})
    fewer = replace(PLANS["exponential"], replications=1)
    prints = [plan.fingerprint() for plan in (*PLANS.values(), small, fewer)]
    assert len(set(prints)) == len(prints)


def test_the_atlas_is_complete(plan, atlas):
    rates = len(plan.axes["rate"])
    for kind in ORDER:
        shape = plan.shape(kind)
        assert shape == tuple(len(values(name)) for name in ORDER[kind])
        for name, last in (
            *((name, ()) for name in ("requests", "share", "sustained")),
            *((name, (rates,)) for name in ("waiting", "running", "cached", "held", "snapshot")),
            ("ttft", (rates, 3)),
        ):
            assert atlas.arrays[f"{kind}_{name}"].shape == (*shape, *last)
        assert atlas.arrays[f"{kind}_snapshot"].max() < len(atlas.arrays["snapshot_ends"])
    assert atlas.constants["workload"] == plan.workload
    assert atlas.constants["replications"] >= 16
    assert atlas.constants["duration_s"] == 60


def test_a_sample_of_simulated_cells(plan, atlas):
    random = fresh_random()
    for _ in range(SIMULATED):
        kind = random_kind(random)
        place, allocation, lengths = random_position(random, plan, kind)
        rate = int(random.integers(len(plan.axes["rate"])))
        rate_per_s = plan.axes["rate"][rate]
        print(rate_per_s, "requests/s")
        cell = compute_cell(allocation, lengths, rate_per_s, plan.replications)
        stored = {
            name: atlas.arrays[f"{kind}_{name}"][(*place, rate)]
            for name in ("ttft", "waiting", "running", "cached", "held", "snapshot")
        }
        assert stored["ttft"].tolist() == pytest.approx(cell.ttft_s, rel=1e-6), STALE
        assert stored["waiting"] == cell.waiting, STALE
        assert stored["running"] == len(cell.running), STALE
        assert stored["cached"] == cell.cached_tokens, STALE
        assert stored["held"] == cell.held_tokens, STALE
        check_snapshot(atlas, cell, int(stored["snapshot"]), lengths, rate_per_s)


def check_snapshot(atlas, cell, number, lengths, rate_per_s):
    """The requests drawn are those that run, with the tokens that they hold."""
    ends = atlas.arrays["snapshot_ends"]
    here = slice(int(ends[number - 1]) if number else 0, int(ends[number]))
    running = np.cumsum(atlas.arrays["snapshot_request_steps"][here], dtype=int)
    np.testing.assert_array_equal(running, cell.running, STALE)
    # From the traffic itself, cut at the length that the slider names.
    prompts = kvsim.Traffic(lengths).during(PLATE_DURATION_S, rate_per_s).prompt_tokens
    tokens = atlas.snapshot_tokens(number, lengths.max_length)
    np.testing.assert_array_equal(tokens, prompts[cell.running] + cell.decoded, STALE)
    assert tokens.sum() == cell.cached_tokens


def test_a_sample_of_sustained_rates_and_measured_capacities(plan, atlas):
    """One of those that have no closed form, and one of any."""
    random = fresh_random()
    for kind in ("contiguous", random_kind(random)):
        place, allocation, lengths = random_position(random, plan, kind)
        rate = kvsim.sustained_rate(SERVER, allocation, lengths, replications=plan.replications)
        assert atlas.arrays[f"{kind}_sustained"][place] == pytest.approx(rate, rel=1e-6), STALE
        if not isinstance(allocation, kvsim.Contiguous | kvsim.Paged):
            fits = kvsim.saturated_capacity(
                SERVER, allocation, lengths, replications=plan.replications
            )
            check_capacity(atlas, kind, place, fits)


def test_a_sample_of_closed_forms(plan, atlas):
    random = fresh_random()
    for _ in range(CLOSED):
        kind = random_kind(random)
        place, allocation, lengths = random_position(random, plan, kind)
        if kind == "contiguous":
            place, allocation = (0, place[1]), kvsim.Contiguous(lengths.max_length)
        check_capacity(atlas, kind, place, kvsim.capacity(SERVER, allocation, lengths))


def check_capacity(atlas, kind, place, fits):
    """To the last digits but a few: other processors round otherwise."""
    stored = (atlas.arrays[f"{kind}_{name}"][place] for name in ("requests", "share"))
    assert tuple(stored) == pytest.approx((fits.requests, fits.share_in_use), rel=1e-12), STALE
