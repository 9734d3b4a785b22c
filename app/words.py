"""The page's live words: numbers with their units, and the sentences that follow the controls.

The sentences stand in static/words.en.json (see languages.py). static/words.js fills them in while
a reader drags; this module does the same for the text that is there before any script, and tests
hold the two against each other.
"""

from collections.abc import Callable, Mapping
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from kvsim.binding import RESOURCES, SMALL_SHARE

from .languages import spoken
from .reading import Reading, Side, binding
from .sections.controls import every_choice

_THIN_SPACE = "\u202f"  # narrow, and no line breaks at it


def fixed(number: float, decimals: int) -> str:
    """Write so many decimals; halves are rounded up, as JavaScript's ``toFixed`` does."""
    rounded = Decimal(number).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    whole, _, rest = f"{rounded:,f}".partition(".")
    whole = whole.replace(",", _THIN_SPACE)
    return whole + spoken()["decimal_mark"] + rest if rest else whole


def plain(number: float) -> str:
    """Write a number as it is, with the language's decimal mark."""
    return f"{number:g}".replace(".", spoken()["decimal_mark"])


def count(number: float) -> str:
    """Write a whole number with thin spaces between thousands."""
    return fixed(number, 0)


def significant(number: float) -> str:
    """Write two significant digits, or all digits of a number from 10."""
    if number >= 9.95 or number == 0:
        return count(number)
    decimals = 1
    while decimals < 4 and number < 9.95 * 10**-decimals:
        decimals += 1
    return fixed(number, decimals)


def percent(share: float) -> str:
    """Write a share in per cent: one decimal, or two close to either end."""
    value = 100 * share
    decimals = 0 if value in (0, 100) else 1 if 1 <= value <= 99.9 else 2
    return fill("percent", count=fixed(value, decimals))


def tokens(number: float) -> str:
    """Write a number of tokens."""
    return fill("token" if number == 1 else "tokens", count=count(number))


def rate(number: int) -> str:
    """Write a whole request rate."""
    return fill("rate_one" if number == 1 else "rate", count=number)


def prompt_rate(number: float) -> str:
    """Write a rate of prompts, each of which may have several samples."""
    return fill("prompt_rate_one" if number == 1 else "prompt_rate", count=f"{number:g}")


def samples(number: int) -> str:
    """Write a number of samples of one prompt."""
    return fill("sample" if number == 1 else "samples", count=number)


def seconds(number: float) -> str:
    """Write a duration."""
    return fill("second", count=significant(number))


def per_second(number: float) -> str:
    """Write a rate that was simulated: one decimal, or two digits below one a second."""
    return significant(number) if number < 0.95 else fixed(number, 1)


def shown(name: str, value: Any) -> str:
    """Write the value of a control, as it stands beside it."""
    choice = dict(every_choice())[name]
    if choice.kind == "select":
        return fill(f"{name}_{value}")
    if choice.kind == "switch":
        return fill("on" if value else "off")
    return UNITS[choice.unit](value)


def fill(template: str, **fields: object) -> str:
    """Fill in a sentence of the word file."""
    return spoken()[template].format(**fields)


# How a slider's value is written, by the unit of its choice.
UNITS: dict[str, Callable[[Any], str]] = {
    "tokens": tokens,
    "requests/s": rate,
    "samples": samples,
    "%": lambda number: fill("percent", count=plain(number)),
    "prompts/s": prompt_rate,
}


def constant_words(constants: Mapping[str, Any], axes: Mapping[str, list[float]]) -> dict[str, str]:
    """Write what the atlas was computed with."""
    low, high = constants["band"]
    return {
        "model": constants["model"],
        "gpu": constants["gpu"],
        "cache_gb": significant(constants["cache_bytes"] / 1e9),
        "kv_bytes_per_token": count(constants["kv_bytes_per_token"]),
        "capacity_tokens": count(constants["capacity_tokens"]),
        "mean_prompt": count(constants["mean_prompt_tokens"]),
        "mean_output": count(constants["mean_output_tokens"]),
        "peak_tflops": count(constants["peak_flops"] / 1e12),
        "peak_tbs": fixed(constants["peak_bandwidth"] / 1e12, 2),
        "compute_share": fill("percent", count=count(100 * constants["compute_share"])),
        "bandwidth_share": fill("percent", count=count(100 * constants["bandwidth_share"])),
        "overhead_ms": fixed(constants["pass_overhead_s"] * 1e3, 1),
        "block_overhead_tokens": fixed(max(axes["block_overhead"]), 1),
        "most_rate": count(max(axes["rate"])),
        "replications": count(constants["replications"]),
        "arrivals_s": count(constants["duration_s"]),
        "band": fill("quantiles", low=count(100 * low), high=count(100 * high)),
        "seed": str(constants["seed"]),
    }


