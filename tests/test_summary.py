"""Percentiles, rates and goodput of runs, against what NumPy says of the raw arrays."""

from dataclasses import astuple, fields

import numpy as np
import pytest
from helpers import plate_requests, stays_of
from hypothesis import given, settings
from hypothesis import strategies as st

from kvsim import Contiguous, Paged, Requests, Server, ServiceLimits, simulate, summarise
from kvsim.summary import recomputed_tokens

SMALL = Server(cache_bytes=1200 * Server().model.kv_bytes_per_token)


def small_run(seed, preemption="recompute", count=40):
    """A run on a small server, which pre-empts."""
    requests = plate_requests(20, count, seed, max_length=1000, mean_prompt=150, mean_output=100)
    return simulate(requests, SMALL, Paged(16, preemption=preemption))


def test_times_of_a_request():
    """Two tokens of output: one from the prefill, one from the decode after it."""
    timeline = simulate(Requests([1.0, 50.0], [100, 100], [2, 1]), Server(), Contiguous())
    ends_s = timeline.pass_log.end_s
    assert timeline.ttft_s[0] == pytest.approx(ends_s[0] - 1)
    assert timeline.latency_s.tolist() == pytest.approx([ends_s[1] - 1, ends_s[2] - 50])
    assert timeline.tpot_s[0] == pytest.approx(ends_s[1] - ends_s[0])
    assert np.isnan(timeline.tpot_s[1])


@settings(max_examples=30)
@given(
    seeds=st.lists(st.integers(0, 10**6), min_size=1, max_size=3),
    preemption=st.sampled_from(["recompute", "swap"]),
)
def test_percentiles_are_those_of_all_requests_together(seeds, preemption):
    runs = [small_run(seed, preemption) for seed in seeds]
    summary = summarise(runs)
    for measure in ("ttft_s", "tpot_s", "latency_s"):
        pooled = np.concatenate([getattr(run, measure) for run in runs])
        expected = np.nanpercentile(pooled, [50, 90, 99])
        assert astuple(getattr(summary, measure)) == tuple(expected)
    latency_s = np.concatenate([run.finish_s - run.requests.arrival_s for run in runs])
    output = np.concatenate([run.requests.output_tokens for run in runs])
    assert summary.normalized_latency_s == pytest.approx(np.mean(latency_s / output))
    assert (summary.runs, summary.requests) == (len(seeds), len(output))
    elapsed_s = sum(run.finish_s.max() - run.requests.arrival_s[0] for run in runs)
    assert summary.completed_per_s == pytest.approx(len(output) / elapsed_s)


limit = st.none() | st.floats(1e-4, 20)


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), limits=st.builds(ServiceLimits, limit, limit, limit))
def test_goodput_counts_who_keeps_within_all_limits(seed, limits):
    run = small_run(seed)
    within = 0
    for ttft_s, tpot_s, latency_s in zip(run.ttft_s, run.tpot_s, run.latency_s, strict=True):
        within += (
            (limits.ttft_s is None or ttft_s <= limits.ttft_s)
            and (limits.tpot_s is None or np.isnan(tpot_s) or tpot_s <= limits.tpot_s)
            and (limits.latency_s is None or latency_s <= limits.latency_s)
        )
    summary = summarise([run], limits)
    assert summary.within_limits == within
    assert summary.goodput_per_s <= summary.completed_per_s
    assert summary.goodput_per_s == pytest.approx(within / summary.elapsed_s)
    assert summarise([run]).goodput_per_s == summary.completed_per_s


def test_a_stricter_limit_never_raises_goodput():
    runs = [small_run(7)]
    goodput = [summarise(runs, ServiceLimits(ttft_s=s)).goodput_per_s for s in (0.01, 0.1, 1, 100)]
    assert goodput == sorted(goodput)
    assert goodput[0] < goodput[-1]


@pytest.mark.parametrize("preemption", ["recompute", "swap"])
def test_what_preemption_costs(preemption):
    run = small_run(3, preemption)
    summary = summarise([run])
    returns, held = 0, 0
    seen = {}
    for request, _, tokens, _ in stays_of(run):
        returns += request in seen
        held += tokens - 1 if request in seen else 0
        seen[request] = True
    assert returns > 0
    assert summary.preemptions == returns
    assert summary.preempted_requests == np.count_nonzero(run.preemptions)
    assert summary.recomputed_tokens == (held if preemption == "recompute" else 0)
    # What is prefilled beyond the prompts was prefilled before, but for a token each that is new.
    if preemption == "recompute":
        log = run.pass_log
        prefilled = log.processed_tokens.sum() - (run.requests.output_tokens - 1).sum()
        assert prefilled - run.requests.prompt_tokens.sum() == recomputed_tokens(run).sum()


def test_no_requests_are_no_error():
    summary = summarise([simulate(Requests([], [], []), Server(), Paged())])
    assert summary.requests == summary.preemptions == summary.elapsed_s == 0
    figures = summary.figures()
    assert np.isnan([summary.completed_per_s, summary.goodput_per_s, summary.ttft_s.p50]).all()
    assert np.isnan(figures["normalized_latency_s_per_token"])


def test_answers_of_one_token_have_no_tpot():
    summary = summarise([simulate(Requests([0], [9], [1]), Server(), Paged())])
    assert np.isnan(astuple(summary.tpot_s)).all()
    assert summary.within_limits == 1
    limits = ServiceLimits(tpot_s=1e-9)
    run = simulate(Requests([0, 0], [9, 9], [1, 2]), Server(), Paged())
    assert limits.kept(run).tolist() == [True, False]


def test_no_runs_are_refused():
    with pytest.raises(ValueError, match=r"timelines is empty: give at least one run\."):
        summarise([])


@pytest.mark.parametrize("name", [each.name for each in fields(ServiceLimits)])
@pytest.mark.parametrize("value", [0, -1, float("nan"), "1", True])
def test_limits_that_are_none_are_refused(name, value):
    with pytest.raises(ValueError, match=rf"^{name} is {value!r}: it must be .*\.$"):
        ServiceLimits(**{name: value})
