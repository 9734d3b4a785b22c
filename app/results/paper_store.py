"""The published figures and the simulated ones, kept in one small file for the page to show.

They are those that ``kvsim paper`` prints, with what they were computed from.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kvsim.binned import SHAREGPT
from kvsim.paper import experiments, published, sharing

from .container import ResultsError, write_whole
from .fingerprint import fingerprint

SEEDS = 5  # as many as `kvsim paper` takes, so that it prints what the page shows
ROOTS = ("paper.sharing",)


class PaperError(ResultsError):
    """The file cannot be used."""


@dataclass(frozen=True, eq=False)
class Paper:
    """What :func:`kvsim.paper.sharing.reproduce_all` returned, and the settings that it used."""

    fingerprint: str
    settings: dict[str, Any]
    figures: dict[str, Any]


def settings() -> dict[str, Any]:
    """Everything that the page says about how the figures were computed."""
    server, load, alpaca = experiments.SERVER, experiments.SATURATED, experiments.ALPACA_LOAD
    held = SHAREGPT.cached_tokens_pmf()
    return {
        "seeds": SEEDS,
        "model": server.model.name,
        "gpu": server.gpu.name,
        "capacity_tokens": server.capacity_tokens,
        "block_size": experiments.BLOCK_SIZE,
        "rate_per_s": load.rate_per_s,
        "from_s": load.from_s,
        "duration_s": load.duration_s,
        "batch_rate_per_s": experiments.BATCH_RATE_PER_S,
        "alpaca_rate_per_s": alpaca.rate_per_s,
        "alpaca_mean_tokens": list(published.ALPACA_MEAN_TOKENS),
        # What a running request holds on average, by the table of lengths.
        "held_tokens": round(float(held @ range(len(held))), 3),
    }


def current_fingerprint() -> str:
    """Fingerprint of a file that this code would build now."""
    return fingerprint(settings(), ROOTS)


def build(path: Path, workers: int | None = None) -> Paper:
    """Simulate everything, write it to ``path`` whole or not at all, and return it."""
    kept = Paper(current_fingerprint(), settings(), sharing.reproduce_all(SEEDS, workers))
    write_whole(path, to_bytes(kept))
    return kept


def to_bytes(kept: Paper) -> bytes:
    """Serialise; the same figures always give the same bytes."""
    content = {
        "fingerprint": kept.fingerprint,
        "settings": kept.settings,
        "figures": kept.figures,
    }
    whole = {"digest": _digest(content), **content}
    return (json.dumps(whole, indent=1, ensure_ascii=False) + "\n").encode()


def load(path: Path) -> Paper:
    """Read the file. Raises ``PaperError`` if it is missing or damaged."""
    try:
        content = json.loads(path.read_bytes())
        if content.pop("digest") != _digest(content):
            raise ValueError("its content is not what was written")
        return Paper(**content)
    except OSError as error:
        raise PaperError(
            f"The paper's figures {path} cannot be read ({error.strerror}): build them with "
            "`kvsim atlas`."
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise PaperError(
            f"The paper's figures {path} are damaged ({error}): build them again with "
            "`kvsim atlas`."
        ) from error


def check_current(kept: Paper) -> None:
    """Raise ``PaperError`` if the figures were computed by other code than is here."""
    if kept.fingerprint != current_fingerprint():
        raise PaperError(
            "The paper's figures were computed by other model code than is here, so they may be "
            "wrong: build them again with `kvsim atlas`."
        )


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
