"""The atlas: what the simulation says at every position of the controls, in one small file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .container import ContainerError, ResultsError, pack, unpack


class AtlasError(ResultsError):
    """An atlas cannot be used."""


@dataclass(frozen=True, eq=False)
class Atlas:
    """Axes, constants and results of one workload.

    ``axes`` names the values of each control. Arrays whose names start with ``contiguous_`` have
    the axes (reservation, max_length, rate); with ``paged_``: (block_overhead, block_size,
    max_length, rate). The first four below have no rate.

    - ``*_requests``, ``*_share``: requests that fit at once, share of their memory in use
    - ``*_sustained``: highest sustained rate, requests per second
    - ``*_doubled``: that rate with twice the memory, arithmetic or bandwidth (a last axis of three)
    - ``*_saved``: what twice of each saves of the median time to first token, whole per cent
    - ``*_ttft``: a last axis of three, 10th, 50th and 90th percentile over replications, seconds
    - at the end of the first minute: ``*_waiting`` and ``*_running`` requests, ``*_cached`` tokens
      of those that run, ``*_held`` tokens that they hold memory for, and ``*_snapshot``, the
      number of the snapshot that shows them
    - ``snapshot_ends``, ``snapshot_request_steps``, ``snapshot_decoded_steps``: the running
      requests of all snapshots in a row, of which snapshot n ends before ``snapshot_ends[n]``;
      their numbers and the tokens they hold beyond their prompt, each as the difference from the
      one before it in the snapshot
    - ``prompt_tokens`` (max_length, request): the prompts of the traffic that snapshots show
    """

    fingerprint: str
    axes: dict[str, list[float]]
    constants: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    def snapshot_tokens(self, number: int, max_length: int) -> NDArray[np.int64]:
        """Cached tokens of the requests that run in one snapshot, in the order of arrival."""
        ends = self.arrays["snapshot_ends"]
        here = slice(int(ends[number - 1]) if number else 0, int(ends[number]))
        requests = np.cumsum(self.arrays["snapshot_request_steps"][here], dtype=np.int64)
        decoded = np.cumsum(self.arrays["snapshot_decoded_steps"][here], dtype=np.int64)
        length = self.axes["max_length"].index(max_length)
        tokens: NDArray[np.int64] = self.arrays["prompt_tokens"][length][requests] + decoded
        return tokens


def to_bytes(atlas: Atlas) -> bytes:
    """Serialise; the same atlas always gives the same bytes."""
    header = {
        "fingerprint": atlas.fingerprint,
        "axes": atlas.axes,
        "constants": atlas.constants,
    }
    return pack(header, atlas.arrays)


def from_bytes(data: bytes) -> Atlas:
    """Read back what :func:`to_bytes` wrote. Raises ``AtlasError`` if it is damaged."""
    try:
        header, arrays = unpack(data)
        return Atlas(header["fingerprint"], header["axes"], header["constants"], arrays)
    except (ContainerError, KeyError) as error:
        raise AtlasError(
            f"The atlas is damaged ({error}): build it again with `kvsim atlas`."
        ) from error


def load(path: Path) -> Atlas:
    """Read the file. Raises ``AtlasError`` if it is missing or damaged."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AtlasError(
            f"The atlas {path} cannot be read ({error.strerror}): build it with `kvsim atlas`."
        ) from error
    return from_bytes(data)
