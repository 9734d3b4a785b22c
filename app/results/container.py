"""The file that arrays reach the page in; static/container.js reads the same.

A zlib stream of a line of JSON (a header, and where each array lies) and the arrays.
"""

import json
import math
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

FORMAT = 1
_ALIGNMENT = 8


class ResultsError(Exception):
    """A file of results cannot be used; the message says why and what to do."""


class ContainerError(Exception):
    """The bytes are no such file, or a damaged one; the message says in what way."""


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Serialise; the same contents always give the same bytes."""
    layout: dict[str, Any] = {}
    body = bytearray()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        layout[name] = {"dtype": array.dtype.name, "shape": array.shape, "offset": len(body)}
        body += array.astype(array.dtype.newbyteorder("<")).tobytes()
        body += bytes(-len(body) % _ALIGNMENT)
    whole = {**header, "format": FORMAT, "arrays": layout}
    line = json.dumps(whole, sort_keys=True, separators=(",", ":")).encode()
    line += b" " * (-(len(line) + 1) % _ALIGNMENT) + b"\n"
    return zlib.compress(line + bytes(body), 9)


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays back. Raises ``ContainerError``."""
    try:
        line, _, body = _inflated(data).partition(b"\n")
        header = json.loads(line)
        if header["format"] != FORMAT:
            raise ContainerError(f"its format is {header['format']!r}, and this reads {FORMAT}")
        arrays = {
            name: np.frombuffer(
                body,
                np.dtype(entry["dtype"]).newbyteorder("<"),
                math.prod(entry["shape"]),
                entry["offset"],
            ).reshape(entry["shape"])
            for name, entry in header.pop("arrays").items()
        }
    except (zlib.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ContainerError(str(error)) from error
    return header, arrays


def _inflated(data: bytes) -> bytes:
    """Decompress; zlib checks a sum of the content, but not that nothing follows it."""
    stream = zlib.decompressobj()
    content = stream.decompress(data)
    if not stream.eof:
        raise ContainerError("it is cut off")
    if stream.unused_data:
        raise ContainerError("something follows its end")
    return content


def write_whole(path: Path, data: bytes) -> None:
    """Write a file whole or not at all. Raises ``OSError``, and the old one stays."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # some disks say only now that they are full
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_current(path: Path, fingerprint: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays of a file that was built from code with that fingerprint.

    Raises ``ResultsError`` if it is missing, damaged, or was built from other code.
    """
    try:
        header, arrays = unpack(path.read_bytes())
    except OSError as error:
        raise ResultsError(
            f"{path} cannot be read ({error.strerror}): build it with `kvsim atlas`."
        ) from error
    except ContainerError as error:
        raise ResultsError(
            f"{path.name} is damaged ({error}): build it again with `kvsim atlas`."
        ) from error
    refuse_other_code(path.name, header.get("fingerprint"), fingerprint)
    return header, arrays


def refuse_other_code(name: str, found: object, wanted: str) -> None:
    """Raise ``ResultsError`` if a file has the fingerprint of other code than is here."""
    if found != wanted:
        raise ResultsError(
            f"{name} was built from other model code than is here, so its numbers may be wrong: "
            "build it again with `kvsim atlas`."
        )
