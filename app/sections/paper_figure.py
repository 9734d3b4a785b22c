"""What the template of the paper's figure is given: widths, and numbers already written out.

The words about them stand in templates/measured.html.
"""

from typing import Any

from kvsim.paper import published
from kvsim.paper.experiments import FIGURE_2_COLUMNS

from ..results.paper_store import Paper
from ..words import count, fill, fixed

SLOTS_PUBLISHED_TO = 100  # table 1 gives thousands with one decimal
PARTS = ("token_states", "reserved", "internal", "rest")


def described(kept: Paper) -> dict[str, Any]:
    """Describe the figure, the tables beside it, and what does not come out."""
    figures, settings = kept.figures, kept.settings
    rows = list(figures["figure_2"])
    # After the system that it is compared with, which differs in the allocator alone.
    oracle = next(place for place, row in enumerate(rows) if row["system"] == "oracle")
    rows.insert(oracle + 1, figures["first_fit"])
    return {
        "settings": {
            **{name: str(settings[name]) for name in ("model", "gpu", "seeds")},
            **{
                name: count(settings[name])
                for name in (
                    *("capacity_tokens", "block_size", "from_s", "duration_s", "rate_per_s"),
                    *("batch_rate_per_s", "alpaca_rate_per_s", "held_tokens"),
                )
            },
            "alpaca_prompt": fixed(settings["alpaca_mean_tokens"][0], 2),
            "alpaca_output": fixed(settings["alpaca_mean_tokens"][1], 2),
        },
        "systems": [_system(row) for row in rows],
        "system": {row["system"]: _system(row) for row in rows},
        "expected_first_fit": {
            name: fixed(value, 1) for name, value in figures["first_fit"]["expected"].items()
        },
        "held": {
            row["system"]: count(_held_tokens(row["published"], settings["capacity_tokens"]))
            for row in figures["figure_2"]
        },
        "far": [
            {
                "system": row["system"],
                "part": part,
                "published": fixed(row["published"][part], 1),
                "simulated": fixed(row[part], 1),
                "tolerance": fixed(published.FIGURE_2_TOLERANCE[row["system"]], 1),
            }
            for row in figures["figure_2"]
            for part in PARTS
            if abs(row[part] - row["published"][part]) > published.FIGURE_2_TOLERANCE[row["system"]]
        ],
        "latency_s": fixed(figures["section_6_2"]["latency_s_per_token"], 1),
        "rates": _by_system(figures["section_6_2"]["rates"], "requests_per_s", 2),
        "ratios": [
            row | {"range": _range(given["published_range"], 1)}
            for row, given in zip(
                _by_system(figures["section_6_2"]["paged_over"], "ratio", 2),
                figures["section_6_2"]["paged_over"],
                strict=True,
            )
        ],
        "alpaca": _by_system(figures["figure_13b"], "batch", 2),
        "slots": [
            {
                "model": row["model"],
                "cache_gib": count(row["cache_gib"]),
                "published": count(row["published"]),
                "simulated": count(row["slots"]),
                # What the published slots would take, if their rounding does not account for it.
                "needed_gib": abs(row["published"] - row["slots"]) > SLOTS_PUBLISHED_TO / 2
                and fixed(row["cache_gib"] * row["published"] / row["slots"], 1),
            }
            for row in figures["table_1"]
        ],
        "block_sizes": [
            {
                "block_size": count(row["block_size"]),
                "expected": fixed(row["expected"], 2),
                "simulated": fixed(row["token_states"], 2),
                "spread": _range(row["spread"], 2),
            }
            for row in figures["block_sizes"]
        ],
    }


def _system(row: dict[str, Any]) -> dict[str, Any]:
    """One system: its bars, and every number of them."""
    measured = row.get("published")  # there is none of first-fit
    low, high = row["spread"]["token_states"]
    before_rest = sum(row[part] for part in PARTS[:-1])
    rounding = row["parts_of_rest"]["rounding"]
    return {
        "key": row["system"],
        "kind": "paged" if row["system"] == "paged" else "contiguous",
        "bars": {
            source: [
                {"part": part, "value": given[part], "shown": fixed(given[part], 1)}
                for part in PARTS
                if given[part]
            ]
            for source, given in (("published", measured), ("simulated", row))
            if given
        },
        "published": measured and _written(measured),
        "simulated": _written(row),
        "rest": {part: fixed(value, 1) for part, value in row["parts_of_rest"].items()},
        "spread": {
            part: _range(row["spread"][part], 2 if part == "batch" else 1)
            for part in FIGURE_2_COLUMNS
        },
        "mark": {"start": low, "length": high - low},
        "rounding": rounding and {"start": before_rest, "length": rounding},
    }


def _written(row: dict[str, float]) -> dict[str, str]:
    return {part: fixed(row[part], 1) for part in PARTS} | {"batch": fixed(row["batch"], 2)}


def _by_system(rows: list[dict[str, Any]], name: str, decimals: int) -> list[dict[str, str]]:
    return [
        {
            "system": row["system"],
            "published": fixed(row["published"], decimals),
            "simulated": fixed(row[name], decimals),
            "spread": _range(row["spread"], decimals),
        }
        for row in rows
    ]


def _range(ends: list[float], decimals: int) -> str:
    """Write the least and the greatest; one number if they do not differ as written."""
    low, high = (fixed(end, decimals) for end in ends)
    return low if low == high else fill("range", first=low, last=high)


def _held_tokens(row: dict[str, float], capacity_tokens: int) -> float:
    """Tokens of a running request, by the share that hold tokens and the mean batch."""
    return row["token_states"] / 100 * capacity_tokens / row["batch"]
