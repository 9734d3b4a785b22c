"""Answers: coarse first, whole in the end, in turns; cancelled, failed, killed, and kept."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from subprocess import DEVNULL, PIPE

import numpy as np
import pytest

import kvsim
from kvsim_app.answers.answering import FORGOTTEN_AFTER_S, MOST_ACTIVE, Answering, TooManyError
from kvsim_app.answers.asked import read_asked
from kvsim_app.answers.job import COARSE_RATES, STAGES
from kvsim_app.answers.rows import coarse_row, results_of, whole_row
from kvsim_app.results import atlas as atlas_file
from kvsim_app.results.atlas_build import Plan

PATIENCE_S = 60
AXES = {
    "block_size": [16, 64],
    "max_length": [512, 1024],
    "rate": [0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5],
    "block_overhead": [0.0, 3.7],
    "reservation": ["slots"],
}
BASE = read_asked(
    {
        "model": "llama-3-8b",
        "gpu": "L4",
        "weights": "fp8",
        "cache_tokens": 4000,
        "workload": "means",
        "mean_prompt_tokens": 200,
        "mean_output_tokens": 60,
        "max_length": 512,
        "ttft_s": 1,
    },
    lambda name: None,
)


def small(**at):
    """Something that is asked about, of a tiny atlas; another for each position."""
    plan = BASE.plan
    return replace(
        BASE,
        plan=Plan(plan.workload, AXES, 2, plan.server, plan.drawn, 200),
        position=BASE.position | {"rate": 2} | at,
    )


class Hands(Executor):
    """Computes what it is given when it is told to, in the test's own thread."""

    def __init__(self):
        self.given = []
        self.functions = []  # of all that was ever given

    def submit(self, function, *arguments):
        future = Future()
        self.functions.append(function)
        self.given.append((future, function, arguments))
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        pass

    def next(self):
        """What was given first; waits until something is."""
        wait_for(lambda: self.given)
        return self.given.pop(0)

    def compute(self):
        future, function, arguments = self.next()
        future.set_result(function(*arguments))


def wait_for(condition):
    """Wait for another thread; a test that hangs is a failure."""
    ends = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.002)


@pytest.fixture
def hands():
    return Hands()


@pytest.fixture
def answering(hands):
    """Answers of one pair of hands, at a time that the test sets."""
    answers = Answering(lambda lane: hands, workers=1, now_s=lambda: answers.time_s)
    answers.time_s = 0.0
    yield answers
    answers.close()


def finish(hands, job):
    while job.active:
        wait_for(lambda: hands.given or not job.active)
        if hands.given:
            hands.compute()


def read(job):
    return atlas_file.from_bytes(job.atlas()[1])


def test_coarse_first_then_the_position_then_outward(answering, hands):
    job, ticket = answering.ask(small())
    assert job.status(ticket)["state"] in ("waiting", "running")
    assert job.version == 0
    hands.compute()
    wait_for(lambda: job.version == 1)
    first = read(job)
    shown = np.isfinite(first.arrays["paged_ttft"][..., 1])
    assert shown.sum() in (COARSE_RATES, COARSE_RATES + 1)
    assert shown[0, 0, 0].any()
    assert shown.sum() == shown[0, 0, 0].sum()
    assert not np.isfinite(first.arrays["contiguous_ttft"]).any()
    stages = []
    while job.active:
        wait_for(lambda: hands.given or not job.active)
        if hands.given:
            stages.append(job.status(ticket)["stage"])
            hands.compute()
    assert stages == sorted(stages, key=STAGES.index)
    assert hands.functions[:4] == [coarse_row, coarse_row, results_of, results_of]
    assert set(hands.functions[4:]) == {whole_row}
    status = job.status(ticket)
    assert (status["state"], status["stage"], status["done"]) == ("done", None, status["total"])
    assert job.atlas()[0] == status["version"]


def test_every_cell_is_what_the_simulation_says(answering, hands):
    job, _ = answering.ask(small())
    finish(hands, job)
    made, plan = read(job), job.asked.plan
    assert made.axes == AXES
    for kind, positions in plan.positions().items():
        shape = plan.shape(kind)
        for index, (allocation, lengths) in zip(np.ndindex(shape), positions, strict=True):
            curve = kvsim.ttft_curve(
                plan.server, allocation, lengths, AXES["rate"], replications=plan.replications
            )
            low, high = curve.band_s
            expected = np.stack([low, curve.median_s, high], axis=1).astype(np.float32)
            assert np.array_equal(made.arrays[f"{kind}_ttft"][index], expected), (kind, index)
            closed = kvsim.capacity(plan.server, allocation, lengths)
            assert made.arrays[f"{kind}_requests"][index] == pytest.approx(closed.requests)
            assert made.arrays[f"{kind}_share"][index] == pytest.approx(closed.share_in_use)
            sustained = kvsim.sustained_rate(
                plan.server, allocation, lengths, replications=plan.replications, requests=200
            )
            assert made.arrays[f"{kind}_sustained"][index] == np.float32(sustained)


