"""Shared prompts: the counting engine does what numbered blocks with remembered tokens do."""

from collections import Counter
from dataclasses import replace

import numpy as np
import slow
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from test_engine import GPUS, MODELS, assert_agree

from kvsim import Paged, Requests, Server, simulate
from kvsim.allocation import most_blocks


@st.composite
def shared_runs(draw, sharing=("running", "kept", "kept")):
    """Requests that have a prompt or the beginning of one in common, and a cache that is short."""
    model, gpu = draw(st.sampled_from(MODELS)), draw(st.sampled_from(GPUS))
    gpu = replace(gpu, copy_overhead_s=draw(st.sampled_from([0.0, 0.0, 1e-4])))
    tick_s = 0.3819660112501051 * (gpu.pass_overhead_s + model.weight_bytes / gpu.peak_bandwidth)
    samples = draw(st.sampled_from([1, 1, 2, 3, 5]))
    shared = draw(st.sampled_from([0, 0, 3, 8, 21]))
    prompts = draw(
        st.lists(
            st.tuples(st.sampled_from([0, 0, 0, 1, 5, 40, 1000]), st.integers(1, 25)),
            min_size=1,
            max_size=10,
        )
    )
    gap, own = np.repeat(prompts, samples, axis=0).T
    gap[np.arange(len(gap)) % samples > 0] = 0
    prompt = own + shared
    count = len(prompt)
    output = draw(st.lists(st.integers(1, 30), min_size=count, max_size=count))
    requests = Requests(np.cumsum(gap) * tick_s, prompt, output, samples, shared)

    allocation = Paged(
        block_size=draw(st.sampled_from([1, 2, 3, 4, 8, 16])),
        block_overhead=draw(st.sampled_from([0.0, 3.7])),
        preemption=draw(st.sampled_from(["recompute", "swap"])),
        watermark=draw(st.sampled_from([0.0, 0.0, 0.0, 0.05, 0.3])),
        sharing=draw(st.sampled_from(sharing)),
    )
    size = allocation.group_size(requests)
    needed = int(most_blocks(requests, size, allocation.block_size).max())
    blocks = needed
    while blocks - int(allocation.watermark * blocks) < needed:
        blocks += 1
    tokens = (blocks + draw(st.sampled_from([0, 1, 2, 5, 12, 30]))) * allocation.block_size
    recomputed = int((prompt[::size] + size * 30).max())
    server = Server(
        model,
        gpu,
        cache_bytes=tokens * model.kv_bytes_per_token,
        max_num_seqs=draw(st.none() | st.integers(size, 3 * size + 3)),
        max_batched_tokens=draw(st.none() | st.integers(recomputed, recomputed + 60)),
    )
    return requests, server, allocation


@settings(max_examples=600)
@given(shared_runs())
def test_agrees_with_numbered_blocks(run):
    assert_agree(run)


@settings(max_examples=100)
@given(shared_runs(sharing=("off",)))
def test_without_sharing_each_sample_is_a_request_of_its_own(run):
    requests, server, allocation = run
    alone = Requests(requests.arrival_s, requests.prompt_tokens, requests.output_tokens)
    fast, _ = assert_agree(run)
    assert fast.ttft_s.tolist() == simulate(alone, server, allocation).ttft_s.tolist()


def test_shared_runs_cover_the_model():
    """The strategy itself: each part of sharing is at work in a fair part of its runs."""
    seen = Counter()

    @settings(max_examples=300, derandomize=True, database=None, phases=[Phase.generate])
    @given(shared_runs())
    def count(run):
        requests, _, allocation = run
        exact = slow.simulate(*run)
        preempted = {r.number for r in exact.requests if r.preemptions}
        again = [
            one.ready[number]
            for one in exact.passes
            for number in one.ready
            if number in preempted and number % allocation.group_size(requests) == 0
        ]
        seen["runs"] += 1
        seen["copies"] += any(copied for r in exact.requests for copied in r.tables[1:])
        seen["samples pre-empted"] += requests.samples > 1 and bool(preempted)
        seen["swapped"] += bool(preempted) and allocation.preemption == "swap"
        seen["found again"] += (
            allocation.sharing == "kept" and allocation.preemption == "recompute" and any(again)
        )
        seen["system prompt found"] += requests.shared_tokens > 0 and any(
            each for one in exact.passes for each in one.ready.values()
        )

    count()
    for part, times in seen.items():
        assert times >= seen["runs"] / 20, f"{part}: {times} of {seen['runs']} runs"
