"""Build atlases: simulate every position of the controls, on all cores, resumably.

Each workload has an atlas of its own. Finished rows are kept beside it until it is whole, so that
an interrupted build goes on.
"""

import hashlib
import multiprocessing
import os
import pickle
import shutil
import signal
from collections.abc import Generator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray
from tqdm import tqdm

import kvsim
from kvsim.binding import RESOURCES
from kvsim.curve import BAND
from kvsim.saturated import SATURATED_REQUESTS
from kvsim.traces.lengths import TraceLengths
from kvsim.traffic import PLATE_DURATION_S, PLATE_SEED

from .. import allocations, settings
from ..allocations import SERVER
from .atlas import Atlas, to_bytes
from .atlas_rows import Cell, Job, Row, compute_row
from .container import write_whole
from .fingerprint import fingerprint

AXES = {name: settings.values(name) for name in settings.NAMES if name != "workload"}
# The roots of what an atlas depends on in kvsim; see fingerprint.
ROOTS = ("binding", "binned", "capacity", "curve", "reserving", "saturated")


Drawn = kvsim.ExponentialLengths | kvsim.BinnedLengths | TraceLengths


@dataclass(frozen=True, eq=False)
class Plan:
    """What one atlas is to hold: a workload, the values of each control, and replications.

    ``drawn`` are the lengths of a workload that is none of the settings'. Sustained rates are
    counted over ``saturated_requests``.
    """

    workload: str
    axes: dict[str, list[Any]]
    replications: int
    server: kvsim.Server = SERVER
    drawn: Drawn | None = None
    saturated_requests: int = SATURATED_REQUESTS

    def constants(self) -> dict[str, Any]:
        """Everything that the atlas depends on beside its axes and the code of ``kvsim``."""
        model, gpu = self.server.model, self.server.gpu
        mean_prompt_tokens, mean_output_tokens = self._mean_tokens()
        return {
            "workload": self.workload,
            "server": repr(self.server),
            "model": model.name,
            "gpu": gpu.name,
            "cache_bytes": self.server.cache_bytes,
            "capacity_tokens": self.server.capacity_tokens,
            "kv_bytes_per_token": model.kv_bytes_per_token,
            "peak_flops": gpu.peak_flops,
            "peak_bandwidth": gpu.peak_bandwidth,
            "compute_share": gpu.compute_share,
            "bandwidth_share": gpu.bandwidth_share,
            "pass_overhead_s": gpu.pass_overhead_s,
            "mean_prompt_tokens": mean_prompt_tokens,
            "mean_output_tokens": mean_output_tokens,
            "replications": self.replications,
            "band": BAND,
            "duration_s": PLATE_DURATION_S,
            "saturated_requests": self.saturated_requests,
            "seed": PLATE_SEED,
        }

    def fingerprint(self) -> str:
        """Fingerprint of an atlas that this code would build now."""
        simulated = repr(self.positions())  # allocations and lengths, with all their settings
        return fingerprint(self.constants() | {"axes": self.axes, "jobs": simulated}, ROOTS)

    def lengths(self) -> list[kvsim.Lengths]:
        """The distribution of lengths at each maximum length."""
        return self._lengths

    @cached_property
    def _lengths(self) -> list[kvsim.Lengths]:
        longest = self.axes["max_length"]
        if self.drawn is None:
            return [allocations.lengths(self.workload, each) for each in longest]
        return [replace(self.drawn, max_length=each) for each in longest]

    def _mean_tokens(self) -> tuple[float, float]:
        """Mean prompt and output; of the plate's workloads all are told by the exponential."""
        drawn = kvsim.ExponentialLengths() if self.drawn is None else self.drawn
        if isinstance(drawn, kvsim.ExponentialLengths):
            return drawn.mean_prompt_tokens, drawn.mean_output_tokens
        pmf = drawn.prompt_pmf()
        return float(np.arange(len(pmf)) @ pmf), float(drawn.output_by_prompt().sum())

    def positions(self) -> dict[str, list[Job]]:
        """The allocation and lengths of each position, whatever the rate.

        For ``contiguous`` by (reservation, max_length), for ``paged`` by (block_overhead,
        block_size, max_length).
        """
        return {
            "contiguous": [
                (allocations.contiguous(reservation, each.max_length), each)
                for reservation, each in product(self.axes["reservation"], self.lengths())
            ],
            "paged": [
                (allocations.paged(block_size, overhead), each)
                for overhead, block_size, each in product(
                    self.axes["block_overhead"], self.axes["block_size"], self.lengths()
                )
            ],
        }

    def shape(self, kind: str) -> tuple[int, ...]:
        """The shape of an array by those axes."""
        names = {
            "contiguous": ("reservation", "max_length"),
            "paged": ("block_overhead", "block_size", "max_length"),
        }
        return tuple(len(self.axes[name]) for name in names[kind])


