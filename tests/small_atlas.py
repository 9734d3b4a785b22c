"""Builds an atlas of few positions, for the tests of the build: ``small_atlas.py build PATH ...``.

What it changes it changes when it is imported, so that worker processes are changed as well.
"""

import sys

from tqdm import tqdm

from kvsim_app import settings

for name, offered in (
    ("block_size", [16, 256]),
    ("max_length", [4096, 8192, 16384]),
    ("rate", [2, 18]),
):
    settings.Settings.param[name].objects = offered

from kvsim_app import atlas_build  # noqa: E402
from kvsim_app.__main__ import main  # noqa: E402

atlas_build.REPLICATIONS = 2
INTERRUPTED_AFTER = 3


compute_row = atlas_build.compute_row


def counted(*job):
    """A row, and a line that says that it was simulated."""
    print("simulated a row", flush=True)
    return compute_row(*job)


atlas_build.compute_row = counted


class Bar(tqdm):
    """Says from where it goes on; when told to, stands for a reader who presses Ctrl-C."""

    interrupted = False

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        print("goes on from", self.n, "of", self.total)

    def update(self, n=1):
        super().update(n)
        if Bar.interrupted and self.n == INTERRUPTED_AFTER:
            raise KeyboardInterrupt


if __name__ == "__main__":
    _, command, path, workers = sys.argv
    Bar.interrupted = command == "interrupt"
    atlas_build.tqdm = Bar
    sys.exit(main(["atlas", "--output", path, "--workers", workers]))
