"""A model's own ``config.json``, read by its published keys."""

import json
from collections.abc import Mapping
from typing import Any

from kvsim.deployment.config_keys import MOST, Keys
from kvsim.deployment.config_layers import FULL, LINEAR, SLIDING, layer_types, refuse_the_uncovered
from kvsim.deployment.config_parameters import count_parameters
from kvsim.deployment.layers import Attention, Latent, Layer, LinearState
from kvsim.deployment.shape import Parameters, Shape
from kvsim.kinds import of_kind

_MAX_LENGTH = ("max_position_embeddings", "n_positions", "seq_length", "max_seq_len")
_DTYPE_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}
# Hugging Face, transformers, configuration_gemma*.py: their smaller models leave these out.
_HEAD_DIMS = {"gemma": 256, "gemma2": 256, "gemma3": 256, "gemma3_text": 256}
_TYPES_WITHOUT_KV_KEY = {"gemma3": (8, 4), "gemma3_text": (8, 4)}


def read_config(config: str | bytes | Mapping[str, Any], name: str = "config.json") -> Shape:
    """Return the shape of the model that a ``config.json`` describes.

    ``config`` is its text or what was read from it; ``name`` is what the model is called if the
    description does not say. Keys are those that Hugging Face's configurations publish, of a
    nested ``text_config`` if there is one, with older spellings (``n_layer``, ``n_head``). Raises
    ``ValueError`` with one sentence for text that is no JSON, missing keys, values of a wrong
    type, and kinds of layers that the formulas of ``cache_layout`` do not cover.
    """
    of_kind("config", config, str, bytes, Mapping)
    keys = Keys(config if isinstance(config, Mapping) else _object(config))
    refuse_the_uncovered(keys)
    count = keys.need("num_hidden_layers", "n_layer", "n_layers", "num_layers", most=MOST["layers"])
    kinds, window, notes = layer_types(keys, count)
    heads = keys.whole("num_attention_heads", "n_head", "n_heads")
    heads = heads or _default_heads(keys, 0)
    layer_of: dict[str, Layer] = {}
    flops: dict[str, int | None] = {}
    for kind in dict.fromkeys(kinds):
        if kind == LINEAR:
            layer_of[kind], flops[kind] = _linear(keys), 0
        elif keys.get("kv_lora_rank") is not None:
            layer_of[kind], flops[kind] = _latent(keys, kind, heads)
        else:
            layer_of[kind], flops[kind] = _attention(keys, kind, heads, window)
    counted, uncounted = _count(keys, count, kinds)
    each = [flops[kind] for kind in kinds]
    return Shape(
        name=_name(keys) or name,
        layers=tuple(layer_of[kind] for kind in kinds),
        attention_heads=heads,
        attention_flops=None if None in each else sum(value or 0 for value in each),
        parameters=counted,
        uncounted=uncounted,
        max_length=keys.whole(*_MAX_LENGTH),
        weights=_weights(keys),
        notes=notes,
    )


def _object(text: str | bytes) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError("This is no config.json: it is not the text of a JSON object.") from error
    if not isinstance(value, dict):
        raise ValueError("This is no config.json: it must be one JSON object, in braces.")
    return value


def _name(keys: Keys) -> str | None:
    value = keys.get("_name_or_path")
    return value[:100] if isinstance(value, str) and value.isprintable() else None


def _default_heads(keys: Keys, which: int) -> int | None:
    return _TYPES_WITHOUT_KV_KEY.get(keys.text("model_type") or "", (None, None))[which]


