"""Bad input is refused at the door, with one sentence that says what is wrong and what is right."""

from dataclasses import replace

import numpy as np
import pytest
from slow import kv_bytes_per_token

from kvsim import GPU, H100, LLAMA_3_8B, Contiguous, Model, Paged, Requests, Server, simulate

TOKEN_BYTES = kv_bytes_per_token(LLAMA_3_8B)
NAN, INF = float("nan"), float("inf")
SHAPE = {"parameters": 8e9, "layers": 32, "attention_heads": 32, "kv_heads": 8, "head_dim": 128}
RATES = {"peak_flops": 1e15, "peak_bandwidth": 3e12, "pcie_bandwidth": 64e9}


def assert_refuses(call, *parts):
    """``call`` raises ``ValueError`` with one sentence that contains all ``parts``."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011, the sentence is checked below
        call()
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert ". " not in sentence
    assert "\n" not in sentence
    assert len(sentence) < 200
    for part in parts:
        assert part in sentence


@pytest.mark.parametrize("value", [0, -1, 2.5, NAN, INF])
@pytest.mark.parametrize("name", ["prompt_tokens", "output_tokens"])
def test_lengths_that_are_no_whole_tokens(name, value):
    columns = {"arrival_s": [0, 1], "prompt_tokens": [5, 5], "output_tokens": [5, 5]}
    columns[name] = [5, value]
    right = "whole number of at least 1" if np.isfinite(value) else "finite"
    assert_refuses(lambda: Requests(**columns), name, "request 1", str(value), right)


@pytest.mark.parametrize(
    ("arrival_s", "parts"),
    [
        ([-0.5, 1], ["request 0", "-0.5", "0 or later"]),
        ([2, 1], ["request 1", "is 1", "sort"]),
        ([0, NAN], ["request 1", "nan", "finite"]),
        ([0, INF], ["request 1", "inf", "finite"]),
        ([0, "soon"], ["soon", "numbers"]),
        ([[0, 1]], ["2 dimensions", "flat list"]),
    ],
    ids=str,
)
def test_arrivals(arrival_s, parts):
    assert_refuses(lambda: Requests(arrival_s, [5, 5], [5, 5]), "arrival_s", *parts)


@pytest.mark.parametrize("sizes", [(1, 2, 2), (2, 1, 2), (2, 2, 1), (2, 2, 0)])
def test_unequal_lengths(sizes):
    columns = [[1] * size for size in sizes]
    assert_refuses(lambda: Requests(*columns), *map(str, sizes), "one of each")


@pytest.mark.parametrize("value", [0, -1, NAN, INF, "8"])
@pytest.mark.parametrize(
    ("make", "name"),
    [
        *((lambda **one: Model("m", **SHAPE | one), name) for name in SHAPE),
        (lambda **one: Model("m", **SHAPE, **one), "bytes_per_parameter"),
        (lambda **one: Model("m", **SHAPE, **one), "bytes_per_kv_element"),
        *((lambda **one: GPU("g", **RATES | one), name) for name in RATES),
        (lambda **one: GPU("g", **RATES, **one), "compute_share"),
        (lambda **one: GPU("g", **RATES, **one), "bandwidth_share"),
        (lambda **one: GPU("g", **RATES, **one), "pcie_share"),
        (Server, "cache_bytes"),
        (Server, "max_num_seqs"),
        (Server, "max_batched_tokens"),
        (Contiguous, "max_length"),
        (Paged, "block_size"),
    ],
)
def test_sizes_and_rates_that_are_not_above_zero(make, name, value):
    assert_refuses(lambda: make(**{name: value}), name, repr(value), "must be")


@pytest.mark.parametrize(
    ("call", "parts"),
    [
        (lambda: GPU("g", **RATES, pass_overhead_s=-1), ["pass_overhead_s", "-1", "0 or more"]),
        (lambda: GPU("g", **RATES, compute_share=1.5), ["compute_share", "1.5", "at most 1"]),
        (lambda: Model("m", **SHAPE | {"layers": 1.5}), ["layers", "1.5", "whole number"]),
        (lambda: Server(max_num_seqs=1.5), ["max_num_seqs", "1.5", "whole number"]),
        (lambda: Server(cache_bytes=1000), ["cache_bytes", "1000", "131,072"]),
        (lambda: Contiguous(1), ["max_length", "1", "at least 2"]),
        (lambda: Paged(2.5), ["block_size", "2.5", "whole number"]),
        (lambda: Paged(block_overhead=-1), ["block_overhead", "-1", "0 or more"]),
        (lambda: Paged(block_overhead=NAN), ["block_overhead", "nan", "finite"]),
        (lambda: Paged(preemption="drop"), ["preemption", "'drop'", "'recompute'", "'swap'"]),
        (lambda: Paged(watermark=1.0), ["watermark", "1.0", "below 1"]),
        (lambda: Paged(watermark=-0.1), ["watermark", "-0.1", "0"]),
        (lambda: Paged(watermark=NAN), ["watermark", "nan"]),
    ],
)
def test_settings_outside_of_their_range(call, parts):
    assert_refuses(call, *parts)


def one_request_after_another(prompt, output):
    return Requests([0.0, 1.0], [1, prompt], [1, output])


@pytest.mark.parametrize(
    ("requests", "tokens", "allocation", "parts"),
    [
        # prompt + output one above the slot
        ((90, 11), 300, Contiguous(100), ["Request 1", "101", "max_length is 100", "shorten"]),
        # a slot, and a block, one token larger than the cache
        ((1, 1), 99, Contiguous(100), ["max_length", "100", "at most 99", "enlarge the cache"]),
        ((1, 1), 15, Paged(16), ["block_size", "16", "at most 15", "enlarge the cache"]),
        # 129 cached tokens at the end, in eight blocks of 16; then the watermark keeps one free
        ((100, 30), 128, Paged(16), ["Request 1", "9 blocks", "8", "shorten", "enlarge"]),
        (
            (100, 29),
            128,
            Paged(16, watermark=0.125),
            ["Request 1", "8 blocks", "7", "lower the watermark"],
        ),
    ],
    ids=["longer than a slot", "no slot", "no block", "too few blocks", "below the watermark"],
)
def test_requests_that_never_fit(monkeypatch, requests, tokens, allocation, parts):
    forbid_simulation(monkeypatch)
    server = Server(cache_bytes=tokens * TOKEN_BYTES)
    assert_refuses(
        lambda: simulate(one_request_after_another(*requests), server, allocation), *parts
    )


@pytest.mark.parametrize("allocation", [Contiguous(200), Paged(16), Paged(16, preemption="swap")])
def test_prompts_above_max_batched_tokens(monkeypatch, allocation):
    forbid_simulation(monkeypatch)
    server = Server(max_batched_tokens=99)
    assert_refuses(
        lambda: simulate(one_request_after_another(100, 1), server, allocation),
        *("Request 1", "100", "max_batched_tokens is 99", "shorten", "raise"),
    )


def forbid_simulation(monkeypatch):
    def started(*_):
        raise AssertionError("the simulation has started")

    monkeypatch.setattr("kvsim.engine.Roofline", started)


def test_simulation_can_be_forbidden(monkeypatch):
    forbid_simulation(monkeypatch)
    with pytest.raises(AssertionError, match="has started"):
        simulate(one_request_after_another(1, 1), Server(), Paged())


@pytest.mark.parametrize(
    ("requests", "tokens", "allocation"),
    [
        ((90, 10), 100, Contiguous(100)),
        ((100, 29), 128, Paged(16)),
        ((84, 29), 128, Paged(16, watermark=0.125)),
    ],
)
def test_requests_that_just_fit(requests, tokens, allocation):
    server = Server(cache_bytes=tokens * TOKEN_BYTES, max_batched_tokens=100)
    timeline = simulate(one_request_after_another(*requests), server, allocation)
    assert np.isfinite(timeline.finish_s).all()


def test_recomputation_above_max_batched_tokens_ends():
    """Two requests grow until one is pre-empted, when its prefill has become too large."""
    requests = Requests([0, 0], [16, 16], [40, 40])
    server = Server(cache_bytes=64 * TOKEN_BYTES, max_batched_tokens=32)
    assert_refuses(lambda: simulate(requests, server, Paged(16)), "Request 1", "33", "32", "swap")
    simulate(requests, server, Paged(16, preemption="swap"))


def test_no_requests_are_no_error():
    timeline = simulate(Requests([], [], []), Server(), Paged())
    assert timeline.passes == timeline.peak_running == len(timeline.ttft_s) == 0
    assert len(timeline.content_at(0.0)[0]) == timeline.waiting_at(0.0) == 0


@pytest.mark.parametrize("sharing", ["running", "kept"])
def test_samples_that_are_never_admitted_together(monkeypatch, sharing):
    requests = Requests([0] * 8, [40] * 8, [5] * 8, samples=4)
    allocation = Paged(sharing=sharing)
    assert simulate(requests, Server(max_num_seqs=4), allocation).finish_s.all()
    assert simulate(requests, Server(max_num_seqs=1), Paged(sharing="off")).finish_s.all()
    forbid_simulation(monkeypatch)
    assert_refuses(
        lambda: simulate(requests, Server(max_num_seqs=3), allocation),
        "samples is 4", "max_num_seqs is 3", "raise max_num_seqs",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["compute_share", "bandwidth_share", "pcie_share"])
def test_passes_that_never_end(name):
    server = Server(gpu=replace(H100, **{name: 5e-324}))
    requests = Requests([0], [40], [5])
    assert_refuses(lambda: simulate(requests, server, Paged()), "no finite time", H100.name)
