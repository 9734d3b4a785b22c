"""What worker processes compute of an answer: rows of its atlas, results at its position."""

import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection

import numpy as np

import kvsim
from kvsim.binding import RESOURCES

from ..results.atlas_rows import Cell, Row, compute_cell, compute_row

# Requests of a trace beyond which it is replayed once only, and no other answer waits for more.
LONG_TRACE = 50_000
_NOBODY = np.zeros(0, np.int32)
UNKNOWN_CELL = Cell((float("nan"),) * 3, 0, 0, _NOBODY, _NOBODY, 0)


def unknown_row(rates: int) -> Row:
    """Return a row of which nothing is known yet."""
    return Row(
        float("nan"),
        kvsim.Capacity(float("nan"), float("nan")),
        (float("nan"),) * len(RESOURCES),
        np.full((len(RESOURCES), rates), np.nan),
        (UNKNOWN_CELL,) * rates,
    )


def coarse_row(
    server: kvsim.Server,
    allocation: kvsim.Allocation,
    lengths: kvsim.Lengths,
    rates_per_s: Sequence[float],
    some: Sequence[float],
    saturated_requests: int,
) -> Row:
    """Simulate ``some`` of the rates once; the cells of the others are unknown."""
    with _quiet():
        return replace(
            unknown_row(len(rates_per_s)),
            capacity=kvsim.capacity(server, allocation, lengths),
            sustained_per_s=kvsim.sustained_rate(
                server, allocation, lengths, replications=1, requests=saturated_requests
            ),
            cells=tuple(
                _small(compute_cell(allocation, lengths, rate, 1, server))
                if rate in some
                else UNKNOWN_CELL
                for rate in rates_per_s
            ),
        )


def whole_row(
    server: kvsim.Server,
    allocation: kvsim.Allocation,
    lengths: kvsim.Lengths,
    rates_per_s: Sequence[float],
    replications: int,
    saturated_requests: int,
) -> Row:
    """Simulate a row as the kept atlases have it, with its closed form."""
    with _quiet():
        row = compute_row(
            allocation, lengths, tuple(rates_per_s), replications, server, saturated_requests
        )
    return replace(
        row,
        capacity=kvsim.capacity(server, allocation, lengths),
        cells=tuple(map(_small, row.cells)),
    )


def _small(cell: Cell) -> Cell:
    """Return a cell of half the size: many are kept."""
    return replace(
        cell, running=cell.running.astype(np.int32), decoded=cell.decoded.astype(np.int32)
    )


def results_of(
    setting: kvsim.Setting | kvsim.Replay,
) -> tuple[kvsim.Summary, kvsim.BindingLimits | None]:
    """Simulate a setting for its figures, and for which limit binds unless the trace is long."""
    with _quiet():
        if isinstance(setting, kvsim.Replay) and len(setting.trace) > LONG_TRACE:
            return setting.summary(), None
        return setting.summary(), setting.binding_limits()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep NumPy from warning where no request arrives in a minute: there are no figures then."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "(All-NaN|Mean of empty|invalid value)", RuntimeWarning)
        yield


def ready() -> None:
    """Do nothing, when everything that a worker needs is loaded."""


def begin(lifeline: Connection, niceness: int) -> None:
    """Begin a worker process that lets others go first and ends with that at the other end.

    Nothing comes through ``lifeline``. It ends when that process closes it, or however that ends;
    a pool alone would leave its workers behind if the server is killed.
    """
    if hasattr(os, "nice"):
        os.nice(niceness)

    def heed() -> None:
        try:
            lifeline.recv_bytes()
        except (EOFError, OSError):
            os._exit(0)

    threading.Thread(target=heed, daemon=True).start()
