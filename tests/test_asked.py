"""What is asked about a reader's own server: fields checked, and axes on which all of it fits."""

import json
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kvsim
from kvsim.deployment.cache_layout import GIB
from kvsim_app.answers import asked_axes
from kvsim_app.answers.asked import UnknownTraceError, read_asked, trace_bytes

LEAST = {"model": "llama-3-8b", "gpu": "H100"}
TRACE = kvsim.read_trace(
    "arrival_s,prompt_tokens,output_tokens\n"
    + "".join(f"{n},{100 + n},{n + 1}\n" for n in range(99))
)
AT_ONCE = kvsim.read_trace("arrival_s,prompt_tokens,output_tokens\n5,10,10\n5,20,20\n")
TRACES = {"here": TRACE, "at-once": AT_ONCE}


def asked(**fields):
    return read_asked(LEAST | fields, TRACES.get)


def sentence_for(given):
    """The one sentence with which something is refused."""
    with pytest.raises(ValueError) as refused:  # noqa: PT011, the sentence is what is tested
        read_asked(given, TRACES.get)
    sentence = str(refused.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    assert len(sentence) < 700
    return sentence


def test_the_plates_own_server_has_the_plates_numbers():
    found = asked(cache_bytes=56e9)
    plate = kvsim.Server()
    assert found.plan.server.capacity_tokens == plate.capacity_tokens
    # The preset counts its parameters, the plate's model rounds them.
    assert found.plan.server.model.weight_bytes == pytest.approx(plate.model.weight_bytes, rel=0.01)
    assert found.position["block_size"] == 16
    assert found.position["max_length"] == 8192
    assert found.title == "Llama 3 8B on H100 SXM"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"model": "llama-9"}, ("model", "'llama-9'", "llama-3-8b")),
        ({"model": None}, ("model", "config")),
        ({"config": "{}"}, ("model", "config")),
        ({"model": None, "config": "{}"}, ("num_hidden_layers",)),
        ({"model": None, "config": 7}, ("config",)),
        ({"parameters_billions": 7}, ("parameters_billions", "7")),
        ({"gpu": None}, ("gpu", "H100")),
        ({"gpu": ["H100"]}, ("gpu", "['H100']")),
        ({"tp": 0}, ("tp", "0", "1")),
        ({"tp": 3}, ("tp", "3", "divisor")),
        ({"tp": True}, ("tp", "True")),
        ({"pp": 2}, ("pp", "2")),
        ({"weights": "int8"}, ("weights", "'int8'", "4-bit")),
        ({"kv_dtype": "int8"}, ("kv_dtype", "'int8'", "fp8")),
        ({"utilization": 1.5}, ("utilization", "1.5", "1")),
        ({"utilization": 0.01}, ("does not fit", "GiB")),
        ({"cache_bytes": -1}, ("cache_bytes", "-1")),
        ({"cache_bytes": 1}, ("cache_bytes", "token")),
        ({"cache_bytes": 1e9, "cache_tokens": 50}, ("cache_tokens", "50", "cache_bytes")),
        ({"cache_bytes": 1e9, "utilization": 0.5}, ("utilization", "0.5")),
        ({"cache_tokens": 1.5}, ("cache_tokens", "1.5")),
        ({"compute_share": 0}, ("compute_share", "0")),
        ({"bandwidth_share": "half"}, ("bandwidth_share", "'half'")),
        ({"max_num_seqs": 0}, ("max_num_seqs", "0")),
        ({"max_batched_tokens": 512, "max_length": 1024}, ("max_length", "max_batched_tokens")),
        ({"workload": "poisson"}, ("workload", "'poisson'", "sharegpt")),
        ({"mean_prompt_tokens": 5}, ("mean_prompt_tokens", "5", "means")),
        ({"workload": "means", "mean_output_tokens": 0}, ("mean_output_tokens", "0")),
        ({"trace": "here"}, ("trace", "'here'")),
        ({"replay": "own-times"}, ("replay", "'own-times'")),
        ({"workload": "trace"}, ("trace", "send")),
        ({"workload": "trace", "trace": "here", "replay": "x"}, ("replay", "'x'", "own-times")),
        ({"workload": "trace", "trace": "at-once"}, ("replay", "own-times")),
        ({"block_size": 0}, ("block_size", "0")),
        ({"cache_tokens": 100, "block_size": 128}, ("block_size", "128", "100")),
        ({"max_length": 1}, ("max_length", "1", "2")),
        ({"cache_tokens": 5000, "max_length": 8192}, ("max_length", "8,192", "4,864")),
        ({"block_overhead": -1}, ("block_overhead", "-1")),
        ({"rate": 0}, ("rate", "0")),
        ({"rate": 1e300}, ("rate", "1e+300")),
        ({"ttft_s": 0}, ("ttft_s", "0")),
        ({"latency_s": float("nan")}, ("latency_s", "nan")),
        ({"colour": "red"}, ("'colour'", "gpu", "ttft_s")),
        ({"cache_tokens": 10**12}, ("requests", "max_num_seqs")),
    ],
)
def test_what_is_wrong_is_named_with_a_remedy(fields, named):
    sentence = sentence_for(LEAST | fields)
    for each in named:
        assert each in sentence


