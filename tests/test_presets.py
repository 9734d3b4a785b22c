"""The models and GPUs that are known by name, against what is published of them."""

import re

import pytest

from kvsim.deployment.cards import CARDS
from kvsim.deployment.config_json import read_config
from kvsim.deployment.layers import Attention, Latent
from kvsim.deployment.presets import MODELS
from kvsim.hardware import A100_40GB, A100_80GB, H100
from kvsim.model import LLAMA_3_8B, OPT_13B

GIB = 2**30


@pytest.mark.parametrize("model", MODELS)
def test_counted_parameters_are_the_published_ones(model):
    preset = MODELS[model]
    counted = preset.shape.parameters
    assert counted.total / 1e9 == pytest.approx(preset.billions, rel=3e-3)
    if preset.active_billions is None:
        assert counted.active == counted.total
    else:
        # Some authors count the table of tokens, which is only looked up, and some do not.
        without, with_it = (counted.active - counted.lookup) / 1e9, counted.active / 1e9
        assert without * 0.99 <= preset.active_billions <= with_it * 1.01


@pytest.mark.parametrize("model", MODELS)
def test_every_model_names_the_file_it_is_from(model):
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", MODELS[model].source)
    assert MODELS[model].shape.max_length >= 2048
    assert read_config(MODELS[model].config, MODELS[model].title) == MODELS[model].shape


@pytest.mark.parametrize(
    ("model", "bytes_per_token"),
    [
        ("llama-3-8b", 131_072),
        ("llama-3-70b", 327_680),
        ("mistral-7b", 131_072),
        ("mixtral-8x7b", 131_072),
        ("qwen2.5-7b", 57_344),
        ("qwen3-8b", 147_456),
        ("qwen3-30b-a3b", 98_304),
        ("phi-4", 204_800),
        ("gemma-2-9b", 344_064),
        ("gemma-3-27b", 507_904),
        ("gpt-oss-20b", 49_152),
        ("gpt-oss-120b", 73_728),
        ("deepseek-v3", 70_272),
        ("opt-13b", 819_200),
    ],
)
def test_bytes_of_a_token_over_all_layers(model, bytes_per_token):
    layers = MODELS[model].shape.layers
    assert sum(layer.token_bytes(2) for layer in layers) == bytes_per_token


@pytest.mark.parametrize(
    ("model", "windows"),
    [
        ("gemma-2-9b", {4096: 21, None: 21}),
        ("gemma-3-27b", {1024: 52, None: 10}),
        ("gpt-oss-20b", {128: 12, None: 12}),
        ("gpt-oss-120b", {128: 18, None: 18}),
        ("mistral-7b", {None: 32}),
    ],
)
def test_windows(model, windows):
    layers = MODELS[model].shape.layers
    assert {window: sum(each.window == window for each in layers) for window in windows} == windows
    assert sum(windows.values()) == len(layers)


def test_the_same_models_stand_in_the_simulation():
    for known, model in (("llama-3-8b", LLAMA_3_8B), ("opt-13b", OPT_13B)):
        shape = MODELS[known].shape
        assert shape.layers == (Attention(model.kv_heads, model.head_dim),) * model.layers
        assert shape.attention_flops == model.flops_per_attended
        assert shape.parameters.total == pytest.approx(model.parameters, rel=0.012)
    assert MODELS["deepseek-v3"].shape.layers[0] == Latent(512, 64)


@pytest.mark.parametrize(
    ("model", "weights", "published_gib"),
    [
        # Printed by servers, in the logs of data/observed_capacity.csv: Llama 3.1 8B (of the same
        # size), Qwen3 30B-A3B in FP8, and a GPU's share of DeepSeek-V3 on eight.
        ("llama-3-8b", None, 14.99),
        ("qwen3-30b-a3b", "fp8", 29.1),
        ("deepseek-v3", None, 8 * 79.7),
        # OpenAI, gpt-oss model card (2025), table 1: size of the checkpoints.
        ("gpt-oss-120b", None, 60.8),
        ("gpt-oss-20b", None, 12.8),
    ],
)
def test_weights_take_what_published_files_do(model, weights, published_gib):
    """Within 3 %, and 7 % for gpt-oss 20b, of which more is attention that stays in BF16."""
    shape = MODELS[model].shape
    counted = shape.parameters.weight_bytes(weights or shape.weights) / GIB
    assert counted == pytest.approx(published_gib, rel=0.07 if model == "gpt-oss-20b" else 0.03)


def test_weights_of_an_unknown_type_are_refused():
    with pytest.raises(ValueError, match=r"weights is 'int3'.*'4-bit'"):
        MODELS["phi-4"].shape.parameters.weight_bytes("int3")


def test_the_gpus_of_the_simulation_are_among_the_cards():
    assert [CARDS[name].gpu for name in ("A100-40GB", "A100-80GB", "H100")] == [
        *(A100_40GB, A100_80GB, H100)
    ]


@pytest.mark.parametrize(
    ("card", "gigabytes"),
    [
        ("A100-40GB", 40),
        ("A100-80GB", 80),
        ("H100", 80),
        ("H200", 141),
        ("L4", 24),
        ("L40S", 48),
        ("RTX-4090", 24),
        ("MI300X", 192),
        ("B200", 180),
    ],
)
def test_memory_is_what_the_data_sheet_names(card, gigabytes):
    """In GiB, less what the driver and error correction keep."""
    assert 0.93 * gigabytes <= CARDS[card].memory_bytes / GIB <= gigabytes


def test_every_gpu_has_a_row_above():
    assert len(CARDS) == 9
