"""What sharing gives on the plate's server, at every position of the section's controls.

One file of arrays, for the plate's own traffic: exponential lengths, of which the part that is a
request's own is cut at what the system prompt leaves of the maximum length.
"""

from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import kvsim
from kvsim.saturated import SATURATED_REQUESTS
from kvsim.traffic import PLATE_DURATION_S, PLATE_SEED

from .. import allocations
from ..allocations import SERVER
from ..sections import sharing_figure
from ..sections.controls import Sharing
from ..settings import Settings, choices
from .atlas_build import AXES as WORKSHOP
from .container import pack, read_current, write_whole
from .fingerprint import fingerprint

ROOTS = ("curve", "saturated", "shared_capacity")
REPLICATIONS = 4
BLOCK_SIZE, MAX_LENGTH = Settings().block_size, Settings().max_length  # of all that is simulated
AXES: dict[str, list[Any]] = {
    "block_size": WORKSHOP["block_size"],
    "max_length": WORKSHOP["max_length"],
    **{
        name: list(choice.objects)
        for name, choice in choices(Sharing)
        if name in ("samples", "system_tokens", "prompt_rate")
    },
}
# How memory is handed out: in regions of the maximum length, or in blocks that nobody shares, that
# those share who run, or that outlive them.
WAYS: dict[str, kvsim.Allocation] = {
    "contiguous": kvsim.Contiguous(MAX_LENGTH),
    "off": kvsim.Paged(BLOCK_SIZE, sharing="off"),
    "running": kvsim.Paged(BLOCK_SIZE, sharing="running"),
    "kept": kvsim.Paged(BLOCK_SIZE, sharing="kept"),
}
Arrays = dict[str, NDArray[np.float32]]


@dataclass(frozen=True, eq=False)
class SharingResults:
    """What the file holds.

    - ``contiguous_prompts`` (max_length, samples): regions in the cache, in prompts with a region
      for every sample
    - ``alone_prompts``, ``shared_prompts`` (block_size, max_length, samples, system_tokens):
      prompts that fit at once in blocks, without sharing and with it; NaN where the system prompt
      leaves no room below the maximum length
    - ``sustained`` (way, samples, system_tokens): prompts/s, for each of ``WAYS``
    - ``ttft`` (way, samples, system_tokens, prompt_rate): median time to first token in seconds of
      those that arrive in the first minute, the median over replications
    - ``found`` (way, samples, system_tokens, prompt_rate): share of their prompt tokens that were
      not computed, being in the cache or computed for another sample

    All that is simulated is so at the plate's own block size and maximum length.
    """

    header: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]


def constants() -> dict[str, Any]:
    """Everything that the file depends on beside the code of ``kvsim``."""
    return {
        "server": repr(SERVER),
        "axes": AXES,
        "story": sharing_figure.described(),
        "ways": {name: repr(way) for name, way in WAYS.items()},
        "lengths": repr(allocations.lengths("exponential", MAX_LENGTH)),
        "replications": REPLICATIONS,
        "duration_s": PLATE_DURATION_S,
        "saturated_requests": SATURATED_REQUESTS,
        "seed": PLATE_SEED,
    }


def current_fingerprint() -> str:
    """Fingerprint of a file that this code would build now."""
    return fingerprint(constants(), ROOTS)


def own_lengths(max_length: int, system_tokens: int) -> kvsim.Lengths | None:
    """Lengths of what a request has beside the system prompt; None if it has no room."""
    left = max_length - system_tokens
    return allocations.lengths("exponential", left) if left >= 2 else None


def capacities(max_length: int, system_tokens: int) -> Arrays:
    """``alone_prompts`` and ``shared_prompts`` by (block_size, samples)."""
    shape = len(AXES["block_size"]), len(AXES["samples"])
    alone, shared = np.full((2, *shape), np.nan, np.float32)
    lengths = own_lengths(max_length, system_tokens)
    if lengths is not None:
        known = _Known(lengths)
        for place in np.ndindex(shape):
            fits = kvsim.shared_capacity(
                SERVER,
                kvsim.Paged(AXES["block_size"][place[0]]),
                known,
                AXES["samples"][place[1]],
                system_tokens,
            )
            alone[place], shared[place] = fits.prompts_alone, fits.prompts
    return {"alone_prompts": alone, "shared_prompts": shared}


