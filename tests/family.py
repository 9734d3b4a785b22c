"""Processes and those that they have started."""

import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path

PATIENCE_S = 30


def wait_for(what):
    """What a function returns, once it is true."""
    patience = time.monotonic() + PATIENCE_S
    while not (found := what()):
        assert time.monotonic() < patience
        time.sleep(0.05)
    return found


def children(process):
    """The processes that a process has started and that have not ended."""
    return {
        pid
        for pid, parent, state in _table()
        if parent == process.pid and not state.startswith("Z")
    }


def _table():
    """Every process: its number, its parent's, and its state."""
    if Path("/proc/self/stat").exists():
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):  # it has ended meanwhile
                pid, rest = path.read_text().split(" ", 1)
                state, parent = rest.rsplit(")", 1)[1].split()[:2]
                yield int(pid), int(parent), state
    else:
        listed = subprocess.run(["ps", "-axo", "pid=,ppid=,stat="], capture_output=True, text=True)
        for row in listed.stdout.splitlines():
            pid, parent, state = row.split()
            yield int(pid), int(parent), state


def runs(pid):
    """Whether a process, of whatever parent, is still there."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
