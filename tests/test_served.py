"""A chosen model on chosen GPUs: what is left for its cache, and the server that is simulated."""

from dataclasses import replace

import pytest

import kvsim
from kvsim import ExponentialLengths, Paged, Requests, Server, capacity, simulate
from kvsim.deployment.cache_layout import GIB, cache_layout
from kvsim.deployment.cards import CARDS
from kvsim.deployment.config_json import read_config
from kvsim.deployment.presets import MODELS
from kvsim.deployment.served import WORKING_BYTES, cache_bytes_left, server_for, simplifications
from kvsim.roofline import Roofline

H100 = CARDS["H100"]
LLAMA = MODELS["llama-3-8b"].shape


def test_the_cache_has_what_weights_and_work_leave():
    left = cache_bytes_left(LLAMA, H100, utilization=0.9)
    weights = LLAMA.parameters.weight_bytes("bf16")
    assert left == 0.9 * H100.memory_bytes - weights - WORKING_BYTES
    spread = cache_bytes_left(LLAMA, H100, utilization=0.9, tp=2, pp=2)
    assert spread - left == pytest.approx(3 / 4 * weights)
    quantized = cache_bytes_left(LLAMA, H100, weights="4-bit", working_bytes=0)
    assert quantized == pytest.approx(0.9 * H100.memory_bytes - 5.8e9, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"utilization": 0}, "utilization is 0"),
        ({"utilization": 1.1}, "utilization is 1.1"),
        ({"tp": 0}, "tp is 0"),
        ({"pp": 1.5}, "pp is 1.5"),
        ({"weights": "int3"}, "weights is 'int3'"),
        ({"working_bytes": -1}, "working_bytes is -1"),
        ({"kv_dtype": "int3"}, "kv_dtype is 'int3'"),
        ({"tp": 3}, "tp is 3"),
        ({"pp": 2}, "pp is 2: pipeline stages"),
        ({"max_num_seqs": 0}, "max_num_seqs is 0"),
    ],
)
def test_bad_values_are_refused(options, said):
    with pytest.raises(ValueError, match=said):
        server_for(LLAMA, H100, **options)


def test_a_model_that_does_not_fit_is_refused_with_the_numbers():
    shape = MODELS["llama-3-70b"].shape
    with pytest.raises(ValueError, match="does not fit on 1 x H100 SXM") as refused:
        server_for(shape, H100)
    for figure in ("71.68 GiB", "131.41 for bf16 weights", "2.00 to work with"):
        assert figure in str(refused.value)
    assert server_for(shape, H100, tp=4).gpu.name == "4 x H100 SXM"


def test_llama_on_an_h100_is_as_fast_as_the_plates():
    """But for 0.002 % of its parameters, norms, which are not counted."""
    chosen, plate = Roofline(server_for(LLAMA, H100), 1), Roofline(Server(), 1)
    assert vars(chosen) == pytest.approx(vars(plate), rel=1e-4)
    assert chosen.attended_s == plate.attended_s
    assert chosen.cached_s == plate.cached_s


ONE_GROUP = [
    "llama-3-8b",
    "mistral-7b",
    "mixtral-8x7b",
    "qwen3-30b-a3b",
    "phi-4",
    "deepseek-v3",
    "opt-13b",
]


def test_a_printed_cache_is_taken_as_it_is():
    """Even where the model would not fit: the server that printed it runs."""
    shape = MODELS["llama-3-70b"].shape
    server = server_for(shape, H100, tp=2, cache_bytes=GIB)
    assert server.cache_bytes == 2 * GIB
    assert server.capacity_tokens == 2 * GIB // 327_680
    with pytest.raises(ValueError, match="cache_bytes is 0"):
        server_for(shape, H100, cache_bytes=0)


@pytest.mark.parametrize("model", ONE_GROUP)
@pytest.mark.parametrize("kv_dtype", ["bf16", "fp8"])
def test_a_simulated_cache_has_the_blocks_that_the_formulas_give(model, kv_dtype):
    shape, card, tp = MODELS[model].shape, CARDS["B200"], 5 if model == "phi-4" else 8
    server = server_for(shape, card, tp=tp, kv_dtype=kv_dtype)
    layout = cache_layout(shape.layers, tp=tp, kv_dtype=kv_dtype)
    blocks = layout.blocks(cache_bytes_left(shape, card, tp=tp))
    assert Paged(16).units(server) == blocks
    lengths = ExponentialLengths(max_length=2048)
    assert capacity(server, Paged(16), lengths).requests > 0


