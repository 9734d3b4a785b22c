"""How a command ends: refused in a sentence, or not heard out, as nobody reads on or has room."""

import errno
import io
import os
import sys
from collections.abc import Callable
from contextlib import suppress

# What is said of a file that takes no more; EDQUOT is not known everywhere.
_NO_ROOM = {errno.ENOSPC, errno.EFBIG, errno.EIO, getattr(errno, "EDQUOT", errno.ENOSPC)}


def fail(sentence: str) -> int:
    """Say why a command does not do what it was told; return what the shell is told."""
    print(sentence, file=sys.stderr)
    return 1


def to_the_end(run: Callable[[], int]) -> int:
    """Run a command and return what the shell is told, also if its output cannot be written.

    What the encoding of standard output does not have is written as an escape. Whoever stops
    reading (``| head``) has read enough: nothing is said, and the status is 1. It is 1 as well,
    with a sentence, where the output has no room, and 130 where the command is interrupted.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        status = run()
        if sys.stdout is not None:  # closed by whoever started this
            sys.stdout.flush()
    except BrokenPipeError:
        _write_no_more()
        return 1
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        _write_no_more()
        return fail(f"The output cannot be written ({error.strerror}): send it elsewhere.")
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return status


def _write_no_more() -> None:
    """Drop what is still to be written, or Python complains about it when it ends."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
