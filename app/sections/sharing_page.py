"""What the template of the section on sharing is given: numbers already written out."""

from collections.abc import Callable
from typing import Any

from markupsafe import Markup

from ..results.paper_store import Paper
from ..results.sharing_results import SharingResults
from ..settings import Settings
from ..words import fill, fixed, samples, tokens
from . import sharing_figure
from .controls import Sharing
from .sharing_words import BARS, most_prompts, read, sharing_words

DATA_SETS = {"sharegpt": "ShareGPT", "alpaca": "Alpaca"}


def described(
    results: SharingResults, kept: Paper, workshop: Settings, section: Sharing
) -> dict[str, Any]:
    """Describe the section at some settings, and what the paper has to compare with."""
    reading = read(results, workshop, section)
    words = sharing_words(reading)
    most = most_prompts(results, workshop)
    widths = {bar: round(100 * reading.prompts[bar] / most, 2) for bar in BARS}
    return {
        "words": words,
        "follow": _following(words),
        "bars": BARS,
        # Nothing fits where the words say why.
        "widths": {bar: width if width == width else 0 for bar, width in widths.items()},
        "story": sharing_figure.described(),
        "telling": _telling(section),
        "figure_15": [_figure_15_row(row) for row in kept.figures["figure_15"]],
        "figure_16": [
            {
                "label": tokens(row["prefix_tokens"])
                if row["prefix_tokens"]
                else fill("sharing_no_prefix"),
                "published": fixed(row["published"], 2) if row["published"] else "",
                "simulated": fixed(row["ratio"], 2),
                "spread": _range(row["spread"], 2),
                "alone": fixed(row["ratio_alone"], 2),
            }
            for row in kept.figures["figure_16"]
        ],
    }


def _telling(section: Sharing) -> dict[str, str]:
    """Say what the figure opens at: the first copy of the story of these settings."""
    story = sharing_figure.described()
    stories = story["stories"][section.keep_prefixes][section.system_tokens > 0]
    frames = stories[story["samples"].index(section.samples)]
    copies = (n for n, frame in enumerate(frames) if frame["step"] == "sharing_step_copy")
    telling = next(copies, 0)  # a single sample copies nothing
    holders = {
        number: name for each in frames[: telling + 1] for number, name, _ in each["regions"]
    }
    frame = frames[telling]
    return {
        "sentence": sharing_figure.sentence(frame),
        "used": fill("sharing_blocks_used", used=frame["used"], unshared=frame["unshared"]),
        "waiting": fill(
            "sharing_regions_wait" if frame["waiting"] else "sharing_regions_none",
            used=sum(name is not None for name in holders.values()),
            regions=story["regions"],
            waiting=", ".join(frame["waiting"]),
        ),
    }


def _following(words: dict[str, str]) -> Callable[[str], Markup]:
    return lambda key: Markup('<span data-sharing="{}">{}</span>').format(key, words[key])


def _figure_15_row(row: dict[str, Any]) -> dict[str, str]:
    stated = fixed(row["published"], 2) if "published" in row else _range(row["published_range"], 1)
    return {
        "label": f"{DATA_SETS[row['data_set']]}, {samples(row['samples'])}",
        "published": stated,
        "simulated": fixed(row["saved"], 1),
        "spread": _range(row["spread"], 1),
    }


def _range(ends: list[float], decimals: int) -> str:
    low, high = (fixed(end, decimals) for end in ends)
    return fill("sharing_spread", low=low, high=high)