def _attention(
    keys: Keys, kind: str, heads: int | None, window: int | None
) -> tuple[Attention, int | None]:
    kv_heads = _kv_heads(keys, heads)
    head_dim = keys.whole("head_dim", "kv_channels", "attention_head_dim")
    head_dim = head_dim or _HEAD_DIMS.get(keys.text("model_type") or "")
    values = keys.whole("v_head_dim")
    if values is not None and values != head_dim:
        raise ValueError(
            f"v_head_dim in config.json is {values}, and head_dim another: values of a size of "
            "their own are covered by the formulas only in latent attention (kv_lora_rank)."
        )
    if kind == FULL:
        # Gemma 4: its global layers have heads of their own.
        kv_heads = keys.whole("num_global_key_value_heads") or kv_heads
        head_dim = keys.whole("global_head_dim") or head_dim
    if head_dim is None:
        hidden = keys.need("head_dim", "hidden_size", "n_embd", "d_model")
        if heads is None or hidden % heads:
            raise ValueError(
                "config.json does not say head_dim, and hidden_size over num_attention_heads is "
                "no whole number: add head_dim."
            )
        head_dim = hidden // heads
    layer = Attention(kv_heads, head_dim, window if kind == SLIDING else None)
    return layer, None if heads is None else 4 * heads * head_dim


def _kv_heads(keys: Keys, heads: int | None) -> int:
    nested = keys.get("attn_config")
    if isinstance(nested, Mapping) and "kv_n_heads" in nested:
        return Keys(nested).need("kv_n_heads")
    if keys.flag("multi_query") and not keys.flag("new_decoder_architecture"):
        return 1
    value = keys.whole(
        "num_key_value_heads", "num_kv_heads", "multi_query_group_num", "num_attention_groups"
    )
    value = value or _default_heads(keys, 1) or heads
    if value is None:
        raise ValueError(
            "config.json says neither num_key_value_heads nor num_attention_heads: add them."
        )
    if heads is not None and heads % value:
        raise ValueError(
            f"config.json has {heads} attention heads and {value} key and value heads, of which "
            "the first must be a multiple."
        )
    return value


def _latent(keys: Keys, kind: str, heads: int | None) -> tuple[Latent, int | None]:
    if kind == SLIDING:
        raise ValueError(
            "config.json has kv_lora_rank and a sliding window: the formulas do not cover a "
            "window over latent vectors."
        )
    latent = Latent(keys.need("kv_lora_rank"), keys.need("qk_rope_head_dim"))
    plain, value = keys.whole("qk_nope_head_dim"), keys.whole("v_head_dim")
    if heads is None or plain is None or value is None:
        return latent, None
    return latent, 2 * heads * (plain + latent.rope_dim + value)


def _linear(keys: Keys) -> LinearState:
    """Gated delta-net layers, of a size that may not be said."""
    heads = keys.whole("linear_num_value_heads")
    if heads is None:
        return LinearState()
    kept_as = keys.text("mamba_ssm_dtype") or "bfloat16"
    if kept_as not in _DTYPE_BYTES:
        raise ValueError(
            f"mamba_ssm_dtype in config.json is {kept_as!r:.40}: it must be one of "
            f"{', '.join(_DTYPE_BYTES)}."
        )
    return LinearState(
        value_heads=heads,
        key_heads=keys.need("linear_num_key_heads"),
        key_dim=keys.need("linear_key_head_dim"),
        value_dim=keys.need("linear_value_head_dim"),
        conv_kernel=keys.need("linear_conv_kernel_dim"),
        state_element_bytes=_DTYPE_BYTES[kept_as],
    )


def _count(keys: Keys, layers: int, kinds: list[str]) -> tuple[Parameters | None, str]:
    if LINEAR in kinds:
        return None, "The parameters of linear-attention layers are not counted: give their number."
    try:
        return count_parameters(keys, layers), ""
    except ValueError as reason:
        return None, str(reason)


def _weights(keys: Keys) -> str:
    """Return the type that the weights are published in."""
    scheme = keys.get("quantization_config")
    if not isinstance(scheme, Mapping):
        return "bf16"
    method = scheme.get("quant_method")
    if method == "fp8":
        return "fp8"
    if method in ("mxfp4", "awq", "nvfp4") or scheme.get("bits") == 4:
        return "4-bit"
    return "bf16"