@pytest.mark.parametrize("given", [None, 5, "gpu", [], [LEAST]])
def test_what_is_no_object_is_refused(given):
    assert "object" in sentence_for(given)


def test_a_trace_that_is_not_here_must_be_sent():
    with pytest.raises(UnknownTraceError, match="send it again"):
        asked(workload="trace", trace="gone")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)
NAMES = (
    *("model", "config", "parameters_billions", "gpu", "tp", "pp", "weights", "kv_dtype"),
    *("utilization", "cache_bytes", "cache_tokens", "compute_share", "bandwidth_share"),
    *("max_num_seqs", "max_batched_tokens", "workload", "mean_prompt_tokens"),
    *("mean_output_tokens", "trace", "replay", "block_size", "max_length", "block_overhead"),
    *("rate", "ttft_s", "tpot_s", "latency_s"),
)


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=5), ANYTHING, max_size=3))
@settings(max_examples=150)
def test_anything_at_all_is_answered_or_refused_in_a_sentence(fields):
    try:
        found = read_asked(LEAST | fields, TRACES.get)
    except ValueError as refused:
        sentence = str(refused)
        assert sentence.endswith(".")
        assert len(sentence) < 900
    else:
        assert found.plan.replications >= 1


@given(
    tokens=st.integers(2, 300_000),
    block=st.none() | st.integers(1, 600),
    length=st.none() | st.integers(2, 50_000),
    rate=st.none() | st.floats(0.001, 500),
    batched=st.none() | st.integers(2, 20_000),
)
@settings(max_examples=60)
def test_at_every_position_the_longest_request_can_run(tokens, block, length, rate, batched):
    fields = {
        "block_size": block,
        "max_length": length,
        "rate": rate,
        "max_batched_tokens": batched,
    }
    try:
        found = asked(cache_tokens=tokens, workload="sharegpt", **fields)
    except ValueError:
        return
    plan, at = found.plan, found.position
    assert plan.server.capacity_tokens == tokens
    for name, value in {"block_size": block, "max_length": length, "rate": rate}.items():
        if value is not None:
            assert at[name] == value
    for name, values in plan.axes.items():
        assert at[name] in values
        assert values == sorted(set(values))
    for allocation, lengths in (each for kind in plan.positions().values() for each in kind):
        most = lengths.max_length
        requests = kvsim.Requests([0, 0], [1, most - 1], [most - 1, 1])
        allocation.check(requests, plan.server)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"model": "qwen3-30b-a3b", "gpu": "L40S", "weights": "fp8"},
        {"model": "opt-13b", "gpu": "A100-40GB", "workload": "sharegpt"},
        {"max_num_seqs": 20},
        {"workload": "trace", "trace": "here"},
    ],
)
def test_rates_lie_around_that_which_is_sustained(fields):
    found = asked(**fields)
    rates = found.plan.axes["rate"]
    sustained = kvsim.sustained_rate(
        found.plan.server,
        found.allocations["paged"],
        found.lengths,
        replications=1,
        requests=found.plan.saturated_requests,
    )
    assert len(rates) in (asked_axes.RATES, asked_axes.RATES + 1)
    assert rates[2] < sustained < rates[-2]
    assert found.position["rate"] < 1.3 * sustained
    assert json.loads(json.dumps(rates)) == rates