def test_the_results_are_those_of_the_position(answering, hands):
    job, ticket = answering.ask(small())
    finish(hands, job)
    contiguous, paged = job.status(ticket)["results"]
    setting = kvsim.Setting(
        BASE.plan.server,
        kvsim.Paged(16),
        job.asked.lengths,
        2,
        2,
        limits=kvsim.ServiceLimits(ttft_s=1),
    )
    assert paged["kind"] == "paged"
    assert paged["figures"] == kvsim.record(setting, setting.summary())["figures"]
    assert paged["binding_limit"]["name"] == setting.binding_limits().names[0]
    assert contiguous["setting"]["allocation"] == {"kind": "Contiguous", "max_length": 512}


def test_a_new_answer_is_sketched_while_older_ones_go_on(answering, hands):
    old, _ = answering.ask(small())
    for _ in range(6):  # into its other positions
        hands.compute()
    wait_for(lambda: old.stage == STAGES.index("others"))
    under_way = hands.next()
    new, _ = answering.ask(small(block_size=64))
    hands.compute()
    hands.compute()
    wait_for(lambda: new.done == 2)
    assert not hands.given, "the one worker for everything else is still at the older one"
    begun = len(hands.functions)
    future, function, arguments = under_way
    future.set_result(function(*arguments))
    wait_for(lambda: len(hands.functions) > begun)
    assert hands.functions[begun] is results_of, "an earlier stage goes first"
    assert old.active


def test_answers_take_turns(answering, hands):
    jobs = [answering.ask(small(rate=rate))[0] for rate in (1, 2)]
    for _ in range(10):
        hands.compute()
        wait_for(lambda: hands.given)
    assert abs(jobs[0].started - jobs[1].started) <= 1


def test_a_cancelled_answer_begins_nothing_more(answering, hands):
    job, ticket = answering.ask(small())
    hands.compute()
    wait_for(lambda: hands.given)
    assert answering.cancel(job.identity, ticket) is job
    assert job.state == "cancelled"
    begun = len(hands.functions)
    hands.compute()
    time.sleep(0.05)
    assert len(hands.functions) == begun
    assert answering.job(job.identity) is job
    assert np.isfinite(read(job).arrays["paged_ttft"]).any()


def test_one_reader_does_not_cancel_for_another(answering):
    job, one = answering.ask(small())
    again, other = answering.ask(small())
    assert again is job
    assert one != other
    answering.cancel(job.identity, one)
    answering.cancel(job.identity, one)
    answering.cancel(job.identity, "somebody's")
    assert job.active
    answering.cancel(job.identity, other)
    assert job.state == "cancelled"


def test_an_answer_that_nobody_asks_about_is_given_up(answering, hands):
    job, ticket = answering.ask(small())
    answering.time_s = FORGOTTEN_AFTER_S - 1
    answering.job(job.identity, ticket)
    answering.time_s = 2 * FORGOTTEN_AFTER_S - 2
    hands.compute()
    wait_for(lambda: hands.given)
    assert job.active
    answering.time_s += 2
    hands.compute()
    wait_for(lambda: not job.active)
    assert "Nobody has asked" in job.reason


def test_what_fails_says_why_and_may_be_asked_again(answering, hands):
    job, ticket = answering.ask(small())
    hands.compute()
    hands.next()[0].set_exception(ValueError("rate is 0: it must be above 0."))
    wait_for(lambda: not job.active)
    status = job.status(ticket)
    assert (status["state"], status["reason"]) == ("failed", "rate is 0: it must be above 0.")
    assert np.isfinite(read(job).arrays["paged_ttft"]).any(), "the last good state stays"
    again, _ = answering.ask(small())
    assert again is not job
    finish(hands, again)
    assert again.state == "done"


def test_an_error_of_any_kind_is_named(answering, hands):
    job, _ = answering.ask(small())
    hands.next()[0].set_exception(ZeroDivisionError("division by zero"))
    wait_for(lambda: not job.active)
    assert job.reason == "The simulation failed (ZeroDivisionError: division by zero)."


def test_a_piece_whose_worker_dies_is_tried_once_more(answering, hands):
    job, _ = answering.ask(small())
    hands.next()[0].set_exception(BrokenProcessPool())
    finish(hands, job)
    assert job.state == "done"
    assert hands.functions[:3] == [coarse_row] * 3


