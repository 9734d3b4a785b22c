"""What the commands ``log`` and ``trace`` have in common: they read what others have written."""

import errno
import os
import sys
from pathlib import Path

from kvsim.commands.terminal import fail

_SHOWN = 200  # characters of a name that somebody gave


def read_input(name: str, most: int) -> bytes:
    """Read a file or standard input, of which one byte beyond ``most`` is enough to refuse it."""
    if name == "-":
        if sys.stdin is None:  # closed by whoever started this
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return sys.stdin.buffer.read(most + 1)
    if "\0" in name:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    with Path(name).open("rb") as file:
        return file.read(most + 1)


def fail_at(name: str, error: Exception) -> int:
    """Say why an input is refused, and return what the shell is told."""
    if isinstance(error, OSError):
        return fail(
            f"{name[:_SHOWN]!r} cannot be read ({error.strerror}): give a file, or - for the input."
        )
    return fail(str(error))
