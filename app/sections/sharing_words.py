"""One position of the section on sharing: looked up in its results, and put into words.

static/sharing.js does the same while a reader drags.
"""

import math
from dataclasses import dataclass

import numpy as np

from .. import words
from ..results.sharing_results import AXES, BLOCK_SIZE, MAX_LENGTH, WAYS, SharingResults
from ..settings import Settings
from .controls import Sharing

SAME = 0.05  # by how much, in relation, two waits may differ that are called the same
BARS = ("contiguous", "alone", "shared")


@dataclass(frozen=True)
class SharingReading:
    """What the section shows at one position; by way, as :data:`WAYS` names them.

    ``prompts`` that fit at once are NaN where the system prompt leaves no room.
    """

    workshop: Settings
    section: Sharing
    prompts: dict[str, float]  # by bar
    sustained_per_s: dict[str, float]
    ttft_s: dict[str, float]
    found: dict[str, float]

    @property
    def saved(self) -> float:
        """Blocks saved / blocks without sharing, with as many prompts as fit."""
        return 1 - self.prompts["alone"] / self.prompts["shared"]


def read(results: SharingResults, workshop: Settings, section: Sharing) -> SharingReading:
    """Look up a position. Raises ``ValueError`` for values that the results do not have."""
    arrays = results.arrays
    at = {
        name: axis.index(getattr(section if hasattr(section, name) else workshop, name))
        for name, axis in AXES.items()
    }
    here = at["samples"], at["system_tokens"]
    block = at["block_size"], at["max_length"], *here
    minute = *here, at["prompt_rate"]
    room = not math.isnan(float(arrays["shared_prompts"][block]))
    regions = float(arrays["contiguous_prompts"][at["max_length"], at["samples"]])
    return SharingReading(
        workshop,
        section,
        {
            "contiguous": regions if room else math.nan,
            "alone": float(arrays["alone_prompts"][block]),
            "shared": float(arrays["shared_prompts"][block]),
        },
        *(
            {way: float(arrays[name][row, *place]) for row, way in enumerate(WAYS)}
            for name, place in (("sustained", here), ("ttft", minute), ("found", minute))
        ),
    )


def most_prompts(results: SharingResults, workshop: Settings) -> int:
    """Return the end of the bars' scale: a round number that all prompts fit on.

    It follows the workshop's controls; the section's own leave it as it is.
    """
    at = (AXES[name].index(getattr(workshop, name)) for name in ("block_size", "max_length"))
    most = float(np.nanmax(results.arrays["shared_prompts"][tuple(at)]))
    return math.ceil(most / 100) * 100


def sharing_words(reading: SharingReading) -> dict[str, str]:
    """Write everything in the section that follows controls, by key."""
    section, workshop = reading.section, reading.workshop
    room = not math.isnan(reading.prompts["shared"])
    way = "kept" if section.keep_prefixes else "running"
    of_way = {"contiguous": "contiguous", "alone": "off", "shared": way}
    known = {
        "samples": words.samples(section.samples),
        "system": words.tokens(section.system_tokens),
        "prompt_rate": words.prompt_rate(section.prompt_rate),
        "block_size": words.tokens(workshop.block_size),
        "max_length": words.tokens(workshop.max_length),
        "plate_block_size": words.tokens(BLOCK_SIZE),
        "plate_max_length": words.tokens(MAX_LENGTH),
        "saved": words.percent(reading.saved) if room else words.fill("sharing_none"),
    }
    for bar, of in of_way.items():
        prompts = reading.prompts[bar]
        known |= {
            f"{bar}_prompts": words.significant(prompts) if room else words.fill("sharing_none"),
            f"{bar}_sustained": words.significant(reading.sustained_per_s[of]),
            f"{bar}_ttft": words.seconds(reading.ttft_s[of]),
            f"{bar}_found": words.percent(reading.found[of]),
        }
    for each in ("running", "kept"):
        known |= {
            f"{each}_ttft": words.seconds(reading.ttft_s[each]),
            f"{each}_found": words.percent(reading.found[each]),
        }
    if not room:
        fits = "full"
    elif reading.prompts["shared"] > reading.prompts["alone"]:
        known["more"] = words.significant(reading.prompts["shared"] / reading.prompts["alone"])
        fits = "fit"
    else:
        fits = "nothing"
    known["finding"] = words.fill(f"sharing_{fits}", **known)
    gained = reading.ttft_s["running"] / reading.ttft_s["kept"] - 1
    kept = "kept_same" if abs(gained) < SAME else "kept_more" if gained > 0 else "kept_less"
    known["keeping"] = words.fill(f"sharing_{kept}", **known)
    known["switched"] = words.fill(f"sharing_switched_{way}")
    known["chart"] = words.fill("sharing_chart", **known)
    return known
