"""What must hold in every run, on runs of the plate's size with and without pressure."""

from functools import cache

import numpy as np
import pytest
from helpers import plate_requests
from slow import roofline_s

from kvsim import Contiguous, Paged, Server, simulate

# name: requests a second, server, allocation; those named "short" run out of memory.
SETTINGS = {
    "contiguous": (6, Server(), Contiguous(8192)),
    "contiguous, short": (18, Server(), Contiguous(8192)),
    "contiguous, 2,048, limited": (18, Server(max_num_seqs=20), Contiguous(2048)),
    "paged": (18, Server(), Paged(16, block_overhead=3.7)),
    "paged, block of one, short": (18, Server(cache_bytes=8e9), Paged(1)),
    "recompute, short": (30, Server(cache_bytes=12e9), Paged(16)),
    "swap, short": (30, Server(cache_bytes=12e9), Paged(64, 3.7, "swap")),
    "watermark and limits, short": (
        30,
        Server(cache_bytes=9e9, max_num_seqs=70, max_batched_tokens=8192),
        Paged(32, preemption="swap", watermark=0.005),
    ),
}
SEEDS = (1, 2)


@cache
def run_of(name, seed):
    rate, server, allocation = SETTINGS[name]
    max_length = min(getattr(allocation, "max_length", 8192), 8192)
    requests = plate_requests(rate, 500, seed, max_length)
    return requests, server, allocation, simulate(requests, server, allocation)


@pytest.fixture(params=[(name, seed) for name in SETTINGS for seed in SEEDS], ids=str)
def run(request):
    return run_of(*request.param)


def rows_of(timeline):
    """Request, pass and cached tokens after it, once for each pass of each stay, by request."""
    stays = timeline.stays
    passes = stays.last_pass - stays.first_pass + 1
    since_first = np.arange(passes.sum()) - np.repeat(np.cumsum(passes) - passes, passes)
    request = np.repeat(stays.request, passes)
    q = np.repeat(stays.first_pass, passes) + since_first
    order = np.lexsort((q, request))
    return request[order], q[order], (np.repeat(stays.first_tokens, passes) + since_first)[order]


def first_and_last_rows(requests):
    """In the rows of a run, by request: each takes part in as many passes as it has outputs."""
    last = np.cumsum(requests.output_tokens) - 1
    return last - requests.output_tokens + 1, last


def first_stays(timeline):
    """Index of the first stay of each request, in request order."""
    return np.unique(timeline.stays.request, return_index=True)[1]


def pass_times(timeline):
    q = range(timeline.passes)
    return np.array([[timeline.pass_start_s(i), timeline.pass_end_s(i)] for i in q]).T


def test_settings_put_pressure_where_they_say():
    for name in SETTINGS:
        for seed in SEEDS:
            requests, _, allocation, timeline = run_of(name, seed)
            waited = np.median(timeline.ttft_s) > 1
            assert waited == ("short" in name or "limit" in name), name
            if "short" in name and isinstance(allocation, Paged):
                assert timeline.preemptions.sum() > 10, name
            assert len(timeline.ttft_s) == len(requests)


def test_every_pass_gives_each_running_request_one_output_token(run):
    requests, _, _, timeline = run
    request, q, _ = rows_of(timeline)
    assert np.bincount(request).tolist() == requests.output_tokens.tolist()
    assert len(np.unique(request * timeline.passes + q)) == len(q), "twice in one pass"


def test_tokens_are_conserved(run):
    """The cache of a request holds its prompt and the tokens produced before, at every pass."""
    requests, _, _, timeline = run
    request, _, tokens = rows_of(timeline)
    first, last = first_and_last_rows(requests)
    produced = np.arange(len(request)) - first[request]
    np.testing.assert_array_equal(tokens, requests.prompt_tokens[request] + produced)
    np.testing.assert_array_equal(tokens[last], requests.prompt_tokens + requests.output_tokens - 1)