def live_words(reading: Reading, constants: Mapping[str, str]) -> dict[str, str]:
    """Write everything that follows the controls, for one position."""
    settings = reading.settings
    # "slots" are as long as the maximum; the others are named by allocator and estimate.
    estimate = settings.reservation.rpartition("-")[2].replace("slots", "max")
    words = {
        "block_size": tokens(settings.block_size),
        "max_length": tokens(settings.max_length),
        "rate": rate(settings.rate),
        "fit_ratio": significant(reading.paged.requests / reading.contiguous.requests),
        "ttft_ratio": significant(reading.contiguous.ttft_s[1] / reading.paged.ttft_s[1]),
        "traffic": fill(f"traffic_{settings.workload}"),
        "reserving": fill(f"reserving_{estimate}", max_length=tokens(settings.max_length)),
        "reservation_note": fill(f"note_{estimate}"),
        "overhead": fill("overhead_on" if settings.block_overhead else "overhead_off", **constants),
    }
    words |= _side_words("contiguous", reading.contiguous, reading.capacity_tokens)
    words |= _side_words("paged", reading.paged, reading.capacity_tokens)
    known = {**constants, **words, "clock": seconds(float(constants["arrivals_s"]))}
    growing = {
        (False, False): "steady",
        (True, False): "contiguous",
        (False, True): "paged",
        (True, True): "both",
    }[reading.contiguous.queue_grows, reading.paged.queue_grows]
    gained = reading.paged.sustained_per_s / reading.contiguous.sustained_per_s
    verdict = "more" if gained > 1.05 else "same" if gained > 0.95 else "less"
    known["verdict"] = fill(f"verdict_{verdict}")
    known["finding_ttft"] = fill(f"finding_ttft_{growing}", **known)
    for name in ("finding_capacity", "finding_cache", "assumptions", "limit_line", "doubled_line"):
        known[name] = fill(name, **known)
    for name in ("chart_capacity", "chart_ttft", "drawing_contiguous", "drawing_paged"):
        known[name] = fill(name, **known)
    return known


def _side_words(kind: str, side: Side, capacity_tokens: int) -> dict[str, str]:
    low, median, high = side.ttft_s
    words = {
        "fit": count(side.requests),
        "share": percent(side.share),
        "wasted": percent(1 - side.share),
        "ttft": seconds(median),
        "ttft_band": fill("band", low=significant(low), high=significant(high)),
        "sustained": fill("rate", count=per_second(side.sustained_per_s)),
        "sustained_value": per_second(side.sustained_per_s),
        "running": count(side.running),
        "waiting": count(side.waiting),
        "token_share": percent(side.cached_tokens / capacity_tokens),
        "empty_share": percent((side.held_tokens - side.cached_tokens) / capacity_tokens),
        "free_share": percent(1 - side.held_tokens / capacity_tokens),
        "limit": limit(side.saved),
        "limit_names": limit_names(side.saved),
        **{
            f"sustained_twice_{resource}": per_second(rate)
            for resource, rate in zip(RESOURCES, side.doubled_per_s, strict=True)
        },
    }
    return {f"{kind}_{name}": text for name, text in words.items()}


def limit(saved: tuple[int, ...]) -> str:
    """Say which limits bind, and what twice of each saves."""
    found = binding(saved)
    each = [
        fill(
            "limit_saves",
            resource=fill(f"resource_{RESOURCES[place]}"),
            saved=fill("percent", count=saved[place]),
        )
        for place in found
    ]
    fields = dict(zip(("first", "second", "third"), each, strict=False))
    return fill(
        f"limit_{len(found)}", small=fill("percent", count=count(100 * SMALL_SHARE)), **fields
    )


def limit_names(saved: tuple[int, ...]) -> str:
    """Name the limits that bind."""
    found = [fill(f"resource_{RESOURCES[place]}") for place in binding(saved)]
    return ", ".join(found) or fill("resource_none")
