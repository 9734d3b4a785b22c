"""Lessons: the cards that ask for a prediction, and the presets of the teacher's page.

What they set, ask and claim stands in static/lessons.json, their words in the word file. The same
is done by static/cards.js while a reader drags.

A measure is one quantity of a position, or the ratio of two: "paged.requests", "rate", or, before
the reader's move, "start.paged.requests".
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from . import words
from .paths import STATIC
from .reading import Reading
from .settings import Settings, choices

LESSONS: dict[str, Any] = json.loads((STATIC / "lessons.json").read_text("utf-8"))
CLOSE = 0.1  # a predicted number is close within this share of what came out
Look = Callable[[Settings], Reading]


def measure(names: Sequence[str], now: Reading, start: Reading | None = None) -> float:
    """Evaluate a measure of lessons.json at a position, after a move from ``start``."""
    over, *under = (_quantity(name, now, start) for name in names)
    return over / under[0] if under else over


def _quantity(name: str, now: Reading, start: Reading | None) -> float:
    path = name.split(".")
    reading = now
    if path[0] == "start":
        assert start is not None, "only a card has a start"
        reading, path = start, path[1:]
    if path == ["rate"]:
        return float(reading.settings.rate)
    kind, quantity = path
    side = getattr(reading, kind)
    if quantity == "wait":
        return float(side.ttft_s[1])
    return float(getattr(side, {"sustained": "sustained_per_s"}.get(quantity, quantity)))


def answer(card: Mapping[str, Any], now: Reading, start: Reading) -> str | float:
    """Return what the reader should have predicted: the name of an answer, or a number."""
    value = measure(card["measure"], now, start)
    if "answers" not in card:
        return math.floor(value + 0.5)
    names: list[str] = [name for name, below in card["answers"] if below is None or value < below]
    return names[0]


def judged(card: Mapping[str, Any], guess: str | int, right: str | float) -> str:
    """Say how a prediction did: "right", "close" or "off"."""
    if guess == right:
        return "right"
    if isinstance(right, str) or isinstance(guess, str):
        return "off"
    return "close" if abs(guess - right) <= CLOSE * right else "off"


def start_of(card: Mapping[str, Any], settings: Settings) -> Settings:
    """Return where a card begins for a reader whose controls stand at some settings."""
    return _moved(settings, {**card["keep"], **card["start"]})


def end_of(card: Mapping[str, Any], settings: Settings) -> Settings:
    """Return where a card leads that reader."""
    return _moved(settings, {**card["keep"], **card["goal"]})


def _moved(settings: Settings, changes: Mapping[str, Any]) -> Settings:
    return Settings(**{**{name: getattr(settings, name) for name, _ in choices()}, **changes})


def fields(
    card: Mapping[str, Any], now: Reading, start: Reading, constants: Mapping[str, str]
) -> dict[str, str]:
    """Write what a card's sentences are made of.

    It is everything that follows the controls, the same at the start as ``start_...``, and the
    values of the goal as ``goal_...``.
    """
    live = words.live_words(now, constants)
    began = words.live_words(start, constants)
    aim = {f"goal_{name}": words.shown(name, value) for name, value in card["goal"].items()}
    return live | {f"start_{name}": text for name, text in began.items()} | aim


def asked(card: Mapping[str, Any], known: Mapping[str, str]) -> str:
    """Write a card's question."""
    return words.fill(f"card_{card['name']}_ask", **known)


def seen(card: Mapping[str, Any], right: str | float, known: Mapping[str, str]) -> str:
    """Write what there was to see."""
    which = f"_{right}" if "answers" in card else ""
    return words.fill(f"card_{card['name']}_seen{which}", **known)


def described_cards(
    look: Look, settings: Settings, constants: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Describe the cards for a template, for a reader whose controls stand at some settings."""
    described = []
    for card in LESSONS["cards"]:
        start, end = look(start_of(card, settings)), look(end_of(card, settings))
        known = fields(card, end, start, constants)
        right = answer(card, end, start)
        described.append(
            {
                "name": card["name"],
                "title": words.fill(f"card_{card['name']}_title"),
                "ask": asked(card, known),
                "answers": [
                    (name, words.fill(f"card_{card['name']}_{name}"))
                    for name, _ in card.get("answers", ())
                ],
                "unit": "answers" not in card and words.fill(f"card_{card['name']}_unit"),
                "least": card.get("least"),
                "most": card.get("most"),
                "right": words.fill(f"card_{card['name']}_{right}")
                if isinstance(right, str)
                else words.count(right),
                "seen": seen(card, right, known),
            }
        )
    return described


def described_presets(
    look: Look, constants: Mapping[str, str], workloads: Sequence[str]
) -> list[dict[str, str]]:
    """Describe the presets of some workloads: what each shows, and its settings as a query."""
    described = []
    for preset in LESSONS["presets"]:
        settings = Settings(**preset["settings"])
        if settings.workload not in workloads:
            continue
        known = words.live_words(look(settings), constants)
        described.append(
            {
                "name": preset["name"],
                "text": words.fill(f"preset_{preset['name']}", **known),
                "query": query(settings),
            }
        )
    return described


def query(settings: Settings) -> str:
    """Write settings as the query of a link: what differs from the plate's own."""
    changed = {
        choice.key: choice.spell(getattr(settings, name))
        for name, choice in choices()
        if getattr(settings, name) != choice.default
    }
    return f"?{urlencode(changed)}"
