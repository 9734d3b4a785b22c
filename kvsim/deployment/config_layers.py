"""Which kind of layer stands where, as a ``config.json`` says it; unknown kinds are refused."""

import re

from kvsim.deployment.config_keys import Keys

FULL, SLIDING, LINEAR = "full_attention", "sliding_attention", "linear_attention"
_NAMES = {FULL: FULL, "attention": FULL, SLIDING: SLIDING, LINEAR: LINEAR}

# Keys that say of layers what the formulas do not cover, and what it is.
_UNCOVERED = {
    "is_encoder_decoder": "an encoder beside the decoder, with cross-attention",
    "cross_attention_layers": "cross-attention layers",
    "index_topk": "sparse attention with an indexer that keeps a cache of its own",
    "index_head_dim": "sparse attention with an indexer that keeps a cache of its own",
    "compress_ratios": "compressed attention",
    "sparse_config": "sparse attention",
    "sparse_attention_config": "sparse attention",
    "num_kv_shared_layers": "layers that read the cache of others",
    "attention_chunk_size": "chunked attention",
    "hybrid_override_pattern": "Mamba layers",
    "layers_block_type": "layers listed by layers_block_type",
    "block_types": "recurrent layers",
    "block_configs": "layers that differ from each other",
    "num_key_value_heads_per_layer": "layers that differ from each other",
    "attention_types": "layers listed by attention_types",
    "hybrid_layer_pattern": "layers listed by hybrid_layer_pattern",
    "hybrid_block_layout": "layers listed by hybrid_block_layout",
    "attention_other_setting": "layers that differ from each other",
    "swa_num_key_value_heads": "layers that differ from each other",
    "use_cla": "layers that read the cache of others",
    "attn_layer_period": "Mamba layers",
    "attn_layer_indices": "Mamba layers",
    "state_size": "state-space layers",
    "ssm_state_size": "state-space layers",
    "conv_L_cache": "short convolutions",
    "linear_attn_config": "Kimi delta attention",
    "layer_group_size": "linear attention in groups of layers",
}
_TELLING = re.compile(r"mamba|rwkv|recurrent|(^|_)(ssm|retention|lightning)(_|$)", re.IGNORECASE)
_COVERED = {"mamba_ssm_dtype"}

# Published descriptions that leave out the pattern have it in the code of their model: every
# which layer is not sliding. Hugging Face, transformers, configuration_gemma2.py,
# configuration_gemma3.py, configuration_gpt_oss.py, configuration_cohere2.py.
_PATTERNS = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "gpt_oss": 2, "cohere2": 4}
# Their window is that of all layers (configuration_mistral.py and so on).
_ALL_SLIDING = ("mistral", "mixtral", "phi3", "starcoder2")
# Their window counts only with use_sliding_window, and from layer max_window_layers on.
_SWITCHED = ("qwen2", "qwen2_moe", "qwen2_vl", "qwen2_5_vl", "qwen3", "qwen3_moe")


def refuse_the_uncovered(keys: Keys) -> None:
    """Raise ``ValueError`` that names a kind of layer which the formulas do not cover."""
    for key in keys:
        value = keys.get(key)
        if not value or key in _COVERED:
            continue
        what = _UNCOVERED.get(key)
        if what is None and isinstance(key, str) and _TELLING.search(key):
            what = "layers with a recurrent state of their own kind"
        if what is not None:
            raise ValueError(
                f"{key} in config.json stands for {what}: the formulas do not cover this model."
            )
    kind = keys.text("model_type") or ""
    if _TELLING.search(kind):
        raise ValueError(
            f"model_type in config.json is {kind!r:.40}, which has layers with a recurrent "
            "state of their own kind: the formulas do not cover this model."
        )
    listed = keys.get("attn_type_list")
    if listed is not None and (not isinstance(listed, list) or any(each != 1 for each in listed)):
        raise ValueError(
            "attn_type_list in config.json names lightning attention: the formulas do not cover "
            "this model."
        )


def layer_types(keys: Keys, layers: int) -> tuple[list[str], int | None, tuple[str, ...]]:
    """Return the kind of each layer, the window of the sliding ones, and notes on the reading.

    Raises ``ValueError`` for kinds that the formulas do not cover, and where the description does
    not say which layers have the window.
    """
    listed = keys.get("layer_types")
    if listed is not None:
        kinds = _listed(listed, layers)
        window = keys.need("sliding_window") if SLIDING in kinds else None
        return kinds, window, ()
    interval = keys.whole("full_attention_interval")
    if interval is not None:
        return _every(interval, FULL, LINEAR, layers), None, ()
    window = _window(keys)
    if window is None:
        return [FULL] * layers, None, ()
    kinds, notes = _sliding(keys, layers)
    return kinds, window if SLIDING in kinds else None, notes


def _listed(listed: object, layers: int) -> list[str]:
    if not isinstance(listed, list) or len(listed) != layers:
        raise ValueError(
            f"layer_types in config.json must be a list of {layers:,} names, one for each layer."
        )
    for each in listed:
        if not isinstance(each, str) or each not in _NAMES:
            raise ValueError(
                f"layer_types in config.json names {each!r:.60}: the formulas cover "
                f"{', '.join(_NAMES)}, and not this kind of layer."
            )
    return [_NAMES[each] for each in listed]


def _window(keys: Keys) -> int | None:
    """Return the window in tokens; None, 0 or -1 in the description is none."""
    value = keys.get("sliding_window")
    if value in (None, 0, -1, False) or keys.get("use_sliding_window") is False:
        return None
    if keys.text("model_type") in _SWITCHED and not keys.flag("use_sliding_window"):
        return None
    return keys.need("sliding_window")


def _sliding(keys: Keys, layers: int) -> tuple[list[str], tuple[str, ...]]:
    kind = keys.text("model_type")
    pattern = keys.get("sliding_window_pattern")
    if isinstance(pattern, str) and re.fullmatch("[LG]+", pattern):
        # Local and global, again and again.
        cycle = [SLIDING if letter == "L" else FULL for letter in pattern]
        return [cycle[layer % len(cycle)] for layer in range(layers)], ()
    every = keys.whole("sliding_window_pattern", "_sliding_window_pattern")
    every = every or _PATTERNS.get(kind or "")
    if every is not None:
        return _every(every, FULL, SLIDING, layers), ()
    if kind in _SWITCHED:
        full = keys.whole("max_window_layers", least=0)
        if full is None:
            raise ValueError("config.json does not say max_window_layers: add it.")
        full = min(full, layers)
        return [FULL] * full + [SLIDING] * (layers - full), ()
    if kind is None or kind in _ALL_SLIDING:
        note = "config.json does not say which layers have the sliding window: all have it."
        return [SLIDING] * layers, () if kind else (note,)
    raise ValueError(
        f"config.json has a sliding_window, but does not say which layers of a {kind!r:.40} have "
        "it: add layer_types."
    )


def _every(interval: int, here: str, else_: str, layers: int) -> list[str]:
    return [else_ if (layer + 1) % interval else here for layer in range(layers)]
