"""Sweeps: the same summaries in the same order, whoever computes them; and how they end."""

import multiprocessing
import os
import pickle
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event, Timer
from time import monotonic, sleep

import pytest
from distributed import Client, LocalCluster
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kvsim import (
    SHAREGPT,
    Contiguous,
    ExponentialLengths,
    Paged,
    ServiceLimits,
    Setting,
    SweepError,
    sweep,
)

BRIEF = Setting(replications=2, duration_s=2.0, limits=ServiceLimits(ttft_s=0.05))
SETTINGS = [
    *(replace(BRIEF, rate_per_s=rate) for rate in (40, 5, 18)),
    replace(BRIEF, allocation=Contiguous(), seed=1),
    replace(BRIEF, allocation=Paged(1, 3.7), lengths=SHAREGPT),
]
TOO_LONG = replace(BRIEF, allocation=Contiguous(50))  # for some of its requests


@pytest.fixture(scope="module")
def cluster():
    """A client of a real cluster of one process, which only this machine can reach."""
    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def dask(cluster):
    with cluster.get_executor() as executor:
        yield executor


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        yield executor


@pytest.fixture(scope="module")
def threads():
    with ThreadPoolExecutor(2) as executor:
        yield executor


@pytest.fixture(scope="module")
def serial():
    return list(sweep(SETTINGS))


EXECUTORS = ["threads", "processes", "dask"]


@pytest.mark.parametrize("name", EXECUTORS)
def test_every_executor_gives_what_this_process_does(request, serial, name):
    executor = request.getfixturevalue(name)
    assert isinstance(executor, Executor)
    told = []
    summaries = list(sweep(SETTINGS, executor, lambda *counts: told.append(counts)))
    assert summaries == serial
    assert told == [(done, len(SETTINGS)) for done in range(1, len(SETTINGS) + 1)]
    # It is left open, and serves another sweep.
    assert list(sweep(SETTINGS[:1], executor=executor)) == serial[:1]


def test_a_sweep_is_its_settings_one_by_one(serial):
    assert serial == [setting.summary() for setting in SETTINGS]
    assert len({summary.ttft_s.p50 for summary in serial}) == len(serial)


@hypothesis_settings(max_examples=20)
@given(
    st.lists(
        st.builds(
            replace,
            st.just(BRIEF),
            allocation=st.builds(Paged, st.integers(1, 512)) | st.just(Contiguous()),
            rate_per_s=st.floats(1, 50),
            seed=st.integers(0, 2**32),
            replications=st.just(1),
        ),
        max_size=4,
    )
)
def test_any_sweep_is_its_settings_one_by_one(settings):
    # Written out, what is not known equals itself.
    assert repr(list(sweep(settings))) == repr([setting.summary() for setting in settings])


@pytest.mark.parametrize("name", [None, *EXECUTORS])
def test_a_setting_that_fails_is_named(request, name):
    executor = request.getfixturevalue(name) if name else None
    summaries = sweep([SETTINGS[0], TOO_LONG, SETTINGS[1]], executor)
    next(summaries)
    with pytest.raises(SweepError, match=r"^Setting 1 failed: Request \d+ needs .*50") as caught:
        next(summaries)
    assert caught.value.index == 1
    assert caught.value.setting == TOO_LONG
    assert repr(TOO_LONG) in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)
    assert list(summaries) == []


def test_its_error_can_be_sent_between_processes():
    error = SweepError(3, BRIEF, ValueError("Because."))
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.index, copy.setting, str(copy)) == (3, BRIEF, str(error))


def test_settings_are_checked_at_once():
    with pytest.raises(ValueError, match=r"^settings\[1\] is 18: give a Setting\.$"):
        sweep([BRIEF, 18])


@dataclass(frozen=True)
class Watched(ExponentialLengths):
    """Lengths that say when a simulation draws them; all but the first wait until they may."""

    number: int = 0

    def draw(self, prompts, outputs, count):
        STARTED.append(self.number)
        if self.number:
            SECOND_STARTED.set()
            assert GO_ON.wait(60)
        drawn = super().draw(prompts, outputs, count)
        ENDED.append(self.number)
        return drawn


STARTED: list[int] = []
ENDED: list[int] = []
SECOND_STARTED = Event()
GO_ON = Event()


@pytest.fixture
def watched():
    """Settings whose runs are noted."""
    STARTED.clear()
    ENDED.clear()
    SECOND_STARTED.clear()
    GO_ON.clear()
    yield [replace(BRIEF, lengths=Watched(number=each), replications=1) for each in range(6)]
    GO_ON.set()


def leave_the_loop(summaries):
    for _ in summaries:
        assert SECOND_STARTED.wait(60)
        break


def close(summaries: Iterator):
    next(summaries)
    assert SECOND_STARTED.wait(60)
    summaries.close()


@pytest.mark.parametrize("stop", [leave_the_loop, close])
def test_stopping_early_leaves_nothing_running(watched, stop):
    with ThreadPoolExecutor(1) as executor:
        Timer(0.1, GO_ON.set).start()
        stop(sweep(watched, executor))
        # What had begun has ended, and nothing else has begun or will.
        assert STARTED == ENDED == [0, 1]
        assert executor.submit(int).result() == 0
    assert STARTED == ENDED == [0, 1]


def test_an_error_of_who_is_told_stops_it(watched):
    def fail(done, total):
        assert SECOND_STARTED.wait(60)
        raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as executor:
        Timer(0.1, GO_ON.set).start()
        with pytest.raises(KeyboardInterrupt):
            next(sweep(watched, executor, fail))
        assert STARTED == ENDED == [0, 1]


def test_nothing_is_done_before_it_is_asked_for(watched):
    with ThreadPoolExecutor(1) as executor:
        summaries = sweep(watched, executor)
        assert executor.submit(int).result() == 0
        assert STARTED == []
        del summaries
    summaries = sweep(watched)
    assert STARTED == []
    next(summaries)
    assert STARTED == [0]


def test_stopping_early_leaves_nothing_to_do_for_a_cluster(cluster, dask):
    def to_do(dask_scheduler):
        done = ("memory", "erred", "released", "forgotten")
        return sum(task.state not in done for task in dask_scheduler.tasks.values())

    summaries = sweep([replace(BRIEF, seed=seed) for seed in range(200)], dask)
    next(summaries)
    assert cluster.run_on_scheduler(to_do) > 0
    summaries.close()
    until = monotonic() + 60
    while left := cluster.run_on_scheduler(to_do):
        assert monotonic() < until, f"{left} tasks are left"
        sleep(0.05)


@dataclass(frozen=True)
class Deadly(ExponentialLengths):
    """Lengths that end the process which draws them."""

    def draw(self, prompts, outputs, count):
        os._exit(1)


def test_a_worker_that_dies_is_an_error_of_its_setting():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        summaries = sweep([replace(BRIEF, lengths=Deadly())], executor)
        with pytest.raises(SweepError, match=r"^Setting 0 failed: .*terminated abruptly"):
            next(summaries)
