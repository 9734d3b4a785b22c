"""Answers for readers' own servers: computed by worker processes, coarse first, in turns.

One thread hands out pieces of work, no more than there are workers, so that whatever is asked next
has not long to wait: sketches have a worker of their own, pieces of an earlier stage go first, and
within a stage the answer that has had the fewest.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Executor, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from queue import SimpleQueue
from secrets import token_hex
from typing import Any

from ..results.atlas_rows import Row
from .asked import Asked
from .job import AnswerJob, Task, row_bytes
from .kept import Kept
from .lanes import Lane, MakePool, lanes

MOST_ACTIVE = 8
FORGOTTEN_AFTER_S = 180.0
_ANSWER_BYTES = 64 * 2**20
_ROW_BYTES = 128 * 2**20
_TRIES = 2  # of a piece of work whose worker process ends


class TooManyError(Exception):
    """So many answers are being computed that no further one is begun."""


class Answering:
    """All answers of this process. Any thread may call it; nothing here waits for a simulation.

    Finished answers and their rows are kept by their settings, as many as there is room for. An
    answer that nobody has asked about for ``FORGOTTEN_AFTER_S`` is given up.
    """

    def __init__(
        self,
        pool: MakePool | None = None,
        workers: int | None = None,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._lanes = lanes(workers, pool)
        self._now_s = now_s
        self._lock = threading.Lock()
        self._active: dict[str, AnswerJob] = {}
        self._ended: Kept[AnswerJob] = Kept(_ANSWER_BYTES)
        self._rows: Kept[Row] = Kept(_ROW_BYTES)
        self._events: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def ask(self, asked: Asked) -> tuple[AnswerJob, str]:
        """Return the answer to what is asked, begun unless it is there, and a ticket for it.

        Raises ``TooManyError``.
        """
        ticket = token_hex(8)
        job = self.job(asked.identity, ticket)
        if job is not None and (job.active or job.state == "done"):
            return job, ticket
        new = AnswerJob(asked)
        with self._lock:
            self._forget_the_stale()
            # Somebody else may have asked just now.
            job = self._active.get(new.identity, new)
            if job is new:
                if len(self._active) >= MOST_ACTIVE:
                    raise TooManyError(
                        f"{MOST_ACTIVE} servers are being computed here already: try again in a "
                        "minute."
                    )
                self._active[new.identity] = new
            job.hear(ticket, self._now_s())
        self._tell(_nothing)
        return job, ticket

    def job(self, identity: str, ticket: str = "") -> AnswerJob | None:
        """Return an answer, or None if there is none here; a ticket says who asks about it."""
        with self._lock:
            job = self._active.get(identity)
            if job is not None:
                if ticket:
                    job.hear(ticket, self._now_s())
                return job
        return self._ended.get(identity)

    def cancel(self, identity: str, ticket: str) -> AnswerJob | None:
        """Take one reader's question back, and stop when nobody else asks; return the answer."""
        with self._lock:
            job = self._active.get(identity)
            if job is not None and job.tickets.pop(ticket, None) is not None and not job.tickets:
                self._end(job, "cancelled", "It was cancelled.")
        return job or self._ended.get(identity)

    def warm(self) -> None:
        """Start the workers, so that the first answer need not wait for them."""
        for lane in self._lanes:
            self._tell(lane.start)

    def close(self) -> None:
        """End all workers and whatever they are at."""
        with self._lock:
            for job in list(self._active.values()):
                self._end(job, "cancelled", "The server has stopped.")
            thread, self._thread = self._thread, None
        if thread is not None:
            self._events.put(None)
            thread.join()
        for lane in self._lanes:
            lane.end()

    def _tell(self, event: Callable[[], None] | Callable[[], Any]) -> None:
        """Have the thread do something, and then hand out work."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._attend, daemon=True)
                self._thread.start()
        self._events.put(event)

    def _attend(self) -> None:
        """Be the one thread that talks to the pool: its callbacks must not wait for a lock."""
        while (event := self._events.get()) is not None:
            with suppress(OSError):  # no process can be started: the next answer says so
                event()
            with self._lock:
                self._forget_the_stale()
            for lane in self._lanes:
                while lane.in_flight < lane.workers and self._hand_out(lane):
                    pass

    def _hand_out(self, lane: Lane) -> bool:
        """Start the next piece of work in a lane; tell whether there was one."""
        with self._lock:
            waiting = [
                job for job in self._active.values() if job.pending and lane.takes(job.pending[0])
            ]
            job = min(waiting, key=lambda each: (each.pending[0].stage, each.started), default=None)
            if job is None:
                return False
            task = job.pending.pop(0)
            job.started += 1
            job.in_flight += 1
            job.state, job.stage = "running", task.stage
        row = self._rows.get(task.name) if task.name else None
        if row is not None:
            self._settle(job, task, row)
            return True
        try:
            pool, future = lane.submit(task)
        except Exception as error:  # no process can be started
            with self._lock:
                job.in_flight -= 1
                self._end(job, "failed", _reason(error))
            return True
        lane.in_flight += 1
        future.add_done_callback(
            lambda ended: self._events.put(lambda: self._returned(lane, job, task, pool, ended))
        )
        return True

    def _returned(
        self, lane: Lane, job: AnswerJob, task: Task, pool: Executor, future: "Future[Any]"
    ) -> None:
        lane.in_flight -= 1
        try:
            found = future.result()
        except (BrokenProcessPool, CancelledError):
            lane.drop(pool)
            self._try_again(job, task)
        except Exception as error:  # whatever a simulation may raise is the reason
            with self._lock:
                job.in_flight -= 1
                self._end(job, "failed", _reason(error))
        else:
            self._settle(job, task, found)

    def _try_again(self, job: AnswerJob, task: Task) -> None:
        task.tries += 1
        with self._lock:
            job.in_flight -= 1
            if not job.active:
                return
            if task.tries < _TRIES:
                job.pending.insert(0, task)
            else:
                self._end(
                    job,
                    "failed",
                    "The process that computed this has ended twice, perhaps for want of memory: "
                    "ask about a smaller server or shorter requests.",
                )

    def _settle(self, job: AnswerJob, task: Task, found: Any) -> None:
        if task.name:
            self._rows.put(task.name, found, row_bytes(found))
        with self._lock:
            job.in_flight -= 1
            if not job.active:
                return
            task.settle(found)
            job.done += 1
            whole = not job.pending and not job.in_flight
            if whole:
                job.version += 1
        if whole:
            try:
                size = len(job.atlas()[1])
            except Exception as error:  # or the thread would end, and all answers with it
                with self._lock:
                    self._end(job, "failed", _reason(error))
                return
            with self._lock:
                if job.active:
                    job.forget_rows()
                    self._end(job, "done", size=size)

    def _end(self, job: AnswerJob, state: str, reason: str | None = None, size: int = 0) -> None:
        """End an answer, while the lock is held; what there is of it is kept, if there is room."""
        if job.active:
            job.finish(state, reason)
            self._active.pop(job.identity, None)
            self._ended.put(job.identity, job, job.size_bytes + size)

    def _forget_the_stale(self) -> None:
        for job in list(self._active.values()):
            if self._now_s() - max(job.tickets.values()) > FORGOTTEN_AFTER_S:
                self._end(job, "cancelled", "Nobody has asked about it for some minutes.")


def _nothing() -> None:
    """Only have work handed out."""


def _reason(error: Exception) -> str:
    """Return why a simulation failed: in kvsim's own words if it refuses, else by the error."""
    if isinstance(error, ValueError) and str(error):
        return str(error)
    return f"The simulation failed ({type(error).__name__}: {error})."[:500]
