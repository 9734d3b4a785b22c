"""Which limit binds: what twice of each resource would save."""

import numpy as np
import pytest

from kvsim import (
    Contiguous,
    ExponentialLengths,
    Paged,
    Server,
    binding_limits,
    simulate,
    sustained_rate,
    ttft_curve,
)
from kvsim.binding import FEW_REPLICATIONS, NAMES, RESOURCES, doubled
from kvsim.traffic import Traffic

PLATE = (Server(), Paged(), ExponentialLengths())
SLOTS = (Server(), Contiguous(), ExponentialLengths())
MEMORY, COMPUTE, BANDWIDTH = range(len(RESOURCES))


def test_each_resource_is_doubled_by_itself():
    server = Server()
    twice = doubled(server)
    assert list(twice) == list(RESOURCES)
    rates = {
        name: (
            each.cache_bytes / server.cache_bytes,
            each.gpu.effective_flops / server.gpu.effective_flops,
            each.gpu.effective_bandwidth / server.gpu.effective_bandwidth,
        )
        for name, each in twice.items()
    }
    assert rates == {"memory": (2, 1, 1), "compute": (1, 2, 1), "bandwidth": (1, 1, 2)}
    slots = Contiguous().units
    assert slots(twice["memory"]) in (2 * slots(server), 2 * slots(server) + 1)


@pytest.mark.parametrize("setting", [PLATE, SLOTS], ids=["paged", "contiguous"])
def test_shares_are_those_of_the_curves(setting):
    server, allocation, lengths = setting
    rates = [4, 16]
    limits = binding_limits(*setting, rates, duration_s=10)
    options = {"replications": FEW_REPLICATIONS, "duration_s": 10}
    median_s = ttft_curve(*setting, rates, **options).median_s
    for resource, richer in enumerate(doubled(server).values()):
        richer_s = ttft_curve(richer, allocation, lengths, rates, **options).median_s
        assert limits.ttft_saved[resource] == pytest.approx(1 - richer_s / median_s, abs=1e-12)


def test_latency_shares_are_those_of_the_runs():
    def median_s(server):
        runs = [
            simulate(Traffic(PLATE[2], 3, each).during(5, 20), server, PLATE[1]) for each in (0, 1)
        ]
        return np.median([np.median(run.latency_s) for run in runs])

    limits = binding_limits(*PLATE, [20], replications=2, duration_s=5, seed=3)
    for resource, richer in enumerate(doubled(PLATE[0]).values()):
        saved = 1 - median_s(richer) / median_s(PLATE[0])
        assert limits.latency_saved[resource, 0] == pytest.approx(saved, abs=1e-12)


def test_a_bigger_cache_does_not_help_a_server_that_is_out_of_arithmetic():
    """At 40/s the paged plate has used up its arithmetic.

    Twice the cache admits requests earlier, but none of them ends earlier, and the server
    sustains hardly more; twice the arithmetic ends nearly all of the wait.
    """
    limits = binding_limits(*PLATE, [40])
    assert limits.names == ["compute"]
    assert limits.ttft_saved[COMPUTE] > 0.95
    assert limits.ttft_saved[MEMORY] < 0.6
    assert limits.latency_saved[COMPUTE] > 0.7
    assert limits.latency_saved[MEMORY] < 0.02
    options = {"replications": 2, "requests": 2000}
    before = sustained_rate(*PLATE, **options)
    richer = doubled(PLATE[0])
    gained = {
        name: sustained_rate(richer[name], *PLATE[1:], **options) / before - 1
        for name in ("memory", "compute")
    }
    assert gained["compute"] > 3 * gained["memory"]


def test_a_bigger_cache_helps_a_server_that_is_out_of_slots():
    """At 18/s contiguous slots have run out, whether there are more or they are left sooner."""
    limits = binding_limits(*SLOTS, [18])
    assert (limits.ttft_saved > 0.95).all()
    assert (limits.latency_saved[MEMORY] > 0.5).all()
    paged = binding_limits(*PLATE, [18])
    assert paged.ttft_saved[MEMORY] == 0


def test_memory_binds_where_slots_are_few():
    """Three slots of 131,072 tokens: arithmetic is idle while requests wait."""
    lengths = ExponentialLengths(max_length=131072)
    limits = binding_limits(Server(), Contiguous(131072), lengths, [3])
    assert limits.names == ["memory"]
    assert limits.ttft_saved[COMPUTE] < 0.1


def test_at_low_rates_the_first_token_waits_for_arithmetic():
    limits = binding_limits(*PLATE, [1])
    assert limits.names == ["compute"]
    assert limits.ttft_saved[MEMORY] == 0


def test_prompts_of_one_token_wait_for_the_weights():
    lengths = ExponentialLengths(mean_prompt_tokens=0.01, mean_output_tokens=50)
    assert binding_limits(Server(), Paged(), lengths, [5]).names == ["bandwidth"]


def test_nothing_binds_where_no_doubling_saves_much():
    limits = binding_limits(*PLATE, [1], small_share=0.5)
    assert limits.names == ["none"]
    assert limits.codes[0] == 0


def test_where_nobody_comes_nothing_binds():
    limits = binding_limits(*PLATE, [1e-9, 5], duration_s=3)
    assert limits.names == ["none", "compute"]
    assert np.isnan(limits.ttft_saved[:, 0]).all()
    assert np.isfinite(limits.ttft_saved[:, 1]).all()


def test_arrays_are_ready_to_be_stored():
    limits = binding_limits(*PLATE, [1, 2, 3], replications=1, duration_s=2)
    assert limits.codes.dtype == np.uint8
    assert limits.codes.max() < len(NAMES)
    assert limits.ttft_saved.shape == limits.latency_saved.shape == (len(RESOURCES), 3)
    none = binding_limits(*PLATE, [])
    assert none.codes.shape == (0,)
    assert none.ttft_saved.shape == (len(RESOURCES), 0)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), "5"])
def test_a_small_share_that_is_none_is_refused(share):
    with pytest.raises(ValueError, match=f"small_share is {share!r}: it must be "):
        binding_limits(*PLATE, [1], small_share=share)


def test_no_replications_are_refused():
    with pytest.raises(ValueError, match="replications is 0"):
        binding_limits(*PLATE, [1], replications=0)
