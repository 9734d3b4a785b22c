"""The atlas: what the simulation says at every position of the controls, in one small file.

The file is a zlib stream of a line of JSON (axes, constants, fingerprint, and where each array
lies) and the arrays. static/atlas.js reads the same.
"""

import json
import math
import os
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
_ALIGNMENT = 8


class AtlasError(Exception):
    """An atlas file cannot be used; the message says why and what to do."""


@dataclass(frozen=True, eq=False)
class Atlas:
    """Axes, constants and results.

    ``axes`` names the values of each control. Arrays whose names start with ``contiguous_`` have
    the axes (max_length, rate); with ``paged_``: (block_overhead, block_size, max_length, rate);
    what does not depend on the rate or the overhead lacks that axis.

    - ``*_requests``, ``*_share``: requests that fit at once, share of their memory in use
    - ``*_ttft``: a last axis of three, 10th, 50th and 90th percentile over replications, seconds
    - ``*_sustained``: highest sustained rate, requests per second
    - ``*_waiting``, ``*_snapshot``: requests that wait at the end of the first minute, and the
      number of the snapshot that shows those that run
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
    layout: dict[str, Any] = {}
    body = bytearray()
    for name in sorted(atlas.arrays):
        array = np.ascontiguousarray(atlas.arrays[name])
        little_endian = array.astype(array.dtype.newbyteorder("<"))
        layout[name] = {"dtype": array.dtype.name, "shape": array.shape, "offset": len(body)}
        body += little_endian.tobytes()
        body += bytes(-len(body) % _ALIGNMENT)
    header = {
        "format": FORMAT,
        "fingerprint": atlas.fingerprint,
        "axes": atlas.axes,
        "constants": atlas.constants,
        "arrays": layout,
    }
    line = json.dumps(header, sort_keys=True, separators=(",", ":")).encode()
    line += b" " * (-(len(line) + 1) % _ALIGNMENT) + b"\n"
    return zlib.compress(line + bytes(body), 9)


def from_bytes(data: bytes) -> Atlas:
    """Read back what :func:`to_bytes` wrote. Raises ``AtlasError`` if it is damaged."""
    try:
        line, _, body = zlib.decompress(data).partition(b"\n")
        header = json.loads(line)
        if header["format"] != FORMAT:
            raise AtlasError(
                f"The atlas has format {header['format']!r}, but this version reads {FORMAT}: "
                "build it again with `kvsim atlas`."
            )
        arrays = {
            name: np.frombuffer(
                body,
                np.dtype(entry["dtype"]).newbyteorder("<"),
                math.prod(entry["shape"]),
                entry["offset"],
            ).reshape(entry["shape"])
            for name, entry in header["arrays"].items()
        }
        return Atlas(header["fingerprint"], header["axes"], header["constants"], arrays)
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise AtlasError(
            f"The atlas is damaged ({error}): build it again with `kvsim atlas`."
        ) from error


def store(atlas: Atlas, path: Path) -> None:
    """Write the file whole or not at all."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(to_bytes(atlas))
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def load(path: Path) -> Atlas:
    """Read the file. Raises ``AtlasError`` if it is missing or damaged."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise AtlasError(
            f"The atlas {path} cannot be read ({error.strerror}): build it with `kvsim atlas`."
        ) from error
    return from_bytes(data)
