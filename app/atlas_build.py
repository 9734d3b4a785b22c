"""Build the atlas: simulate every position of the controls, on all cores, resumably.

The work is cut into rows: one allocation with one distribution of lengths, at all rates. Finished
rows are kept beside the atlas until it is whole, so that an interrupted build goes on.
"""

import hashlib
import pickle
import shutil
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import kvsim
from kvsim.curve import BAND, PLATE_DURATION_S, PLATE_SEED, SATURATED_REQUESTS

from . import settings
from .atlas import Atlas, to_bytes
from .container import write_whole
from .fingerprint import fingerprint

REPLICATIONS = 32
AXES = {name: settings.values(name) for name, _ in settings.choices()}
SERVER = kvsim.Server()
LENGTHS = kvsim.ExponentialLengths()
Job = tuple[kvsim.Contiguous | kvsim.Paged, kvsim.ExponentialLengths]


_POSITIONS = {
    "contiguous": (len(AXES["max_length"]),),
    "paged": tuple(len(AXES[name]) for name in ("block_overhead", "block_size", "max_length")),
}
_RATES = len(AXES["rate"])
# The closed forms know no overhead; see Atlas for what each array means.
SHAPES = {
    (kind, name): shape
    for kind, positions in _POSITIONS.items()
    for name, shape in (
        ("requests", positions[-2:]),
        ("share", positions[-2:]),
        ("sustained", positions),
        ("ttft", (*positions, _RATES, 3)),
        ("waiting", (*positions, _RATES)),
        ("snapshot", (*positions, _RATES)),
    )
}


def constants() -> dict[str, Any]:
    """Everything that the atlas depends on beside the code of ``kvsim``."""
    model, gpu = SERVER.model, SERVER.gpu
    return {
        "model": model.name,
        "gpu": gpu.name,
        "cache_bytes": SERVER.cache_bytes,
        "capacity_tokens": SERVER.capacity_tokens,
        "kv_bytes_per_token": model.kv_bytes_per_token,
        "peak_flops": gpu.peak_flops,
        "peak_bandwidth": gpu.peak_bandwidth,
        "compute_share": gpu.compute_share,
        "bandwidth_share": gpu.bandwidth_share,
        "pass_overhead_s": gpu.pass_overhead_s,
        "mean_prompt_tokens": LENGTHS.mean_prompt_tokens,
        "mean_output_tokens": LENGTHS.mean_output_tokens,
        "replications": REPLICATIONS,
        "band": BAND,
        "duration_s": PLATE_DURATION_S,
        "saturated_requests": SATURATED_REQUESTS,
        "seed": PLATE_SEED,
    }


def current_fingerprint() -> str:
    """Fingerprint of an atlas that this code would build now."""
    return fingerprint(constants() | {"axes": AXES})


@dataclass(frozen=True)
class Cell:
    """What one allocation gives at one rate."""

    ttft_s: tuple[float, float, float]
    waiting: int
    running: NDArray[np.int64]  # request numbers, ascending
    decoded: NDArray[np.int64]  # tokens that each holds beyond its prompt


@dataclass(frozen=True)
class Row:
    """What one allocation gives with one distribution of lengths, at every rate."""

    sustained_per_s: float
    cells: tuple[Cell, ...]


def compute_cell(
    allocation: kvsim.Allocation, lengths: kvsim.ExponentialLengths, rate_per_s: float
) -> Cell:
    """Simulate one position; its snapshot is of the first replication, as arrivals end."""
    medians_s = []
    for replication in range(REPLICATIONS):
        traffic = kvsim.Traffic(lengths, replication=replication)
        requests = traffic.during(PLATE_DURATION_S, rate_per_s)
        timeline = kvsim.simulate(requests, SERVER, allocation)
        medians_s.append(kvsim.median_ttft_s(timeline))
        if replication == 0:
            waiting = _without_room(timeline)
            running, tokens = timeline.content_at(PLATE_DURATION_S)
            decoded = tokens - requests.prompt_tokens[running]
    low, median, high = np.nanquantile(medians_s, (BAND[0], 0.5, BAND[1])).tolist()
    order = np.argsort(running)
    return Cell((low, median, high), waiting, running[order], decoded[order])


def _without_room(timeline: kvsim.Timeline) -> int:
    """Requests that the last pass to start during arrivals left waiting.

    Who arrives within a pass waits for its end even on an empty server, so that does not count.
    """
    q = timeline.pass_at(PLATE_DURATION_S)
    return 0 if q is None else timeline.waiting_at(timeline.pass_start_s(q))


def compute_row(allocation: kvsim.Allocation, lengths: kvsim.ExponentialLengths) -> Row:
    """Simulate one allocation at every rate."""
    sustained_per_s = kvsim.sustained_rate(SERVER, allocation, lengths, replications=REPLICATIONS)
    return Row(
        sustained_per_s,
        tuple(compute_cell(allocation, lengths, rate) for rate in AXES["rate"]),
    )


