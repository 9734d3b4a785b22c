"""What is said at once about a model, a log, or the cache of a server that is asked about."""

from typing import Any

import numpy as np

import kvsim
from kvsim.deployment.cache_layout import GIB, KV_DTYPES
from kvsim.logs.capacity import block_size, several_groups

from .asked import Asked
from .asked_axes import LONGEST, LONGEST_BLOCK


def config_facts(shape: kvsim.Shape) -> dict[str, Any]:
    """Return what a ``config.json`` says."""
    counted = shape.parameters
    return {
        "name": shape.name,
        "layers": len(shape.layers),
        "attention_heads": shape.attention_heads,
        "max_length": shape.max_length,
        "parameters_billions": counted and counted.total / 1e9,
        "active_billions": counted and counted.active / 1e9,
        "uncounted": shape.uncounted,
        "weights": shape.weights,
        "notes": shape.notes,
    }


def log_ask(log: kvsim.ServerLog) -> dict[str, Any]:
    """Return the fields of what may be asked that a log sets; those it does not say are left out.

    The size of the cache is in bytes on each GPU, as printed, or else in tokens. Where layers of
    several kinds share the cache, neither is what this simulation means by them.
    """
    found: dict[str, Any] = {
        "model": _preset(log),
        "tp": log.whole("tensor_parallel") or (log.gpus if log.gpus > 1 else None),
        "max_num_seqs": log.whole("max_num_seqs"),
        "max_length": _within(log.whole("max_length"), 2, LONGEST),
    }
    kv_dtype = str(log.value("kv_dtype") or "")
    found["kv_dtype"] = "fp8" if kv_dtype.startswith("fp8") else None
    if kv_dtype in KV_DTYPES or kv_dtype in ("auto", "bfloat16", "float16"):
        found["kv_dtype"] = "bf16"
    if not several_groups(log):
        printed, block = log.figures.get("cache_gib"), block_size(log)
        found["block_size"] = _within(block.tokens if block else None, 1, LONGEST_BLOCK)
        tokens = log.whole("tokens")
        if tokens is None and block and log.whole("blocks"):
            tokens = (log.whole("blocks") or 0) * block.tokens
        if tokens is not None and tokens >= 2:
            found["cache_tokens"] = tokens
        elif printed is not None and printed.number > 0:
            found["cache_bytes"] = printed.number * GIB
    return {name: value for name, value in found.items() if value is not None}


def _preset(log: kvsim.ServerLog) -> str | None:
    """Return the preset of the model that a log names, by its repository or the last part of it."""
    named = str(log.value("model") or "").rstrip("/").rsplit("/", 1)[-1].lower()
    for key, preset in kvsim.MODELS.items():
        if named == preset.source.rsplit("/", 1)[-1].lower():
            return key
    return None


def _within(value: int | None, least: int, most: int) -> int | None:
    return value if value is not None and least <= value <= most else None


def capacity_facts(asked: Asked) -> dict[str, Any]:
    """Return what the cache of the server holds, in closed form."""
    server, lengths = asked.plan.server, asked.lengths
    fits = {
        f"{kind}_requests": kvsim.capacity(server, allocation, lengths).requests
        for kind, allocation in asked.allocations.items()
    }
    pmf = lengths.cached_tokens_pmf()
    return {
        "title": asked.title,
        "tokens": server.capacity_tokens,
        "bytes_per_token": server.model.kv_bytes_per_token,
        "cache_bytes": server.cache_bytes,
        **fits,
        "mean_request_tokens": float(np.arange(len(pmf)) @ pmf),
        "axes": asked.plan.axes,
        "position": asked.position,
        "notes": asked.notes,
    }
