"""``python -m kvsim``: the simulation's own commands, without the page."""

import argparse
import sys
from collections.abc import Sequence

from kvsim.commands import add_commands
from kvsim.commands.terminal import to_the_end


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return what the shell is told."""
    parser = argparse.ArgumentParser(
        prog="python -m kvsim", description="The simulation behind the plate."
    )
    add_commands(parser.add_subparsers(required=True, metavar="COMMAND"))
    given = parser.parse_args(arguments)
    return to_the_end(lambda: given.run(given))


if __name__ == "__main__":
    sys.exit(main())
