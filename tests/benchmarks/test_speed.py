"""CPU time of kvsim, beside that of a plain SimPy model and that of a run ten times as long.

    python -m pytest tests/benchmarks

The ratios are printed as they come, and stand in the report of ``--benchmark-json``.
"""

import time

import numpy as np
import pytest
from helpers import plate_requests
from simpy_server import Simulation

from kvsim import Contiguous, Paged, Server, simulate

ALLOCATIONS = {"contiguous": Contiguous(8192), "paged": Paged(16)}
COUNT = 10_000
ROUNDS = 5

by_allocation = pytest.mark.parametrize("name", ALLOCATIONS)
cpu_time = pytest.mark.benchmark(timer=time.process_time)


@pytest.fixture(scope="module")
def measured():
    """Requests per CPU second so far, by what ran. Tests run from top to bottom."""
    return {}


@pytest.fixture
def report(benchmark, capsys):
    """Show a ratio with its target, and keep it in the report of the benchmark."""

    def show(what, ratio, target):
        benchmark.extra_info[what] = round(ratio, 2)
        with capsys.disabled():
            print(f"\n{what}: {ratio:.2f} (target: at least {target})")

    return show


def requests_per_cpu_s(benchmark, run, count):
    benchmark.pedantic(run, rounds=ROUNDS, warmup_rounds=1)
    return count / benchmark.stats.stats.min


def plate_run(name, count):
    return plate_requests(rate=18, count=count, seed=18), Server(), ALLOCATIONS[name]


@pytest.mark.parametrize(
    ("server", "allocation"),
    [
        (Server(), Contiguous(8192)),
        (Server(), Paged(16, block_overhead=3.7)),
        (Server(cache_bytes=4e9), Paged(16)),
    ],
    ids=["contiguous", "paged", "paged, pre-empting"],
)
def test_simpy_model_agrees(server, allocation):
    requests = plate_requests(rate=18, count=200, seed=1)
    timeline = simulate(requests, server, allocation)
    simulation = Simulation(requests, server, allocation).run()
    ttft_s = [request.ttft_s for request in simulation.requests]
    finish_s = [request.finish_s for request in simulation.requests]
    np.testing.assert_allclose(timeline.ttft_s, ttft_s, rtol=1e-9)
    np.testing.assert_allclose(timeline.finish_s, finish_s, rtol=1e-9)
    assert timeline.preemptions.sum() == simulation.preemptions
    assert timeline.passes == simulation.passes
    assert (simulation.preemptions > 0) == (server.cache_bytes == 4e9)


@cpu_time
@by_allocation
def test_simpy(benchmark, measured, name):
    run = plate_run(name, COUNT)
    measured["simpy", name] = requests_per_cpu_s(benchmark, lambda: Simulation(*run).run(), COUNT)


@cpu_time
@by_allocation
def test_kvsim(benchmark, measured, report, name):
    run = plate_run(name, COUNT)
    measured["kvsim", name] = requests_per_cpu_s(benchmark, lambda: simulate(*run), COUNT)
    if ("simpy", name) in measured:
        ratio = measured["kvsim", name] / measured["simpy", name]
        report(f"{name}: requests per CPU second, kvsim / SimPy", ratio, 20)


@cpu_time
@by_allocation
def test_kvsim_ten_times_as_long(benchmark, measured, report, name):
    run = plate_run(name, 10 * COUNT)
    speed = requests_per_cpu_s(benchmark, lambda: simulate(*run), 10 * COUNT)
    if ("kvsim", name) in measured:
        ratio = speed / measured["kvsim", name]
        report(f"{name}: speed per request, ten times as long / as it is", ratio, 0.8)
