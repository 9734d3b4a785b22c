"""Parameters of a model, counted from the published keys of its ``config.json``."""

from kvsim.deployment.config_keys import Keys
from kvsim.deployment.shape import Parameters

# Feed-forward layers of three matrices (a gate, up and down), by model_type.
_GATED = (
    *("llama", "mistral", "ministral3", "mixtral", "qwen2", "qwen3", "qwen3_moe", "phi3"),
    *("gemma", "gemma2", "gemma3", "gemma3_text", "gpt_oss", "deepseek_v2", "deepseek_v3"),
    *("olmo", "olmo2", "granite", "smollm3", "internlm2"),
)
# ... and of two.
_UNGATED = ("opt", "gpt2", "gpt_neox", "starcoder2", "phi")
# Their output head is the table of tokens, unless the description says otherwise.
_TIED = ("gemma", "gemma2", "gemma3", "gemma3_text", "opt", "gpt2")


def count_parameters(keys: Keys, layers: int) -> Parameters:
    """Return the parameters of the language model.

    Matrices are counted; norms and biases, below 0.1 % of all, are not, nor are the images' part
    of a model that sees. Raises ``ValueError`` for a kind of model whose matrices are not known
    here, and for missing keys.
    """
    kind = keys.text("model_type")
    if kind not in (*_GATED, *_UNGATED):
        raise ValueError(
            f"The parameters of a model_type {kind!r:.40} cannot be counted here: give their "
            "number."
        )
    hidden = keys.need("hidden_size", "n_embd")
    vocabulary = keys.need("vocab_size")
    tied = keys.get("tie_word_embeddings")
    tied = kind in _TIED if tied is None else bool(tied)
    lookup = vocabulary * hidden
    embedding = lookup if tied else 2 * lookup
    # OPT and GPT-2 add a learned position; they are few, and stay with the rest.
    positions = (keys.whole("max_position_embeddings", "n_positions") or 0) * hidden
    positions = positions if kind in ("opt", "gpt2") else 0
    matrices = 2 if kind in _UNGATED else 3
    attention = _attention(keys, hidden)
    dense = (
        matrices * hidden * (keys.whole("intermediate_size", "ffn_dim", "n_inner") or 4 * hidden)
    )
    fixed = embedding + positions + layers * attention
    experts = keys.whole("num_local_experts", "num_experts", "n_routed_experts")
    if experts is None or experts == 1:
        everything = fixed + layers * dense
        return Parameters(everything, everything, embedding, 0 if tied else lookup)
    expert = matrices * hidden * keys.need("moe_intermediate_size", "intermediate_size")
    chosen = keys.need("num_experts_per_tok")
    if chosen > experts:
        raise ValueError(f"config.json sends a token to {chosen} of {experts} experts.")
    if keys.get("mlp_only_layers") or (keys.whole("decoder_sparse_step") or 1) > 1:
        raise ValueError("The parameters of experts in some layers only cannot be counted here.")
    first_dense = min(keys.whole("first_k_dense_replace", least=0) or 0, layers)
    sparse = layers - first_dense
    shared = (keys.whole("n_shared_experts", least=0) or 0) * expert
    fixed += first_dense * dense + sparse * (hidden * experts + shared)
    return Parameters(
        total=fixed + sparse * experts * expert,
        active=fixed + sparse * chosen * expert,
        embedding=embedding,
        lookup=0 if tied else lookup,
    )


def _attention(keys: Keys, hidden: int) -> int:
    """Parameters of the attention of one layer: queries, keys, values, and the output."""
    heads = keys.need("num_attention_heads", "n_head")
    if keys.get("kv_lora_rank") is not None:
        # DeepSeek-AI, "DeepSeek-V2" (2024), appendix C.
        rank, rope = keys.need("kv_lora_rank"), keys.need("qk_rope_head_dim")
        plain, value = keys.need("qk_nope_head_dim"), keys.need("v_head_dim")
        query_rank = keys.whole("q_lora_rank")
        query = heads * (plain + rope)
        queries = query_rank * (hidden + query) if query_rank else hidden * query
        latent = hidden * (rank + rope) + rank * heads * (plain + value)
        return queries + latent + heads * value * hidden
    head_dim = keys.whole("head_dim") or hidden // heads
    kv_heads = keys.whole("num_key_value_heads") or heads
    return 2 * hidden * head_dim * (heads + kv_heads)