PLANS = {
    workload: Plan(workload, AXES, replications=32 if workload == "exponential" else 16)
    for workload in settings.values("workload")
}


def jobs(plan: Plan) -> dict[str, list[Job]]:
    """Return what has to be simulated for each position.

    Where no request is ever cut, a longer maximum changes nothing for paged allocation.
    """
    lengths = plan.lengths()
    drawn = {each: _requests(plan, each) for each in lengths}
    uncut = {
        each: next(other for other in reversed(lengths) if drawn[other] == drawn[each])
        for each in lengths
    }
    positions = plan.positions()
    positions["paged"] = [(allocation, uncut[each]) for allocation, each in positions["paged"]]
    return positions


def _requests(plan: Plan, lengths: kvsim.Lengths) -> bytes:
    """Return the lengths of all requests of all replications, to compare them."""
    traffic = (
        kvsim.Traffic(lengths, replication=n).first(plan.saturated_requests)
        for n in range(plan.replications)
    )
    return b"".join(each.prompt_tokens.tobytes() + each.output_tokens.tobytes() for each in traffic)


def build(plan: Plan, path: Path, workers: int | None = None) -> Atlas:
    """Write an atlas to ``path`` and return it; on all cores, unless ``workers`` says how many.

    Goes on where an interrupted build of the same code stopped.
    """
    parts = path.with_name(".atlas-parts") / plan.fingerprint()
    parts.mkdir(parents=True, exist_ok=True)
    done = {}
    todo = []
    for job in dict.fromkeys(chain(*jobs(plan).values())):
        row = _kept(_part(parts, job))
        if row:
            done[job] = row
        else:
            todo.append(job)
    count = len(done) + len(todo)
    with (
        tqdm(total=count, initial=len(done), unit="row", desc=plan.workload) as bar,
        closing(_computed(plan, todo, workers)) as rows,  # at once, when interrupted
    ):
        for job, row in rows:
            done[job] = row
            _keep(_part(parts, job), row)
            bar.update()
    atlas = assemble(plan, done)
    write_whole(path, to_bytes(atlas))
    shutil.rmtree(parts)
    with suppress(OSError):  # another build's rows are still there
        parts.parent.rmdir()
    return atlas


