"""``kvsim limits``: by how much the model misses what was measured."""

import argparse
import json
import textwrap
from collections.abc import Iterator
from typing import Any

from kvsim.commands.arguments import add_efficiencies, efficient
from kvsim.hardware import H100
from kvsim.measured import comparison, notes

_WIDTH = 88


def add_limits(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser's."""
    limits = commands.add_parser(
        "limits", help="compare the model's times with measured and published ones"
    )
    add_efficiencies(limits)
    limits.add_argument("--json", action="store_true", help="print one JSON object")
    limits.set_defaults(run=_limits)


def _limits(given: argparse.Namespace) -> int:
    result = comparison(efficient(H100, given))
    print(json.dumps(result | {"notes": notes(result)}, indent=2) if given.json else text(result))
    return 0


def text(result: dict[str, Any]) -> str:
    """Put what :func:`kvsim.measured.comparison` returned into tables, each with its note."""
    said = notes(result)
    return "\n\n".join(
        "\n".join([*table(result), textwrap.fill(said[name], _WIDTH)])
        for name, table in (("decode", _decode), ("prefill", _prefill))
    )


def _decode(result: dict[str, Any]) -> Iterator[str]:
    yield "Decode at batch 1: Llama 3 8B in BF16 on one H100, measured with vLLM 0.19"
    yield (
        f"{'context tokens':>14}{'measured':>13}{'simulated':>13}{'missed by':>12}{'bandwidth':>12}"
    )
    for row in result["decode"]:
        yield (
            f"{row['context_tokens']:14,}{1000 * row['measured_s']:10.3f} ms"
            f"{1000 * row['simulated_s']:10.3f} ms{_signed(row['missed_share']):>12}"
            f"{_percent(row['published_bandwidth_share']):>12}"
        )


def _prefill(result: dict[str, Any]) -> Iterator[str]:
    tokens = result["prefill_tokens"]
    yield f"Prefill of {tokens:,} tokens, against published figures of an H100 SXM"
    yield (
        f"{'':26}{'TFLOP/s':>9}{'of peak':>10}{'simulated':>13}{'at that':>13}{'shorter by':>12}"
    )
    for row in result["prefill"]:
        line = (
            f"{row['what']:26}{row['flops_per_s'] / 1e12:9,.0f}"
            f"{_percent(row['published_peak_share']):>10}"
            f"{1000 * row['simulated_s']:10.2f} ms"
        )
        if row["published_s"] is not None:
            line += f"{1000 * row['published_s']:10.2f} ms{_percent(row['pessimistic_share']):>12}"
        yield line


def _percent(share: float, decimals: int = 1) -> str:
    return f"{100 * share:.{decimals}f} %"


def _signed(share: float) -> str:
    return f"{100 * share:+.1f} %"
