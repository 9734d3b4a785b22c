"""Models in use, by the figures of their own ``config.json``.

Each preset names the repository on Hugging Face whose file it is from, and the parameters that
its authors publish. Every figure was found in a second public copy as well (Lightning AI's
``litgpt/config.py``, defaults and conversion scripts of Hugging Face's transformers, a model card,
servers' logs with the model's shape).
"""

from dataclasses import dataclass
from typing import Any

from kvsim.deployment.config_json import read_config
from kvsim.deployment.shape import Shape


@dataclass(frozen=True)
class Preset:
    """A model: where its figures are from, and what its authors say of its parameters.

    ``billions`` is the published total, ``active_billions`` what they say a token uses, in 10^9
    parameters; ``config`` holds the keys of its ``config.json`` that matter here.
    """

    title: str
    source: str
    config: dict[str, Any]
    billions: float
    active_billions: float | None = None

    @property
    def shape(self) -> Shape:
        """The model's shape, read as any other ``config.json``."""
        return read_config(self.config, self.title)


def _config(
    model_type: str,
    layers: int,
    hidden: int,
    heads: int,
    kv_heads: int,
    inner: int,
    vocabulary: int,
    max_length: int,
    **more: Any,
) -> dict[str, Any]:
    return {
        "model_type": model_type,
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "intermediate_size": inner,
        "vocab_size": vocabulary,
        "max_position_embeddings": max_length,
        **more,
    }


_MXFP4: dict[str, Any] = {"quantization_config": {"quant_method": "mxfp4"}}

MODELS = {
    "llama-3-8b": Preset(
        "Llama 3 8B",
        "meta-llama/Meta-Llama-3-8B",
        _config("llama", 32, 4096, 32, 8, 14336, 128256, 8192),
        8.03,
    ),
    "llama-3-70b": Preset(
        "Llama 3 70B",
        "meta-llama/Meta-Llama-3-70B",
        _config("llama", 80, 8192, 64, 8, 28672, 128256, 8192),
        70.6,
    ),
    # The vocabulary of v0.3; v0.1, with a window of 4,096 tokens over all layers, has 32,000.
    "mistral-7b": Preset(
        "Mistral 7B v0.3",
        "mistralai/Mistral-7B-v0.3",
        _config("mistral", 32, 4096, 32, 8, 14336, 32768, 32768, sliding_window=None),
        7.25,
    ),
    "mixtral-8x7b": Preset(
        "Mixtral 8x7B",
        "mistralai/Mixtral-8x7B-v0.1",
        _config(
            *("mixtral", 32, 4096, 32, 8, 14336, 32000, 32768),
            num_local_experts=8,
            num_experts_per_tok=2,
            sliding_window=None,
        ),
        46.7,
        12.9,
    ),
    # Made for 32,768 tokens by its file; its base model says 131,072.
    "qwen2.5-7b": Preset(
        "Qwen2.5 7B",
        "Qwen/Qwen2.5-7B-Instruct",
        _config("qwen2", 28, 3584, 28, 4, 18944, 152064, 32768, use_sliding_window=False),
        7.61,
    ),
    "qwen3-8b": Preset(
        "Qwen3 8B",
        "Qwen/Qwen3-8B",
        _config("qwen3", 36, 4096, 32, 8, 12288, 151936, 40960, head_dim=128),
        8.2,
    ),
    "qwen3-30b-a3b": Preset(
        "Qwen3 30B-A3B",
        "Qwen/Qwen3-30B-A3B",
        _config(
            *("qwen3_moe", 48, 2048, 32, 4, 6144, 151936, 40960),
            head_dim=128,
            num_experts=128,
            num_experts_per_tok=8,
            moe_intermediate_size=768,
            decoder_sparse_step=1,
        ),
        30.5,
        3.3,
    ),
    "phi-4": Preset(
        "Phi-4",
        "microsoft/phi-4",
        _config("phi3", 40, 5120, 40, 10, 17920, 100352, 16384, sliding_window=None),
        14.7,
    ),
    "gemma-2-9b": Preset(
        "Gemma 2 9B",
        "google/gemma-2-9b",
        _config(
            *("gemma2", 42, 3584, 16, 8, 14336, 256000, 8192), head_dim=256, sliding_window=4096
        ),
        9.24,
    ),
    # The language model alone. Its vocabulary is rounded up to 262,208 by transformers.
    "gemma-3-27b": Preset(
        "Gemma 3 27B",
        "google/gemma-3-27b-it",
        {
            "model_type": "gemma3",
            "text_config": _config(
                *("gemma3_text", 62, 5376, 32, 16, 21504, 262208, 131072),
                head_dim=128,
                sliding_window=1024,
            ),
        },
        27.0,
    ),
    "gpt-oss-20b": Preset(
        "gpt-oss-20b",
        "openai/gpt-oss-20b",
        _config(
            *("gpt_oss", 24, 2880, 64, 8, 2880, 201088, 131072),
            head_dim=64,
            sliding_window=128,
            num_local_experts=32,
            num_experts_per_tok=4,
            **_MXFP4,
        ),
        20.9,
        3.6,
    ),
    "gpt-oss-120b": Preset(
        "gpt-oss-120b",
        "openai/gpt-oss-120b",
        _config(
            *("gpt_oss", 36, 2880, 64, 8, 2880, 201088, 131072),
            head_dim=64,
            sliding_window=128,
            num_local_experts=128,
            num_experts_per_tok=4,
            **_MXFP4,
        ),
        116.8,
        5.1,
    ),
    # Without the layer that predicts a second token (14 billion more in the published files).
    "deepseek-v3": Preset(
        "DeepSeek-V3",
        "deepseek-ai/DeepSeek-V3",
        _config(
            *("deepseek_v3", 61, 7168, 128, 128, 18432, 129280, 163840),
            kv_lora_rank=512,
            q_lora_rank=1536,
            qk_nope_head_dim=128,
            qk_rope_head_dim=64,
            v_head_dim=128,
            n_routed_experts=256,
            n_shared_experts=1,
            num_experts_per_tok=8,
            moe_intermediate_size=2048,
            first_k_dense_replace=3,
            quantization_config={"quant_method": "fp8"},
        ),
        671.0,
        37.0,
    ),
    # Zhang et al. (2022), table 1, has the shape; the vocabulary is that of the published file.
    "opt-13b": Preset(
        "OPT-13B",
        "facebook/opt-13b",
        _config("opt", 40, 5120, 40, 40, 20480, 50272, 2048),
        12.85,
    ),
}