def test_two_gpus_take_half_the_time_for_what_they_share():
    def roofline(model, tp):
        return Roofline(server_for(MODELS[model].shape, CARDS["B200"], tp=tp), 1)

    one, two = roofline("llama-3-8b", 1), roofline("llama-3-8b", 2)
    for name in ("token_s", "attended_s", "weights_s", "cached_s", "moved_s"):
        assert getattr(two, name) == pytest.approx(getattr(one, name) / 2)
    assert two.overhead_s == one.overhead_s
    # Every GPU keeps, and reads, all of a latent cache; and heads beyond 8 are kept twice.
    for model in ("deepseek-v3", "llama-3-8b"):
        more, fewer = roofline(model, 16), roofline(model, 8)
        assert more.cached_s == pytest.approx(fewer.cached_s)


def test_a_mixture_of_experts_reads_all_and_multiplies_few():
    shape = MODELS["mixtral-8x7b"].shape
    model = server_for(shape, CARDS["B200"]).model
    assert model.weight_bytes == shape.parameters.weight_bytes("bf16")
    assert model.flops_per_token == 2 * shape.parameters.active
    assert model.flops_per_token < model.weight_bytes / 3


def test_a_model_with_windows_is_simulated_as_if_it_had_none():
    shape = MODELS["gpt-oss-20b"].shape
    server = server_for(shape, CARDS["L40S"])
    assert server.model.kv_bytes_per_token == 49_152
    requests = Requests([0, 0, 0.5], [1000, 200, 3000], [100, 50, 20])
    timeline = simulate(requests, server, Paged(16))
    assert (timeline.finish_s > timeline.ttft_s).all()
    assert any("sliding window" in each for each in simplifications(shape))
    assert any("experts" in each for each in simplifications(shape, 2))
    assert any("communication" in each for each in simplifications(shape, 2))
    assert simplifications(LLAMA) == []


PLAIN = {"num_hidden_layers": 4, "num_attention_heads": 8, "hidden_size": 512}
GATED = {
    "full_attention_interval": 4,
    "linear_num_value_heads": 8,
    "linear_num_key_heads": 8,
    "linear_key_head_dim": 64,
    "linear_value_head_dim": 64,
    "linear_conv_kernel_dim": 4,
}


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (PLAIN | GATED, "linear state: only its capacity is computed"),
        (
            PLAIN
            | {"layer_types": ["full_attention"] * 2 + ["sliding_attention"] * 2}
            | {"sliding_window": 64, "global_head_dim": 128},
            "layers of different heads",
        ),
        (
            {"num_hidden_layers": 4, "num_key_value_heads": 8, "head_dim": 64},
            "does not say its attention heads",
        ),
        (
            {"num_hidden_layers": 4, "kv_lora_rank": 64, "qk_rope_head_dim": 16},
            "does not say its attention heads",
        ),
        (PLAIN, "mine: The parameters of a model_type None cannot be counted"),
    ],
)
def test_what_cannot_be_simulated_is_refused_by_name(config, said):
    with pytest.raises(ValueError, match=said):
        server_for(read_config(config, "mine"), H100)


def test_parameters_may_be_given():
    shape = read_config(PLAIN, "mine").with_parameters(1.5)
    assert server_for(shape, H100).model.weight_bytes == 3e9
    with pytest.raises(ValueError, match="parameters is 0"):
        shape.with_parameters(0)


def test_a_served_model_refuses_what_a_model_does():
    model = server_for(LLAMA, H100).model
    for name in ("weights_bytes", "cached_bytes", "active_parameters", "attention_flops", "layers"):
        with pytest.raises(ValueError, match=f"{name} is 0"):
            replace(model, **{name: 0})


def test_the_smallest_cache_that_is_left_still_serves():
    left = cache_bytes_left(LLAMA, H100)
    server = server_for(LLAMA, H100, working_bytes=WORKING_BYTES + left - GIB)
    assert server.capacity_tokens == GIB // 131_072


@pytest.mark.parametrize("model", ["mixtral-8x7b", "gpt-oss-20b", "deepseek-v3"])
def test_a_server_can_be_written_out_with_what_is_exported(model):
    """Results are kept with the Python that makes them again."""
    server = server_for(MODELS[model].shape, CARDS["B200"], tp=8, kv_dtype="fp8")
    assert eval(repr(server), vars(kvsim)) == server
