"""What the template of the reader's own server is given: what can be chosen, and what is missed.

The words about them stand in templates/your_server.html.
"""

import re
from typing import Any

import kvsim
from kvsim.deployment.cache_layout import KV_DTYPES
from kvsim.deployment.served import UTILIZATION
from kvsim.deployment.shape import WEIGHT_BITS
from kvsim.hardware import H100
from kvsim.logs.facts import NAMES
from kvsim.logs.text import MAX_LOG_BYTES
from kvsim.measured import comparison, notes
from kvsim.traces.rows import MAX_TRACE_BYTES, MAX_TRACE_ROWS

from ..answers.asked import read_asked
from ..answers.facts import capacity_facts
from ..settings import Settings
from ..settings import values as values_of
from ..words import count, fill, fixed, percent

TYPE_NAMES = {"bf16": "BF16", "fp8": "FP8", "4-bit": "4-bit"}
_MOST_CONFIG_BYTES = 1_000_000


def described() -> dict[str, Any]:
    """Describe the choices of the form with their defaults, and the limits of the model."""
    exponential = kvsim.ExponentialLengths()
    return {
        "models": [{"key": key, "title": preset.title} for key, preset in kvsim.MODELS.items()],
        "gpus": [{"key": key, "title": card.gpu.name} for key, card in kvsim.CARDS.items()],
        "weights": _types(WEIGHT_BITS),
        "caches": _types(KV_DTYPES),
        "utilization_percent": f"{100 * UTILIZATION:g}",
        "compute_percent": f"{100 * H100.compute_share:g}",
        "bandwidth_percent": f"{100 * H100.bandwidth_share:g}",
        "gpu": _gpu(),
        "workloads": [
            {"key": each, "title": fill(f"workload_{each}")} for each in values_of("workload")
        ],
        "mean_prompt": f"{exponential.mean_prompt_tokens:g}",
        "mean_output": f"{exponential.mean_output_tokens:g}",
        "block_size": Settings().block_size,
        "config_bytes": _MOST_CONFIG_BYTES,
        "log_bytes": MAX_LOG_BYTES,
        "trace_bytes": MAX_TRACE_BYTES,
        "trace_rows": count(MAX_TRACE_ROWS),
        "trace_mb": count(MAX_TRACE_BYTES / 1e6),
        "limits": _limits(comparison()),
    }


def for_script() -> dict[str, Any]:
    """Return what a server says of the cache as the form opens, and names of a log's figures."""
    first = {"model": next(iter(kvsim.MODELS)), "gpu": _gpu(), "utilization": UTILIZATION}
    return {
        "cache": capacity_facts(read_asked(first, lambda name: None)),
        "log_names": NAMES,
    }


def _gpu() -> str:
    return next(key for key, card in kvsim.CARDS.items() if card.gpu == H100)


def _types(keys: Any) -> list[dict[str, str]]:
    return [{"key": key, "title": TYPE_NAMES[key]} for key in keys]


def _limits(missed: dict[str, Any]) -> dict[str, Any]:
    """The rows of the comparison with what was measured, written out."""
    return {
        "notes": {name: _typeset(note) for name, note in notes(missed).items()},
        "gpu": missed["assumed"]["gpu"],
        "prefill_tokens": count(missed["prefill_tokens"]),
        "decode": [
            {
                "context": count(row["context_tokens"]),
                "measured": _ms(row["measured_s"], 3),
                "simulated": _ms(row["simulated_s"], 3),
                "missed": _signed(row["missed_share"]),
                "bandwidth": percent(row["published_bandwidth_share"]),
            }
            for row in missed["decode"]
        ],
        "prefill": [
            {
                "what": row["what"],
                "source": _typeset(row["source"]),
                "tflops": count(row["flops_per_s"] / 1e12),
                "share": percent(row["published_peak_share"]),
                "simulated": _ms(row["simulated_s"], 2),
                "published": "" if row["published_s"] is None else _ms(row["published_s"], 2),
                "shorter": (
                    "" if row["pessimistic_share"] is None else percent(row["pessimistic_share"])
                ),
            }
            for row in missed["prefill"]
        ],
    }


def _typeset(text: str) -> str:
    """Write what is meant for a terminal as the rest of the page is written."""
    text = re.sub(r'"([^"]*)"', r"“\1”", text).replace("'", "’")
    text = re.sub(r"\d{1,3}(,\d{3})+", lambda number: count(int(number[0].replace(",", ""))), text)
    return text.replace(" -", " −").replace(" %", "\u202f%")


def _ms(seconds: float, decimals: int) -> str:
    return fixed(1000 * seconds, decimals)


def _signed(share: float) -> str:
    sign = "−" if share < 0 else "+"
    return sign + percent(abs(share))
