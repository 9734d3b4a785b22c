"""The fast simulator does what the slow one does, on thousands of small random settings."""

from collections import Counter

import numpy as np
import slow
from helpers import plate_requests, stays_of
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kvsim import (
    GPU,
    Buddy,
    Contiguous,
    FirstFit,
    Model,
    Paged,
    Requests,
    Server,
    simulate,
)

# A pass here takes the same order of time for arithmetic as for reading memory, so that it is
# bound by one or the other as requests come, grow and go.
MODELS = [
    Model("wide", parameters=1000, layers=2, attention_heads=8, kv_heads=1, head_dim=3),
    Model("even", parameters=300, layers=1, attention_heads=2, kv_heads=2, head_dim=5),
    Model("deep", parameters=40, layers=3, attention_heads=1, kv_heads=1, head_dim=7),
]
GPUS = [
    GPU(
        f"{ratio} operations a byte", ratio * 1.1e6, 1.1e6, pcie_bandwidth=3e5, pass_overhead_s=1e-3
    )
    for ratio in (1.3, 2.9, 5.7, 11.0)
]
BLOCK_SIZES = st.integers(1, 32)
KINDS = [Contiguous, Paged, Paged, Paged, Buddy, FirstFit]
BLOCK_OVERHEADS = st.sampled_from([0.0, 1.0, 3.7])
# All times are whole or dyadic numbers, without any rounding, so that a request can arrive at the
# very end of a pass.
CLOCKWORK_MODEL = Model(
    "clockwork", parameters=4, layers=1, attention_heads=1, kv_heads=1, head_dim=1
)
CLOCKWORK_GPUS = [
    GPU("clockwork", flops, 4.0, 4.0, 1.0, 1.0, 1.0, pass_overhead_s=1.0) for flops in (4.0, 16.0)
]