def jobs() -> dict[str, list[Job]]:
    """Return what has to be simulated for each array of the atlas, in the order of its axes."""
    lengths = [replace(LENGTHS, max_length=int(length)) for length in AXES["max_length"]]
    # Where no request is ever cut, a longer maximum changes nothing for paged allocation.
    uncut = {each: lengths[-1] if _same(each, lengths[-1]) else each for each in lengths}
    return {
        "contiguous": [(kvsim.Contiguous(each.max_length), each) for each in lengths],
        "paged": [
            (kvsim.Paged(int(block_size), overhead), uncut[each])
            for overhead, block_size, each in product(
                AXES["block_overhead"], AXES["block_size"], lengths
            )
        ],
    }


def _same(one: kvsim.ExponentialLengths, other: kvsim.ExponentialLengths) -> bool:
    """Whether all replications of two distributions are made of the same requests."""
    return all(
        np.array_equal(left.prompt_tokens, right.prompt_tokens)
        and np.array_equal(left.output_tokens, right.output_tokens)
        for left, right in (
            [kvsim.Traffic(each, replication=n).first(SATURATED_REQUESTS) for each in (one, other)]
            for n in range(REPLICATIONS)
        )
    )


def build(path: Path, workers: int | None = None) -> Atlas:
    """Write the atlas to ``path`` and return it; on all cores, unless ``workers`` says how many.

    Goes on where an interrupted build of the same code stopped.
    """
    parts = path.with_name(".atlas-parts") / current_fingerprint()
    parts.mkdir(parents=True, exist_ok=True)
    done: dict[Job, Row] = {}
    todo = []
    for job in dict.fromkeys(chain(*jobs().values())):
        part = _part(parts, job)
        if part.exists():
            done[job] = pickle.loads(part.read_bytes())
        else:
            todo.append(job)
    with (
        ProcessPoolExecutor(workers) as pool,
        tqdm(total=len(done) + len(todo), initial=len(done), unit="row", desc="atlas") as bar,
    ):
        running = {pool.submit(compute_row, *job): job for job in todo}
        try:
            for future in as_completed(running):
                job = running[future]
                done[job] = future.result()
                unfinished = parts / "unfinished"
                unfinished.write_bytes(pickle.dumps(done[job]))
                unfinished.replace(_part(parts, job))
                bar.update()
        except BaseException:
            # Leaving the pool would otherwise wait for every row that is still to come.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    atlas = assemble(done)
    write_whole(path, to_bytes(atlas))
    shutil.rmtree(parts.parent)
    return atlas


def _part(folder: Path, job: Job) -> Path:
    return folder / hashlib.sha256(repr(job).encode()).hexdigest()


def assemble(rows: dict[Job, Row]) -> Atlas:
    """Put finished rows into the atlas's arrays."""
    arrays: dict[str, NDArray[Any]] = {}
    snapshots: dict[tuple[bytes, bytes], tuple[int, Cell]] = {}
    for kind, kind_jobs in jobs().items():
        kind_rows = [rows[job] for job in kind_jobs]
        cells = [cell for row in kind_rows for cell in row.cells]
        numbers = [
            snapshots.setdefault(
                (cell.running.tobytes(), cell.decoded.tobytes()), (len(snapshots), cell)
            )[0]
            for cell in cells
        ]
        for name, values, dtype in (
            ("sustained", [row.sustained_per_s for row in kind_rows], np.float32),
            ("ttft", [cell.ttft_s for cell in cells], np.float32),
            ("waiting", [cell.waiting for cell in cells], np.uint16),
            ("snapshot", numbers, np.uint16),
        ):
            arrays[f"{kind}_{name}"] = np.array(values, dtype).reshape(SHAPES[kind, name])
    arrays |= _closed_forms() | _snapshot_arrays([cell for _, cell in snapshots.values()])
    return Atlas(current_fingerprint(), AXES, constants(), arrays)


def _closed_forms() -> dict[str, NDArray[Any]]:
    """Requests that fit and share in use: of these no position needs a simulation."""
    arrays = {}
    lengths = [replace(LENGTHS, max_length=length) for length in AXES["max_length"]]
    for kind, allocations in (
        ("contiguous", [(kvsim.Contiguous(each.max_length), each) for each in lengths]),
        ("paged", list(product(map(kvsim.Paged, AXES["block_size"]), lengths))),
    ):
        fits = [kvsim.capacity(SERVER, *each) for each in allocations]
        shape = SHAPES[kind, "requests"]
        arrays[f"{kind}_requests"] = np.array([f.requests for f in fits]).reshape(shape)
        arrays[f"{kind}_share"] = np.array([f.share_in_use for f in fits]).reshape(shape)
    return arrays


def _snapshot_arrays(cells: list[Cell]) -> dict[str, NDArray[Any]]:
    """Store neighbours' differences: they are small, so the file is."""
    busiest = kvsim.Traffic(LENGTHS).during(PLATE_DURATION_S, max(AXES["rate"]))
    prompts = [
        kvsim.Traffic(replace(LENGTHS, max_length=length)).first(len(busiest)).prompt_tokens
        for length in AXES["max_length"]
    ]
    return {
        "snapshot_ends": np.cumsum([len(cell.running) for cell in cells]).astype(np.uint32),
        "snapshot_request_steps": np.concatenate(
            [np.diff(cell.running, prepend=0) for cell in cells]
        ).astype(np.uint16),
        "snapshot_decoded_steps": np.concatenate(
            [np.diff(cell.decoded, prepend=0) for cell in cells]
        ).astype(np.int16),
        "prompt_tokens": np.array(prompts, np.uint32),
    }