def _computed(
    plan: Plan, todo: list[Job], workers: int | None
) -> Generator[tuple[Job, Row], None, None]:
    """Compute rows in processes of their own, and yield them as they are done."""
    rates = tuple(plan.axes["rate"])
    with ProcessPoolExecutor(workers, initializer=_serve_parent) as pool:
        running = {
            pool.submit(compute_row, *job, rates, plan.replications, plan.server): job
            for job in todo
        }
        try:
            for future in as_completed(running):
                yield running[future], future.result()
        except BaseException:
            # Leaving the pool would otherwise wait for every row that is still to come. It must be
            # told to wait as well: it would forget to cancel when it is left before it has.
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _serve_parent() -> None:
    """Make a worker end with its parent, however that ends, and not at Ctrl-C before it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent:
            parent.join()
            os._exit(1)

    Thread(target=watch, daemon=True).start()


def _part(folder: Path, job: Job) -> Path:
    return folder / hashlib.sha256(repr(job).encode()).hexdigest()


def _keep(part: Path, row: Row) -> None:
    """Write a row, after a digest of it."""
    content = pickle.dumps(row)
    write_whole(part, hashlib.sha256(content).digest() + content)


def _kept(part: Path) -> Row | None:
    """Read a row back; None if it is not there, or is not what was written."""
    with suppress(FileNotFoundError):
        data = part.read_bytes()
        digest, content = data[:32], data[32:]
        if hashlib.sha256(content).digest() == digest:
            row: Row = pickle.loads(content)
            return row
    return None


def assemble(plan: Plan, rows: Mapping[Job, Row], fingerprint: str | None = None) -> Atlas:
    """Put finished rows into the atlas's arrays.

    ``fingerprint`` is for an atlas that is not kept in a file; by default it is the plan's.
    """
    arrays: dict[str, NDArray[Any]] = {}
    snapshots: dict[tuple[bytes, bytes], tuple[int, Cell]] = {}
    positions = plan.positions()
    for kind, kind_jobs in jobs(plan).items():
        shape = plan.shape(kind)
        kind_rows = [rows[job] for job in kind_jobs]
        cells = [cell for row in kind_rows for cell in row.cells]
        capacities = [
            row.capacity or kvsim.capacity(plan.server, *position)
            for row, position in zip(kind_rows, positions[kind], strict=True)
        ]
        numbers = [
            snapshots.setdefault(
                (cell.running.tobytes(), cell.decoded.tobytes()), (len(snapshots), cell)
            )[0]
            for cell in cells
        ]
        for name, values, dtype, last in (
            ("requests", [each.requests for each in capacities], np.float64, ()),
            ("share", [each.share_in_use for each in capacities], np.float64, ()),
            ("sustained", [row.sustained_per_s for row in kind_rows], np.float32, ()),
            (
                "doubled",
                [row.sustained_doubled_per_s for row in kind_rows],
                np.float32,
                (len(RESOURCES),),
            ),
            (
                "saved",
                [np.rint(100 * row.ttft_saved).clip(-100, 100).T for row in kind_rows],
                np.int16,
                (-1, len(RESOURCES)),
            ),
            ("ttft", [cell.ttft_s for cell in cells], np.float32, (-1, 3)),
            ("waiting", [cell.waiting for cell in cells], np.uint16, (-1,)),
            ("running", [len(cell.running) for cell in cells], np.uint16, (-1,)),
            ("cached", [cell.cached_tokens for cell in cells], np.uint32, (-1,)),
            ("held", [cell.held_tokens for cell in cells], np.uint32, (-1,)),
            ("snapshot", numbers, np.uint16, (-1,)),
        ):
            arrays[f"{kind}_{name}"] = _array(values, dtype).reshape(*shape, *last)
    arrays |= _snapshot_arrays(plan, [cell for _, cell in snapshots.values()])
    return Atlas(fingerprint or plan.fingerprint(), plan.axes, plan.constants(), arrays)


def _array(values: Any, dtype: DTypeLike) -> NDArray[Any]:
    """Store values in a type, or whole numbers beyond its range in the next wider one."""
    array, kind = np.asarray(values), np.dtype(dtype)
    if kind.kind in "iu" and array.size:
        array = np.nan_to_num(array)
        bounds = np.iinfo(kind)
        if array.min() < bounds.min or array.max() > bounds.max:
            kind = np.dtype(f"{kind.kind}{2 * kind.itemsize}")
    return array.astype(kind)


def _snapshot_arrays(plan: Plan, cells: list[Cell]) -> dict[str, NDArray[Any]]:
    """Store neighbours' differences: they are small, so the file is."""
    lengths = plan.lengths()
    busiest = kvsim.Traffic(lengths[0]).during(PLATE_DURATION_S, max(plan.axes["rate"]))
    prompts = [kvsim.Traffic(each).first(len(busiest)).prompt_tokens for each in lengths]
    steps = {
        "request": (np.uint16, [np.diff(cell.running, prepend=0) for cell in cells]),
        "decoded": (np.int16, [np.diff(cell.decoded, prepend=0) for cell in cells]),
    }
    return {
        "snapshot_ends": np.cumsum([len(cell.running) for cell in cells]).astype(np.uint32),
        "prompt_tokens": np.array(prompts, np.uint32),
    } | {
        f"snapshot_{name}_steps": _array(np.concatenate(values), dtype)
        for name, (dtype, values) in steps.items()
    }