@st.composite
def small_runs(
    draw,
    models=MODELS,
    gpus=GPUS,
    tick_s=None,
    block_sizes=BLOCK_SIZES,
    block_overheads=BLOCK_OVERHEADS,
    kinds=KINDS,
):
    """Requests, server and allocation, with a cache that is short for them more often than not."""
    model, gpu = draw(st.sampled_from(models)), draw(st.sampled_from(gpus))
    if tick_s is None:
        # No multiple of it is the end of a pass, where a rounding error would decide.
        tick_s = 0.3819660112501051 * (
            gpu.pass_overhead_s + model.weight_bytes / gpu.peak_bandwidth
        )
    gaps = st.sampled_from([0, 0, 0, 1, 2, 7, 30, 1000])
    drawn = draw(
        st.lists(st.tuples(gaps, st.integers(1, 30), st.integers(1, 40)), min_size=1, max_size=14)
    )
    gap, prompt, output = np.array(drawn).T
    requests = Requests(np.cumsum(gap) * tick_s, prompt, output)
    longest = int((prompt + output).max())

    spare = draw(st.integers(0, 36))
    kind = draw(st.sampled_from(kinds))
    recomputes = False
    if kind is Contiguous:
        allocation = Contiguous(max_length=longest + draw(st.integers(0, 9)))
        tokens = allocation.max_length * (1 + spare // 12) + spare % 12
    elif kind is not Paged:
        allocation = kind(
            estimate=draw(st.sampled_from(["max", "pow2", "oracle"])),
            max_length=longest + draw(st.integers(0, 9)),
            block_size=draw(st.sampled_from([1, 2, 3, 8])),
        )
        blocks = int(allocation.run_blocks(requests).max()) + draw(st.integers(0, 24))
        tokens = blocks * allocation.block_size + spare % allocation.block_size
    else:
        allocation = Paged(
            block_size=draw(block_sizes),
            block_overhead=draw(block_overheads),
            preemption=draw(st.sampled_from(["recompute", "swap"])),
            watermark=draw(st.sampled_from([0.0, 0.0, 0.05, 0.3])),
        )
        recomputes = allocation.preemption == "recompute"
        size = allocation.block_size
        blocks = -(-(longest - 1) // size)
        while blocks - int(allocation.watermark * blocks) < -(-(longest - 1) // size):
            blocks += 1
        tokens = blocks * size + spare
    # A recomputed prefill is up to the whole length of its request.
    longest_prefill = longest - 1 if recomputes else int(prompt.max())
    server = Server(
        model,
        gpu,
        cache_bytes=(tokens + draw(st.sampled_from([0, 0.5]))) * model.kv_bytes_per_token,
        max_num_seqs=draw(st.none() | st.integers(1, 6)),
        max_batched_tokens=draw(st.none() | st.integers(longest_prefill, longest_prefill + 40)),
    )
    return requests, server, allocation


def clockwork_runs():
    return small_runs(
        models=[CLOCKWORK_MODEL],
        gpus=CLOCKWORK_GPUS,
        tick_s=1.0,
        block_sizes=st.sampled_from([1, 2, 4, 8]),
        block_overheads=st.sampled_from([0.0, 1.0]),
    )


def assert_agree(run):
    fast, exact = simulate(*run), slow.simulate(*run)
    np.testing.assert_allclose(fast.ttft_s, [r.ttft_s for r in exact.requests], rtol=1e-9)
    np.testing.assert_allclose(fast.finish_s, [r.finish_s for r in exact.requests], rtol=1e-9)
    assert fast.preemptions.tolist() == [r.preemptions for r in exact.requests]
    assert fast.passes == len(exact.passes)
    assert fast.peak_running == exact.peak_running
    assert stays_of(fast) == exact.stays
    assert_same_passes(fast, exact)
    return fast, exact


def assert_same_passes(fast, exact):
    """What each pass computed and moved, as the slow simulator counted it."""
    log, passes = fast.pass_log, exact.passes
    assert log.moved_tokens.tolist() == [one.moved_tokens for one in passes]
    assert log.moved_blocks.tolist() == [one.moved_blocks for one in passes]
    if isinstance(fast.allocation, Paged):
        units, size = fast.allocation.units(fast.server), fast.allocation.block_size
        assert fast.held_tokens.tolist() == [(units - one.free) * size for one in passes]
    ready = {
        (q, number): each for q, one in enumerate(passes) for number, each in one.ready.items()
    }
    stays = fast.stays
    for q, request, each in zip(stays.first_pass, stays.request, stays.ready_tokens, strict=True):
        assert ready[q, request] == each


@settings(max_examples=1200)
@given(small_runs())
def test_agrees_on_small_runs(run):
    assert_agree(run)


@settings(max_examples=500)
@given(small_runs(kinds=[Buddy, FirstFit]))
def test_agrees_where_memory_must_be_contiguous(run):
    assert_agree(run)


@settings(max_examples=600)
@given(clockwork_runs(), st.integers(0, 10**6))
def test_agrees_when_a_request_arrives_at_the_end_of_a_pass(run, pick):
    requests, server, allocation = run
    passes = slow.simulate(*run).passes
    end_s = passes[pick % len(passes)].end_s
    place = np.searchsorted(requests.arrival_s, end_s, side="right")
    tied = Requests(
        np.insert(requests.arrival_s, place, end_s),
        np.insert(requests.prompt_tokens, place, requests.prompt_tokens[0]),
        np.insert(requests.output_tokens, place, requests.output_tokens[0]),
    )
    assert_agree((tied, server, allocation))


@settings(max_examples=80)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(MODELS),
    st.sampled_from(GPUS),
    st.sampled_from(
        [
            Contiguous(240),
            Paged(1),
            Paged(7, 3.7),
            Paged(16, 0, "swap", 0.1),
            Buddy("pow2", 240, 4),
            FirstFit("oracle", 240, 4),
        ]
    ),
)
def test_agrees_on_longer_runs(seed, model, gpu, allocation):
    requests = plate_requests(400, 150, seed, max_length=240, mean_prompt=24, mean_output=24)
    assert_agree((requests, Server(model, gpu, 1000 * model.kv_bytes_per_token), allocation))


@settings(max_examples=80)
@given(small_runs())
def test_timeline_shows_each_pass(run):
    timeline, exact = assert_agree(run)
    arrival_s = np.array([r.arrival_s for r in exact.requests])
    finish_s = np.array([r.finish_s for r in exact.requests])
    for q, one in enumerate(exact.passes):
        np.testing.assert_allclose(
            [timeline.pass_start_s(q), timeline.pass_end_s(q)], [one.start_s, one.end_s], rtol=1e-9
        )
        middle_s = (one.start_s + one.end_s) / 2
        number, cached = timeline.content_at(middle_s)
        assert list(zip(number, cached, strict=True)) == list(one.cached.items())
        in_system = np.count_nonzero((arrival_s <= middle_s) & (middle_s < finish_s))
        assert timeline.waiting_at(middle_s) == in_system - len(one.cached)


def test_small_runs_cover_the_model():
    """The strategy itself: each part of the model is at work in a fair part of its runs."""
    seen = Counter()

    @settings(max_examples=400, derandomize=True, database=None, phases=[Phase.generate])
    @given(small_runs())
    def count(run):
        requests, server, allocation = run
        exact = slow.simulate(*run)
        preempted = any(r.preemptions for r in exact.requests)
        bound = {one.compute_bound for one in exact.passes if not one.admitted}
        unlimited = Server(server.model, server.gpu, server.cache_bytes)
        seen["runs"] += 1
        seen["contiguous"] += isinstance(allocation, Contiguous)
        seen["buddy"] += isinstance(allocation, Buddy)
        seen["first fit"] += isinstance(allocation, FirstFit)
        seen["recomputed"] += preempted and allocation.preemption == "recompute"
        seen["swapped"] += preempted and allocation.preemption == "swap"
        seen["pre-empted twice"] += any(r.preemptions > 1 for r in exact.requests)
        seen["queued"] += any(
            exact.passes[first].start_s > requests.arrival_s[number]
            for number, first, *_ in exact.stays
        )
        seen["limited"] += slow.simulate(requests, unlimited, allocation).stays != exact.stays
        seen["idle"] += any(
            after.start_s > before.end_s
            for before, after in zip(exact.passes, exact.passes[1:], strict=False)
        )
        seen["decodes bound by both sides"] += len(bound) == 2

    count()
    for part, times in seen.items():
        assert times >= seen["runs"] / 20, f"{part}: {times} of {seen['runs']} runs"
