"""Worker processes in two lanes: one that sketches and is always free soon, others for the rest."""

import os
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

from .job import COARSE, Task
from .rows import begin, ready

NICENESS = 10  # of all but the sketches: whoever serves the page goes first
MakePool = Callable[["Lane"], Executor]


class Lane:
    """Workers for some of the stages. One thread uses it; its pool is made when first needed."""

    def __init__(self, sketches: bool, workers: int, make: MakePool | None) -> None:
        self.sketches = sketches
        self.workers = workers
        self.in_flight = 0
        self._make = make or Lane._processes
        self._pool: Executor | None = None
        self._lifeline: Connection | None = None

    def takes(self, task: Task) -> bool:
        """Tell whether a piece of work is for this lane."""
        return (task.stage == COARSE) == self.sketches

    def start(self) -> None:
        """Start the workers, if there are none."""
        if self._pool is None:
            self._the_pool().submit(ready)

    def submit(self, task: Task) -> tuple[Executor, "Future[Any]"]:
        """Hand a piece of work to the pool, and return that too."""
        pool = self._the_pool()
        try:
            return pool, pool.submit(task.function, *task.arguments)
        except BrokenProcessPool:  # a worker has ended while there was nothing to do
            self.drop(pool)
            pool = self._the_pool()
            return pool, pool.submit(task.function, *task.arguments)

    def drop(self, pool: Executor) -> None:
        """Use a pool no more whose workers have ended."""
        if self._pool is pool:
            self._pool = None

    def end(self) -> None:
        """End all workers at once, whatever they are at."""
        if self._lifeline is not None:
            self._lifeline.close()
            self._lifeline = None
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)
            self._pool = None

    def _the_pool(self) -> Executor:
        if self._pool is None:
            self._pool = self._make(self)
        return self._pool

    def _processes(self) -> Executor:
        """Return processes that end with this one, however it ends, or when others follow them."""
        if self._lifeline is not None:
            self._lifeline.close()
        context = get_context("spawn")
        theirs, self._lifeline = context.Pipe(duplex=False)
        niceness = 0 if self.sketches else NICENESS
        return ProcessPoolExecutor(self.workers, context, begin, (theirs, niceness))


def lanes(workers: int | None, make: MakePool | None) -> tuple[Lane, Lane]:
    """Return the lane that sketches, and one with ``workers``: by default a core is left over."""
    return Lane(True, 1, make), Lane(False, workers or max(1, (os.cpu_count() or 2) - 1), make)
