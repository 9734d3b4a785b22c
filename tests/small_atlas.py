"""Builds small results, for the tests of the build: ``small_atlas.py build FOLDER WORKERS``.

What it changes it changes when it is imported, so that worker processes are changed as well.
"""

import os
import sys
import time

from tqdm import tqdm

from kvsim_app.results import atlas_build

ALL = atlas_build.Plan(
    "exponential",
    {
        "block_size": [16, 256],
        "max_length": [4096, 8192, 16384],
        "rate": [2, 18],
        "block_overhead": [0.0, 3.7],
        "reservation": ["slots", "buddy-pow2"],
    },
    replications=2,
)
LESS = atlas_build.Plan(
    "azure-code", ALL.axes | {"block_size": [16], "max_length": [8192], "rate": [18]}, 1
)
INTERRUPTED_AFTER = 3

atlas_build.PLANS = {plan.workload: plan for plan in (ALL, LESS)}

from kvsim_app.__main__ import main  # noqa: E402
from kvsim_app.results import films, overcommit_results, paper_store, sharing_results  # noqa: E402

# These have tests of their own.
paper_store.build = lambda path, workers: path.write_bytes(b"paper")
sharing_results.build = lambda path, workers: path.write_bytes(b"sharing")
films.build = lambda path: path.write_bytes(b"films")
overcommit_results.build = lambda path: path.write_bytes(b"overcommit")

compute_row = atlas_build.compute_row


def counted(*job):
    """A row, and a line that says that it was simulated; slowly, if a test is to step in."""
    time.sleep(float(os.environ.get("ROW_DELAY_S", 0)))
    print("simulated a row", flush=True)
    return compute_row(*job)


atlas_build.compute_row = counted


class Bar(tqdm):
    """Says from where it goes on; when told to, stands for a reader who presses Ctrl-C."""

    interrupted = False

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        print(options["desc"], "goes on from", self.n, "of", self.total)

    def update(self, n=1):
        super().update(n)
        if Bar.interrupted and self.n == INTERRUPTED_AFTER:
            raise KeyboardInterrupt


if __name__ == "__main__":
    _, command, folder, workers = sys.argv
    Bar.interrupted = command == "interrupt"
    atlas_build.tqdm = Bar
    sys.exit(main(["atlas", "--output", folder, "--workers", workers]))
