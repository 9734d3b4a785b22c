"""A model's own ``config.json``: what is read, what is refused, and that nothing else happens."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kvsim.deployment.cache_layout import cache_layout
from kvsim.deployment.config_json import read_config
from kvsim.deployment.layers import Attention, Latent, LinearState
from kvsim.deployment.presets import MODELS

LLAMA = {
    "model_type": "llama",
    "num_hidden_layers": 4,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
}
QWEN_NEXT = {
    "num_hidden_layers": 8,
    "num_attention_heads": 16,
    "num_key_value_heads": 2,
    "head_dim": 256,
    "full_attention_interval": 4,
    "linear_num_value_heads": 32,
    "linear_num_key_heads": 16,
    "linear_key_head_dim": 128,
    "linear_value_head_dim": 128,
    "linear_conv_kernel_dim": 4,
}


def with_(**changed):
    return {key: value for key, value in (LLAMA | changed).items() if value != "missing"}


def kinds(**changed):
    return list(read_config(with_(**changed)).layers)


def test_the_published_keys_are_read():
    shape = read_config(json.dumps(LLAMA), "mine")
    assert shape.name == "mine"
    assert shape.layers == (Attention(8, 128),) * 4
    assert shape.max_length == 8192
    assert shape.attention_flops == 4 * 4 * 32 * 128
    assert shape.parameters.total == 2 * 128256 * 4096 + 4 * (
        2 * 4096 * 128 * 40 + 3 * 4096 * 14336
    )
    assert shape.weights == "bf16"


def test_a_nested_language_model_is_read():
    vision = {"num_hidden_layers": 27, "hidden_size": 1152}
    nested = {"model_type": "seeing", "vision_config": vision, "text_config": LLAMA}
    assert read_config(nested) == read_config(LLAMA)
    deeper = {"thinker_config": {"text_config": LLAMA}, "quantization_config": {"bits": 4}}
    assert read_config(deeper).layers == read_config(LLAMA).layers
    scheme = {"text_config": LLAMA, "quantization_config": {"quant_method": "fp8"}}
    assert read_config(scheme).weights == "fp8"


@pytest.mark.parametrize(
    ("config", "layer", "count"),
    [
        ({"n_layer": 12, "n_head": 12, "n_embd": 768}, Attention(12, 64), 12),
        (
            {"num_layers": 28, "num_attention_heads": 32, "kv_channels": 128}
            | {"multi_query_group_num": 2},
            Attention(2, 128),
            28,
        ),
        (
            {"num_hidden_layers": 60, "num_attention_heads": 128, "hidden_size": 8192}
            | {"multi_query": True, "model_type": "falcon"},
            Attention(1, 64),
            60,
        ),
        (
            {"n_layers": 32, "n_heads": 32, "d_model": 4096, "attn_config": {"kv_n_heads": 8}},
            Attention(8, 128),
            32,
        ),
        (
            {"num_hidden_layers": 61, "kv_lora_rank": 512, "qk_rope_head_dim": 64},
            Latent(512, 64),
            61,
        ),
        ({"num_hidden_layers": 2, "num_key_value_heads": 4, "head_dim": 64}, Attention(4, 64), 2),
        (
            {"num_hidden_layers": 2, "num_attention_heads": 64, "hidden_size": 4096}
            | {"num_attention_groups": 8, "crossmodal_layers": 3},
            Attention(8, 64),
            2,
        ),
    ],
)
def test_other_spellings(config, layer, count):
    assert read_config(config).layers == (layer,) * count


def test_without_key_value_heads_every_head_has_its_own():
    assert kinds(num_key_value_heads="missing")[0] == Attention(32, 128)
    assert kinds(num_key_value_heads=None)[0] == Attention(32, 128)


WINDOW = Attention(8, 128, window=1024)
FULL = Attention(8, 128)


@pytest.mark.parametrize(
    ("changed", "layers"),
    [
        ({"sliding_window": None}, [FULL] * 4),
        ({"model_type": "mistral"}, [WINDOW] * 4),
        ({"model_type": "missing"}, [WINDOW] * 4),
        ({"model_type": "gemma2", "head_dim": 128}, [WINDOW, FULL] * 2),
        ({"model_type": "gpt_oss"}, [WINDOW, FULL] * 2),
        ({"sliding_window_pattern": 4}, [WINDOW] * 3 + [FULL]),
        ({"sliding_window_pattern": "LLG"}, [WINDOW, WINDOW, FULL, WINDOW]),
        ({"model_type": "qwen2"}, [FULL] * 4),
        ({"model_type": "qwen2", "use_sliding_window": False}, [FULL] * 4),
        (
            {"model_type": "qwen3", "use_sliding_window": True, "max_window_layers": 3},
            [FULL] * 3 + [WINDOW],
        ),
        (
            {"layer_types": ["full_attention"] + ["sliding_attention"] * 3},
            [FULL] + [WINDOW] * 3,
        ),
    ],
)
def test_which_layers_have_the_window(changed, layers):
    assert kinds(**{"sliding_window": 1024, **changed}) == layers


def test_a_window_without_a_word_on_its_layers_is_said():
    (note,) = read_config(with_(model_type="missing", sliding_window=64)).notes
    assert "all have it" in note


def test_linear_layers():
    shape = read_config(QWEN_NEXT)
    state = LinearState(32, 16, 128, 128, conv_kernel=4)
    assert shape.layers == ((state,) * 3 + (Attention(2, 256),)) * 2
    assert cache_layout(shape.layers).block_size == 544
    kept = read_config(QWEN_NEXT | {"mamba_ssm_dtype": "float32"}).layers[0]
    assert kept.state_element_bytes == 4
    assert shape.parameters is None
    assert "give their number" in shape.uncounted


def test_heads_of_global_layers():
    """Gemma 4."""
    layers = kinds(
        layer_types=["sliding_attention"] * 3 + ["full_attention"],
        sliding_window=1024,
        num_global_key_value_heads=2,
        global_head_dim=512,
        num_kv_shared_layers=0,
    )
    assert layers == [WINDOW] * 3 + [Attention(2, 512)]


@pytest.mark.parametrize(
    ("scheme", "weights"),
    [
        (None, "bf16"),
        ({"quant_method": "fp8"}, "fp8"),
        ({"quant_method": "mxfp4"}, "4-bit"),
        ({"quant_method": "gptq", "bits": 4}, "4-bit"),
        ({"quant_method": "gptq", "bits": 8}, "bf16"),
    ],
)
def test_the_type_of_the_weights(scheme, weights):
    assert read_config(with_(quantization_config=scheme)).weights == weights


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"num_hidden_layers": "missing"}, "does not say num_hidden_layers"),
        ({"num_hidden_layers": "4"}, "num_hidden_layers in config.json is '4'.*whole number"),
        ({"num_hidden_layers": True}, "num_hidden_layers in config.json is True"),
        ({"num_hidden_layers": 4.0}, "num_hidden_layers in config.json is 4.0"),
        ({"num_hidden_layers": 10**6}, "from 1 to 10,000"),
        ({"num_hidden_layers": 10**5000}, "too large to be shown"),
        ({"num_key_value_heads": 0}, "num_key_value_heads in config.json is 0"),
        ({"num_key_value_heads": [8, 4]}, r"num_key_value_heads in config.json is \[8, 4\]"),
        ({"num_key_value_heads": 5}, "32 attention heads and 5 key and value heads"),
        ({"hidden_size": "missing"}, "does not say head_dim"),
        ({"hidden_size": 4097}, "no whole number: add head_dim"),
        ({"model_type": 3}, "model_type in config.json is 3"),
        ({"sliding_window": "wide"}, "sliding_window in config.json is 'wide'"),
        ({"sliding_window": 64, "model_type": "newcomer"}, "which layers of a 'newcomer'"),
        ({"sliding_window": 64, "model_type": "qwen3", "use_sliding_window": True}, "max_window"),
        ({"layer_types": ["full_attention"] * 3}, "list of 4 names"),
        ({"layer_types": "full_attention"}, "list of 4 names"),
        ({"layer_types": ["full_attention"] * 3 + ["mamba"]}, "names 'mamba'.*not this kind"),
        ({"layer_types": ["chunked_attention"] * 4}, "names 'chunked_attention'"),
        ({"layer_types": ["sliding_attention"] * 4}, "does not say sliding_window"),
        ({"layer_types": [["full_attention"]] * 4}, r"names \['full_attention'\]"),
        ({"kv_lora_rank": 512}, "does not say qk_rope_head_dim"),
        ({"index_topk": 2048}, "index_topk in config.json stands for sparse attention"),
        ({"num_kv_shared_layers": 2}, "num_kv_shared_layers.*read the cache of others"),
        ({"attention_chunk_size": 8192}, "attention_chunk_size.*chunked attention"),
        ({"hybrid_override_pattern": "M-M*"}, "hybrid_override_pattern.*Mamba"),
        ({"mamba_d_state": 128}, "mamba_d_state in config.json stands for"),
        ({"model_type": "rwkv6"}, "model_type in config.json is 'rwkv6'"),
        ({"v_head_dim": 64}, "v_head_dim in config.json is 64"),
        ({"hybrid_layer_pattern": [0, 1, 1, 1]}, "layers listed by hybrid_layer_pattern"),
        ({"is_encoder_decoder": True}, "is_encoder_decoder.*cross-attention"),
        ({"attn_type_list": [0, 1, 1, 1]}, "lightning attention"),
        ({"multi_query": "yes"}, "multi_query in config.json is 'yes'.*true or false"),
        ({"max_position_embeddings": -1}, "max_position_embeddings in config.json is -1"),
    ],
)
def test_what_is_refused(changed, said):
    with pytest.raises(ValueError, match=said) as refused:
        read_config(with_(**changed))
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)


def test_a_linear_state_in_an_unknown_type_is_refused():
    with pytest.raises(ValueError, match=r"mamba_ssm_dtype in config\.json is 'int3'"):
        read_config(QWEN_NEXT | {"mamba_ssm_dtype": "int3"})


@pytest.mark.parametrize(
    "text", ["", "nonsense", "[]", "3", "null", "{", b"\xff\xfe", b"\x80", "[" * 100_000, "\ud800"]
)
def test_what_is_no_object_is_refused(text):
    with pytest.raises(ValueError, match=r"This is no config.json: .*\.$"):
        read_config(text)


def test_parameters_that_cannot_be_counted_do_not_matter_to_the_cache():
    shape = read_config(with_(model_type="newcomer"))
    assert shape.layers == (FULL,) * 4
    assert shape.parameters is None
    assert "'newcomer' cannot be counted" in shape.uncounted
    assert read_config(with_(vocab_size="missing")).uncounted == (
        "config.json does not say vocab_size: add it."
    )
    assert shape.with_parameters(7).parameters.total == 7 * 10**9


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
PUBLISHED = sorted(
    set(LLAMA)
    | set(QWEN_NEXT)
    | {key for preset in MODELS.values() for key in preset.config}
    | {
        "layer_types",
        "attn_config",
        "sliding_window_pattern",
        "use_sliding_window",
        "_name_or_path",
    }
    | {"max_window_layers", "mamba_ssm_dtype", "head_dim", "multi_query", "index_topk", "n_layer"}
)
LIKELY = (
    st.sampled_from(
        [0, 1, 2, 3, 8, 64, 4096, -1, True, None, "llama", "gemma2", "qwen2", "mixtral"]
    )
    | st.lists(st.sampled_from(["full_attention", "sliding_attention", "linear_attention", "x"]))
    | ANYTHING
)


@given(st.dictionaries(st.sampled_from(PUBLISHED), LIKELY), st.booleans())
@example({"num_hidden_layers": 2, "num_key_value_heads": 10**9, "head_dim": 10**9}, False)
@example({"_name_or_path": "\ud800\n"}, True)
def test_garbage_is_read_or_refused_in_a_sentence(changed, on_a_model):
    check_garbage((LLAMA if on_a_model else {}) | changed)


@given(st.sampled_from(sorted(MODELS)), st.data())
def test_damaged_models_are_read_or_refused_in_a_sentence(model, data):
    config = dict(MODELS[model].config)
    config = dict(config.get("text_config", config))
    key = data.draw(st.sampled_from(sorted(config)))
    config[key] = data.draw(LIKELY)
    check_garbage(config)


def check_garbage(config):
    try:
        shape = read_config(json.dumps(config))
    except ValueError as refused:
        said = str(refused)
        assert said.endswith(".")
        assert said.isprintable()
        assert len(said) < 400
        return
    assert len(shape.layers) >= 1
    assert shape.name.isprintable()
    try:
        layout = cache_layout(shape.layers)
    except ValueError:
        # Of the layers, not of the reading: tests/test_cache_layout.py.
        return
    assert layout.bytes_per_token >= 1
    assert layout.blocks_per_request(10**6) >= 1


@given(st.text() | st.binary())
def test_any_text_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match=r"config\.json.*\.$"):
        read_config(text)