class _Known:
    """Lengths whose tables are worked out once."""

    def __init__(self, lengths: kvsim.Lengths) -> None:
        self.max_length = lengths.max_length
        self.draw = lengths.draw
        tables = lengths.cached_tokens_pmf(), lengths.prompt_pmf(), lengths.output_by_prompt()
        self._cached, self._prompt, self._output = tables

    def cached_tokens_pmf(self) -> NDArray[np.float64]:
        return self._cached

    def prompt_pmf(self) -> NDArray[np.float64]:
        return self._prompt

    def output_by_prompt(self) -> NDArray[np.float64]:
        return self._output


def sustained(samples: int, system_tokens: int) -> NDArray[np.float32]:
    """Prompts/s of each way."""
    lengths = own_lengths(MAX_LENGTH, system_tokens)
    assert lengths is not None, "the plate's maximum length has room for every system prompt"
    rates = [
        kvsim.sustained_rate(
            SERVER,
            way,
            lengths,
            samples=samples,
            shared_tokens=system_tokens,
            replications=REPLICATIONS,
        )
        for way in WAYS.values()
    ]
    return np.array(rates, np.float32)


def minutes(samples: int, system_tokens: int) -> Arrays:
    """``ttft`` and ``found`` by (way, prompt_rate)."""
    lengths = own_lengths(MAX_LENGTH, system_tokens)
    assert lengths is not None
    found, ttft = np.empty((2, len(WAYS), len(AXES["prompt_rate"])), np.float32)
    for (row, way), (column, rate) in product(
        enumerate(WAYS.values()), enumerate(AXES["prompt_rate"])
    ):
        medians_s, ready, prompt = [], 0, 0
        for replication in range(REPLICATIONS):
            traffic = kvsim.Traffic(
                lengths, replication=replication, samples=samples, shared_tokens=system_tokens
            )
            timeline = kvsim.simulate(traffic.during(PLATE_DURATION_S, rate), SERVER, way)
            medians_s.append(kvsim.median_ttft_s(timeline))
            ready += int(timeline.stays.ready_tokens[~timeline.stays.again].sum())
            prompt += int(timeline.requests.prompt_tokens.sum())
        ttft[row, column] = np.nanmedian(medians_s)
        found[row, column] = ready / prompt
    return {"ttft": ttft, "found": found}


def build(path: Path, workers: int | None = None) -> None:
    """Write the file to ``path``, whole or not at all; two minutes' work for two cores."""
    write_whole(path, to_bytes(dict(_arrays(workers))))


def to_bytes(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Put arrays into one file, with what the script draws the stories of shared blocks from."""
    header = {
        "fingerprint": current_fingerprint(),
        "axes": AXES,
        "ways": list(WAYS),
        "story": sharing_figure.described(),
    }
    return pack(header, arrays)


def _arrays(workers: int | None) -> Iterator[tuple[str, NDArray[Any]]]:
    lengths, samples, systems = (AXES[name] for name in ("max_length", "samples", "system_tokens"))
    slots = [SERVER.capacity_tokens // each for each in lengths]
    yield "contiguous_prompts", np.divide.outer(slots, samples).astype(np.float32)
    with ProcessPoolExecutor(workers) as pool:
        shared = tuple(zip(*product(samples, systems), strict=True))
        simulated = pool.map(minutes, *shared), pool.map(sustained, *shared)
        exact = list(pool.map(capacities, *zip(*product(lengths, systems), strict=True)))
        for name in ("alone_prompts", "shared_prompts"):
            # From (length x system, block, samples).
            by_place = np.array([each[name] for each in exact])
            by_place = by_place.reshape(len(lengths), len(systems), *by_place.shape[1:])
            yield name, by_place.transpose(2, 0, 3, 1)
        by_kind = list(simulated[0])
        for name in ("ttft", "found"):
            # From (samples x system, way, rate).
            runs = np.array([each[name] for each in by_kind])
            runs = runs.reshape(len(samples), len(systems), *runs.shape[1:])
            yield name, runs.transpose(2, 0, 1, 3)
        rates = np.array(list(simulated[1])).reshape(len(samples), len(systems), len(WAYS))
        yield "sustained", rates.transpose(2, 0, 1)


def load(path: Path) -> SharingResults:
    """Read the file. Raises ``ResultsError`` if it is missing, damaged, or of other model code."""
    return SharingResults(*read_current(path, current_fingerprint()))