def test_a_piece_whose_worker_dies_twice_fails(answering, hands):
    job, _ = answering.ask(small())
    for _ in range(2):
        hands.next()[0].set_exception(BrokenProcessPool())
    wait_for(lambda: not job.active)
    assert job.state == "failed"
    assert "memory" in job.reason


def test_where_no_process_can_be_started_the_reason_is_said():
    def no_pool(lane):
        raise OSError("too many processes")

    answers = Answering(no_pool, workers=1)
    answers.warm()
    job, _ = answers.ask(small())
    wait_for(lambda: not job.active)
    assert job.state == "failed"
    assert "too many processes" in job.reason
    answers.close()


def test_no_more_are_begun_than_there_is_room_for(answering):
    rates = AXES["rate"]
    jobs = [answering.ask(small(rate=rate)) for rate in rates[:MOST_ACTIVE]]
    with pytest.raises(TooManyError, match=str(MOST_ACTIVE)):
        answering.ask(small(rate=rates[-1]))
    answering.ask(small(rate=rates[0]))  # one that is there already is no further one
    job, ticket = jobs[1]
    answering.cancel(job.identity, ticket)
    answering.ask(small(rate=rates[-1]))


def test_what_is_known_is_not_computed_again(answering, hands):
    job, _ = answering.ask(small())
    finish(hands, job)
    begun = len(hands.functions)
    again, ticket = answering.ask(small())
    assert again is job
    assert again.status(ticket)["state"] == "done"
    other, _ = answering.ask(small(rate=3))
    finish(hands, other)
    # Only what is about the other position: the rows are there.
    assert hands.functions[begun:] == [coarse_row, coarse_row, results_of, results_of]
    for name, array in read(job).arrays.items():
        assert np.array_equal(array, read(other).arrays[name]), name


def test_readers_may_ask_from_many_threads(answering, hands):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(answering.ask(small()))) for _ in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(job) for job, _ in found}) == 1
    assert len({ticket for _, ticket in found}) == 12


def test_a_long_trace_is_replayed_once_after_its_curves(answering, hands, monkeypatch):
    rows = "".join(f"{n},100,{n % 40 + 1}\n" for n in range(60))
    trace = kvsim.read_trace("arrival_s,prompt_tokens,output_tokens\n" + rows)
    asked = small()
    plan = Plan("trace", AXES, 2, asked.plan.server, trace.lengths(), 200)
    asked = replace(asked, plan=plan, trace=trace, replay="own-times")
    monkeypatch.setattr("kvsim_app.answers.rows.LONG_TRACE", 59)
    job, ticket = answering.ask(asked)
    finish(hands, job)
    expected = [coarse_row, coarse_row, whole_row, whole_row, results_of, results_of]
    assert hands.functions[:6] == expected
    for result in job.status(ticket)["results"]:
        assert result["figures"]["requests"] == 60
        assert result["binding_limit"] is None
    monkeypatch.setattr("kvsim_app.answers.rows.LONG_TRACE", 60)
    other, ticket = answering.ask(replace(asked, replay="rate"))
    finish(hands, other)
    for result in other.status(ticket)["results"]:
        assert result["binding_limit"]["name"]


def test_real_workers_are_made_again_when_they_are_killed():
    answers = Answering(workers=1)
    try:
        answers.warm()
        wait_for(multiprocessing.active_children)
        job, ticket = answers.ask(small())
        wait_for(lambda: job.version)
        for worker in multiprocessing.active_children():
            os.kill(worker.pid, signal.SIGKILL)
        wait_for(lambda: not job.active)
        assert job.status(ticket)["reason"] is None
        assert job.state == "done"
    finally:
        answers.close()
    wait_for(lambda: not multiprocessing.active_children())


SERVER = """
import multiprocessing, sys, time
from kvsim_app.answers.answering import Answering
answers = Answering(workers=1)
answers.warm()
while len(multiprocessing.active_children()) < 2:
    time.sleep(0.01)
print(*(each.pid for each in multiprocessing.active_children()), flush=True)
time.sleep(600)
"""


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for a process in /proc")
def test_workers_end_with_a_server_that_is_killed():
    command = [sys.executable, "-c", SERVER]
    # Python's own tracker of resources may say there what a killed process has left.
    with subprocess.Popen(command, stdout=PIPE, stderr=DEVNULL, text=True) as server:
        workers = [int(pid) for pid in server.stdout.readline().split()]
        assert len(workers) == 2
        assert all(map(_runs, workers))
        server.kill()
    wait_for(lambda: not any(map(_runs, workers)))


def _runs(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False
