"""The commands of the simulation, for ``python -m kvsim`` and for ``kvsim``.

Each has a module of its name (``capacity`` speaks through ``capacity_text``); ``arguments``,
``inputs`` and ``terminal`` are what several have in common.
"""

import argparse

from kvsim.commands.capacity import add_capacity
from kvsim.commands.limits import add_limits
from kvsim.commands.log import add_log
from kvsim.commands.paper import add_paper
from kvsim.commands.run import add_run
from kvsim.commands.trace import add_trace


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands to a parser's; each sets ``run``, which returns what the shell is told."""
    add_paper(commands)
    add_capacity(commands)
    add_run(commands)
    add_limits(commands)
    add_log(commands)
    add_trace(commands)