def test_a_round_step_is_the_next_above():
    assert asked_axes.round_rates(0.7)[:3] == [1, 2, 3]
    assert asked_axes.round_rates(1.6)[-1] == 40
    assert asked_axes.round_rates(0.021)[:2] == [0.025, 0.05]
    assert asked_axes.round_rates(1)[0] == 1


def test_the_work_of_a_row_is_bounded_and_that_is_said():
    few = asked()
    assert (few.plan.replications, few.notes) == (asked_axes.REPLICATIONS, ())
    many = asked(model="gpt-oss-20b", gpu="B200")
    assert many.plan.replications < asked_axes.REPLICATIONS
    assert any("so many requests" in note.lower() for note in many.notes)


def test_what_is_the_same_has_the_same_name():
    same = asked(tp=None, block_size=16.0, workload="exponential", utilization=0.9)
    assert same.identity == asked().identity
    others = [
        {"tp": 2},
        {"kv_dtype": "fp8"},
        {"block_size": 32},
        {"rate": 17.5},
        {"ttft_s": 1},
        {"compute_share": 0.7},
        {"workload": "means", "mean_prompt_tokens": 1000},
        {"workload": "trace", "trace": "here"},
        {"workload": "trace", "trace": "here", "replay": "own-times"},
    ]
    names = {asked(**fields).identity for fields in others}
    assert len(names | {same.identity}) == len(others) + 1


def test_a_config_is_read_as_the_preset_is():
    config = kvsim.MODELS["llama-3-8b"].config
    for description in (config, json.dumps(config)):
        found = asked(model=None, config=description)
        assert found.plan.server.model.weight_bytes == asked().plan.server.model.weight_bytes
        assert found.plan.server.capacity_tokens == asked().plan.server.capacity_tokens


def test_a_cache_as_printed_is_taken_as_it_is():
    found = asked(cache_bytes=10 * GIB, tp=2)
    assert found.plan.server.cache_bytes == 20 * GIB
    assert asked(cache_tokens=12345, tp=2).plan.server.capacity_tokens == 12345


def test_efficiencies_are_the_defaults_unless_given():
    gpu = asked(compute_share=0.75).plan.server.gpu
    assert (gpu.compute_share, gpu.bandwidth_share) == (0.75, kvsim.H100.bandwidth_share)


def test_a_trace_gives_its_lengths_and_says_what_is_cut():
    found = asked(workload="trace", trace="here", max_length=150)
    assert found.trace is TRACE
    total = TRACE.prompt_tokens + TRACE.output_tokens
    cut = np.count_nonzero(total > 150)
    assert any(f"{cut} of the trace's 99 requests" in note for note in found.notes)
    assert found.lengths.max_length == 150
    assert found.plan.constants()["mean_prompt_tokens"] == pytest.approx(TRACE.prompt_tokens.mean())


def test_longer_requests_than_the_model_is_made_for_are_remarked():
    assert any("made for" in note for note in asked(max_length=16384).notes)


def test_whatever_a_trace_has_beside_its_numbers_takes_memory_too():
    names = ",".join(f"column_{n}" for n in range(1000))
    header = f"arrival_s,prompt_tokens,output_tokens,{names}\n"
    trace = kvsim.read_trace(f"{header}0,1,1{',' * 1000}\n")
    assert trace_bytes(trace) >= sum(map(sys.getsizeof, trace.further_columns))
    bad = kvsim.read_trace(
        "arrival_s,prompt_tokens,output_tokens\n0,1,1\n" + "x\n" * 1000, leave_out_bad_rows=True
    )
    assert trace_bytes(bad) >= sum(sys.getsizeof(row.reason) for row in bad.bad_rows)
