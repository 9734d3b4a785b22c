"""One build at a time in a folder."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl


class BusyError(Exception):
    """Another process works in the folder."""


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Hold a folder for this process, however it ends. Raises ``BusyError`` if another does.

    On Windows nobody is refused.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise BusyError(str(folder)) from error
        yield
    finally:
        os.close(descriptor)
