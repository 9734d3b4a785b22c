"""The served page as a process of its own, as a reader's would be."""

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from threading import Timer

SERVE = (sys.executable, "-m", "kvsim_app", "serve", "--port", "0")
PATIENCE_S = 120  # a server that has printed nothing by then is ended, so that no test hangs


class Served:
    """A running server: its address, its process, and what it has logged."""

    def __init__(self, process, log):
        self.process = process
        self._log = log
        self.url = self._address()

    def _address(self):
        watchdog = Timer(PATIENCE_S, self.process.kill)
        watchdog.start()
        line = self.process.stdout.readline()
        watchdog.cancel()
        words = [word for word in line.split() if word.startswith("http://")]
        if not words:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the server did not start: {line!r}\n{self.log}")
        return words[0]

    @property
    def log(self):
        return Path(self._log).read_text()

    def stop(self):
        """End it at once; nothing answers at its address after that."""
        self.process.kill()
        self.process.wait()


@contextmanager
def serving(command=SERVE, *, cwd=None, environment=None, clean=True):
    """Serve the page while the block runs; what the server logs is a failure, unless not ``clean``.

    An exception in a session gives a blank page with status 200: only the log tells.
    """
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        with log.open("w") as stderr:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                cwd=cwd,
                env={**os.environ, **(environment or {})},
            )
        try:
            served = Served(process, log)
            yield served
        finally:
            process.terminate()
            process.communicate()
        if clean:
            assert served.log == ""
