"""The section on an overcommitted cache: one position of its controls, looked up, in words.

static/overcommit-words.js makes the same words while a reader drags; tests compare the two.
"""

from .. import words
from ..results.overcommit_results import OvercommitResults, Position
from ..words import count, fill, fixed, seconds, significant
from .controls import Overcommit

PERCENTILES = ("p50", "p90", "p99")
TIMES = ("ttft", "tpot", "latency")
COMPARED_WATERMARK = 1  # per cent, beside a position without a watermark


def section_words(results: OvercommitResults, settings: Overcommit) -> dict[str, str]:
    """Write everything that follows the section's controls, for one position."""
    chosen = results.position(settings)
    other_mark = 0 if settings.watermark else COMPARED_WATERMARK
    other_way = "recompute" if settings.preemption == "swap" else "swap"
    marked = results.position(settings, watermark=other_mark)
    returned = results.position(settings, preemption=other_way)
    known = {
        "rate": words.rate(settings.overcommit_rate),
        "block_size": words.tokens(settings.overcommit_block_size),
        "watermark": fill("percent", count=words.plain(settings.watermark)),
        "blocks": _blocks(results, chosen),
        "replications": count(results.header["replications"]),
        "chosen_heading": fill(f"overcommit_way_{_way(results, chosen)}"),
        "marked_heading": fill("overcommit_with_watermark", watermark=words.plain(other_mark)),
        "returned_heading": fill(f"overcommit_way_{_way(results, returned)}"),
        **_column("chosen", results, chosen),
        **_column("marked", results, marked),
        **_column("returned", results, returned),
    }
    for place, watermark in enumerate(results.axis("watermark")):
        at = results.position(settings, watermark=watermark)
        column = _column(f"mark{place}", results, at)
        known |= {f"mark{place}_{name}": column[f"mark{place}_{name}"] for name in TRADED}
    events = results.events(chosen)
    lost_s = float(events["cost"].sum()) * results.header["cost_tick_s"]
    known |= {"drawn": count(len(events["cost"])), "drawn_lost": seconds(lost_s)}
    if len(events["cost"]):
        case = f"some_{settings.preemption}"
    elif results.value("preemptions", chosen):
        case = "elsewhere"
    elif results.value("preemptions", results.position(settings, watermark=0)):
        case = "watermark"
    else:
        case = "sustained"
    known["finding"] = fill(f"overcommit_finding_{case}", **known)
    known["drawing"] = fill("overcommit_drawing", **known)
    return known


TRADED = ("preemptions", "running")


def shares(results: OvercommitResults, settings: Overcommit) -> dict[str, float]:
    """Return how long the bars are that show the trade, as shares of the longest."""
    found: dict[str, float] = {}
    for name in TRADED:
        values = [
            results.value(name, results.position(settings, watermark=watermark))
            for watermark in results.axis("watermark")
        ]
        most = max(values) or 1.0
        found |= {f"mark{place}_{name}": value / most for place, value in enumerate(values)}
    return found


def calm_rate(results: OvercommitResults) -> str:
    """Write the highest rate that is kept at which nobody is pre-empted, whatever else is set."""
    calm = (results.arrays["preemptions"] == 0).all(axis=(0, 1, 2))
    rates = results.axis("overcommit_rate")
    return words.rate(max(rate for rate, none in zip(rates, calm, strict=True) if none))


def milliseconds(number_s: float) -> str:
    """Write a short duration."""
    return fill("millisecond", count=significant(1e3 * number_s))


def _way(results: OvercommitResults, position: Position) -> str:
    way: str = results.axis("way")[position[0]]
    return way


def _blocks(results: OvercommitResults, position: Position) -> str:
    return count(results.header["blocks"][position[2]])


def _column(name: str, results: OvercommitResults, position: Position) -> dict[str, str]:
    """Write the figures of one position, under keys that begin with ``name``."""
    known = {
        "preemptions": significant(results.value("preemptions", position)),
        "preempted": significant(results.value("preempted", position)),
        "recomputed": words.tokens(results.value("recomputed", position)),
        "moved": fill("gigabyte", count=significant(results.value("moved", position) / 1e9)),
        "lost": seconds(results.value("lost", position)),
        "running": fixed(results.value("running", position), 1),
        "peak": count(results.value("peak", position)),
    }
    for time in TIMES:
        for place, percentile in enumerate(PERCENTILES):
            value = results.value(time, position, place)
            known[f"{time}_{percentile}"] = (
                milliseconds(value) if time == "tpot" else seconds(value)
            )
    return {f"{name}_{key}": text for key, text in known.items()}
