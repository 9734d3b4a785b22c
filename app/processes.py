"""Several processes behind one port, which end together however the first of them ends."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from tornado.ioloop import IOLoop


class Lifeline:
    """A pipe that only the first process holds open: when that is gone, the others read its end.

    It carries one byte. Whoever takes it is the first that is ready, and says so for all.
    """

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        self._first = os.getpid()
        os.write(self._writer, b"!")
        os.set_blocking(self._reader, False)

    def hold(self, loop: IOLoop) -> bool:
        """Take hold of it in a process that serves, whose ``loop`` will stop with the first one.

        Return whether no other process was ready before.
        """
        os.close(self._writer)
        taken = self._taken()

        def heed(descriptor: int, events: int) -> None:
            if not self._taken():
                loop.stop()

        loop.add_handler(self._reader, heed, IOLoop.READ)
        return taken

    def _taken(self) -> bool:
        try:
            return os.read(self._reader, 1) == b"!"
        except BlockingIOError:  # another has it, and the first process is there
            return False

    def let_go(self) -> None:
        """In the first process: let the others end, and wait for them."""
        if os.getpid() == self._first:
            os.close(self._writer)
            with suppress(ChildProcessError):
                while True:
                    os.wait()


@contextmanager
def lifeline() -> Iterator[Lifeline]:
    """Hold a lifeline while the block forks; SIGTERM ends the first process as Ctrl-C does."""
    line = Lifeline()
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield line
    finally:
        signal.signal(signal.SIGTERM, before)
        line.let_go()


def _leave(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
