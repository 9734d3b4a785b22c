"""All that was read in a pasted log, as plain values: for JSON, and for a page."""

from dataclasses import asdict
from typing import Any

from kvsim.logs.capacity import cache_of
from kvsim.logs.remarks import remarks
from kvsim.logs.server_log import ServerLog

# What the figures of a log are called where they are listed.
NAMES = {
    "model": "model",
    "version": "version",
    "cache_gib": "cache on a GPU, GiB",
    "tokens": "tokens",
    "blocks": "blocks",
    "cpu_blocks": "blocks in CPU memory",
    "block_size": "block size, tokens",
    "max_length": "maximum length, tokens",
    "max_concurrency": "maximum concurrency",
    "max_num_seqs": "requests at once, at most",
    "tensor_parallel": "tensor parallel, GPUs",
    "pipeline_parallel": "pipeline parallel, stages",
    "kv_dtype": "type of the cache",
}


def log_facts(log: ServerLog, bytes_per_token: float | None = None) -> dict[str, Any]:
    """Return all that was read in a log, ready for JSON.

    What the cache holds may not be known, which is no error of a log: then ``capacity`` is None,
    and ``capacity_problem`` says why. ``bytes_per_token`` is for :func:`kvsim.cache_of`.
    """
    found, problem = _capacity(log, bytes_per_token)
    return {
        "engine": log.engine,
        "generation": log.generation,
        "figures": {
            name: {"value": printed.value, "line": printed.line, "worker": printed.worker}
            for name, printed in log.figures.items()
        },
        "remarks": [
            {"name": remark.name, "values": dict(remark.values), "sentence": remark.sentence}
            for remark in remarks(log)
        ],
        "unread": [asdict(unread) | {"sentence": unread.sentence} for unread in log.unread],
        "capacity": found,
        "capacity_problem": problem,
    }


def _capacity(
    log: ServerLog, bytes_per_token: float | None
) -> tuple[dict[str, Any] | None, str | None]:
    """Return what the cache holds, or why that is not known."""
    try:
        found = cache_of(log, bytes_per_token)
    except ValueError as error:
        return None, str(error)
    return asdict(found) | {"sentence": found.sentence}, None