def test_memory_in_use_never_exceeds_the_cache(run):
    _, server, allocation, timeline = run
    _, q, tokens = rows_of(timeline)
    paged = isinstance(allocation, Paged)
    unit = allocation.block_size if paged else allocation.max_length
    capacity = int(server.cache_bytes / server.model.kv_bytes_per_token) // unit
    used = np.bincount(q, weights=-(-tokens // unit))
    assert used.max() <= capacity
    if timeline.preemptions.any():
        assert used.max() > 0.98 * capacity


def test_limits_hold(run):
    _, server, allocation, timeline = run
    _, q, _ = rows_of(timeline)
    running = np.bincount(q)
    assert running.max() == timeline.peak_running
    assert running.min() > 0, "a pass without requests"
    assert running.max() <= (server.max_num_seqs or np.inf)
    if server.max_batched_tokens:
        assert allocation.preemption == "swap"  # so that a return processes one token
        stays = timeline.stays
        processed = np.ones_like(stays.request)
        processed[first_stays(timeline)] = stays.first_tokens[first_stays(timeline)]
        more = np.bincount(stays.first_pass, weights=processed - 1, minlength=timeline.passes)
        assert (running + more).max() <= server.max_batched_tokens


def test_stays_follow_pre_emptions(run):
    requests, _, _, timeline = run
    stays = np.bincount(timeline.stays.request, minlength=len(requests))
    np.testing.assert_array_equal(stays, timeline.preemptions + 1)
    if isinstance(run[2], Contiguous):
        assert not timeline.preemptions.any()


def test_first_come_first_served(run):
    """Admissions are in order of arrival, and nobody is admitted before a pre-empted request."""
    requests, _, _, timeline = run
    stays, first = timeline.stays, first_stays(timeline)
    np.testing.assert_array_equal(stays.request[first], np.arange(len(requests)))
    assert (np.diff(first) > 0).all()
    assert (np.diff(stays.first_pass) >= 0).all()
    for stay in np.setdiff1d(np.arange(len(stays.request)), first):
        earlier = np.flatnonzero(stays.request[:stay] == stays.request[stay])[-1]
        between = stays.first_pass[first[stays.first_pass[first] > stays.last_pass[earlier]]]
        assert not (between < stays.first_pass[stay]).any()
        assert not (first[stays.first_pass[first] == stays.first_pass[stay]] < stay).any()


def test_nothing_ends_before_it_starts(run):
    requests, _, _, timeline = run
    start_s, end_s = pass_times(timeline)
    _, q, _ = rows_of(timeline)
    first, last = first_and_last_rows(requests)
    assert (end_s > start_s).all()
    assert (start_s[q[first]] >= requests.arrival_s).all()
    np.testing.assert_allclose(requests.arrival_s + timeline.ttft_s, end_s[q[first]], rtol=1e-9)
    np.testing.assert_allclose(timeline.finish_s, end_s[q[last]], rtol=1e-9)
    assert (timeline.finish_s >= requests.arrival_s + timeline.ttft_s - 1e-9).all()


def test_passes_follow_one_another_unless_the_server_is_empty(run):
    requests, _, _, timeline = run
    start_s, end_s = pass_times(timeline)
    assert (start_s[1:] >= end_s[:-1]).all()
    for q in np.flatnonzero(start_s[1:] > end_s[:-1]):
        arrived = requests.arrival_s <= end_s[q]
        assert (timeline.finish_s[arrived] <= end_s[q] + 1e-9).all()
        assert start_s[q + 1] in requests.arrival_s


def test_first_token_takes_at_least_its_own_prefill(run):
    requests, server, _, timeline = run
    p = requests.prompt_tokens
    prefill_s = np.maximum(*roofline_s(server, p, p * (p + 1) / 2, p)) + server.gpu.pass_overhead_s
    assert (timeline.ttft_s >= prefill_s * (1 - 1e-9)).all()


def test_littles_law(run):
    """Requests in the system, averaged over time = arrival rate x mean time in the system."""
    requests, _, _, timeline = run
    changes_s = np.unique(np.concatenate([[0], requests.arrival_s, *pass_times(timeline)]))
    middles_s = (changes_s[1:] + changes_s[:-1]) / 2
    in_system = [len(timeline.content_at(t)[0]) + timeline.waiting_at(t) for t in middles_s]
    duration_s = changes_s[-1]
    averaged = np.dot(in_system, np.diff(changes_s)) / duration_s
    rate = len(requests) / duration_s
    mean_s = np.mean(timeline.finish_s - requests.arrival_s)
    assert averaged == pytest.approx(rate * mean_s, rel=1e-6)


def test_waiting_is_never_negative_at_a_change(run):
    requests, _, _, timeline = run
    times_s = np.concatenate([requests.arrival_s, timeline.finish_s, *pass_times(timeline)])
    assert min(timeline.waiting_at(t) for t in times_s) >= 0


def test_same_input_gives_identical_output(run):
    requests, server, allocation, timeline = run
    again = simulate(requests, server, allocation)
    assert again.ttft_s.tobytes() == timeline.ttft_s.tobytes()
    assert again.finish_s.tobytes() == timeline.finish_s.tobytes()
    for name in ("request", "first_pass", "first_tokens", "last_pass"):
        np.testing.assert_array_equal(getattr(again.stays, name), getattr(timeline.stays, name))
