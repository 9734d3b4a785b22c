"""What a page asks about a reader's own server: read, checked, and made into a plan.

The fields, all in one JSON object; null is the same as leaving out:

- the server: ``model`` (a preset) or ``config`` (a ``config.json``, as text or object) with
  ``parameters_billions`` if they cannot be counted; ``gpu``, ``tp``, ``pp``, ``weights``,
  ``kv_dtype``; its memory by ``utilization``, or ``cache_bytes`` on each GPU, or ``cache_tokens``;
  ``compute_share``, ``bandwidth_share``, ``max_num_seqs``, ``max_batched_tokens``
- the workload: ``workload`` (one of the plate's, ``means`` with ``mean_prompt_tokens`` and
  ``mean_output_tokens``, or ``trace`` with ``trace``, its name, and ``replay``: ``rate`` for the
  trace's arrivals at the rate asked about, ``own-times`` for those it has)
- the position: ``block_size``, ``max_length``, ``block_overhead``, ``rate``
- limits that a request must keep to count for the goodput: ``ttft_s``, ``tpot_s``, ``latency_s``
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import kvsim
from kvsim.deployment.cache_layout import GIB, KV_DTYPES
from kvsim.deployment.served import UTILIZATION
from kvsim.deployment.shape import WEIGHT_BITS
from kvsim.setting import LEAST_SHARE, RATES

from .. import allocations, settings
from ..results.atlas_build import Drawn, Plan
from .asked_axes import LONGEST, LONGEST_BLOCK, MOST_RATE, axes_for
from .asked_fields import Fields
from .rows import LONG_TRACE

MEANS, TRACE = "means", "trace"
REPLAYS = ("rate", "own-times")
_MOST_CACHE_BYTES = 1e15
_MOST_TOKENS = 10**12
_MOST_SECONDS = 86_400.0
_LEAST = 1e-6  # below it quotients overflow, and nothing that is served comes near


class UnknownTraceError(ValueError):
    """The trace that is asked for is not here: it has to be sent (again)."""


@dataclass(frozen=True, eq=False)
class Asked:
    """What is to be computed: a plan for the atlas, and the position to begin with.

    ``position`` names the value of each control. ``notes`` are sentences on what the simulation
    leaves out and how the fields were read. ``trace`` is what is replayed, in the way of
    ``replay``, for the results at the position; None if they are those of drawn traffic.
    """

    title: str
    plan: Plan
    position: dict[str, Any]
    limits: kvsim.ServiceLimits
    notes: tuple[str, ...]
    trace: kvsim.Trace | None = None
    replay: str | None = None

    @property
    def lengths(self) -> kvsim.Lengths:
        """Lengths at the position."""
        return self.plan.lengths()[self.plan.axes["max_length"].index(self.position["max_length"])]

    @property
    def allocations(self) -> dict[str, kvsim.Allocation]:
        """The two allocations at the position, by kind."""
        at = self.position
        return {
            "contiguous": kvsim.Contiguous(at["max_length"]),
            "paged": allocations.paged(at["block_size"], at["block_overhead"]),
        }

    @property
    def identity(self) -> str:
        """Name of what is asked: the same for the same question, in every process."""
        drawn = self.trace.digest if self.trace else repr(self.plan.drawn)
        parts = (
            *(repr(self.plan.server), self.plan.workload, drawn, repr(self.plan.axes)),
            *(self.plan.replications, self.plan.saturated_requests, self.position),
            *(self.limits, self.replay),
        )
        return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def read_asked(given: object, trace_named: Callable[[str], kvsim.Trace | None]) -> Asked:
    """Return what is asked for; ``trace_named`` returns a trace that was sent before, or None.

    Raises ``ValueError`` with one sentence for anything that cannot be computed, and
    ``UnknownTraceError`` for a trace that is not here.
    """
    fields = Fields(given)
    server, shape, notes = _server(fields)
    workload, drawn, trace, replay = _workload(fields, trace_named)
    asked_for = {
        "block_size": fields.whole("block_size", 1, LONGEST_BLOCK),
        "max_length": fields.whole("max_length", 2, LONGEST),
        "block_overhead": fields.number("block_overhead", 1000, zero=True),
        "rate": fields.number("rate", MOST_RATE, least=RATES[0]),
    }
    limits = kvsim.ServiceLimits(
        *(fields.number(name, _MOST_SECONDS) for name in ("ttft_s", "tpot_s", "latency_s"))
    )
    fields.refuse_unknown()
    axes = axes_for(server, drawn, shape.max_length, asked_for)
    plan = Plan(workload, axes.values, axes.replications, server, drawn, axes.saturated_requests)
    longest = axes.position["max_length"]
    if trace is not None:
        notes.append(
            "The curves draw the lengths of this trace, with arrivals at random times; the results "
            "to keep replay the arrivals that it has."
        )
        if len(trace) > LONG_TRACE:
            notes.append(
                f"The trace has more than {LONG_TRACE:,} requests, so it is replayed once, and not "
                "again with twice of each resource: which limit binds is not said."
            )
        cut = int((trace.prompt_tokens + trace.output_tokens > longest).sum())
        if cut:
            notes.append(
                f"{cut:,} of the trace's {len(trace):,} requests are longer than {longest:,} "
                "tokens, and are cut there."
            )
    if shape.max_length is not None and longest > shape.max_length:
        notes.append(
            f"{shape.name} is made for at most {shape.max_length:,} tokens: {longest:,} are asked "
            "about."
        )
    notes += axes.notes
    return Asked(
        f"{shape.name} on {server.gpu.name}",
        plan, axes.position, limits, tuple(notes), trace, replay,
    )  # fmt: skip


def trace_bytes(trace: kvsim.Trace) -> int:
    """Bytes of a trace in memory, roughly: its numbers, and whatever else the file had."""
    numbers = sum(c.nbytes for c in (trace.arrival_s, trace.prompt_tokens, trace.output_tokens))
    texts = (*trace.further_columns, *(row.reason for row in trace.bad_rows))
    return numbers + sum(4 * len(text) + 150 for text in texts)


def _server(fields: Fields) -> tuple[kvsim.Server, kvsim.Shape, list[str]]:
    shape = _shape(fields)
    gpu = fields.one_of("gpu", tuple(kvsim.CARDS))
    if gpu is None:
        raise ValueError(f"gpu is not given: choose one of {', '.join(kvsim.CARDS)}.")
    tp = fields.whole("tp", 1, 1024) or 1
    pp = fields.whole("pp", 1, 1024) or 1
    cache_bytes = fields.number("cache_bytes", _MOST_CACHE_BYTES)
    if cache_bytes is None:
        tokens = fields.whole("cache_tokens", 2, _MOST_TOKENS)
    else:
        tokens = None
        fields.refuse("cache_tokens", "cache_bytes already says how large the cache is.")
    weights = fields.one_of("weights", tuple(WEIGHT_BITS))
    kv_dtype = fields.one_of("kv_dtype", tuple(KV_DTYPES)) or "bf16"
    seqs = fields.whole("max_num_seqs", 1, 10**6)
    batched = fields.whole("max_batched_tokens", 2, 10**8)
    compute_share = fields.number("compute_share", 1, least=LEAST_SHARE)
    bandwidth_share = fields.number("bandwidth_share", 1, least=LEAST_SHARE)
    if cache_bytes is not None or tokens is not None:
        fields.refuse("utilization", "it makes no difference where the cache's size is given.")
        utilization = UTILIZATION
    else:
        utilization = fields.number("utilization", 1) or UTILIZATION
    server = kvsim.server_for(
        shape,
        kvsim.CARDS[gpu],
        utilization=utilization,
        tp=tp,
        pp=pp,
        weights=weights,
        kv_dtype=kv_dtype,
        cache_bytes=GIB if tokens is not None else cache_bytes,
        max_num_seqs=seqs,
        max_batched_tokens=batched,
    )
    if tokens is not None:
        server = replace(server, cache_bytes=tokens * server.model.kv_bytes_per_token)
    gpu_as_asked = replace(
        server.gpu,
        compute_share=compute_share or server.gpu.compute_share,
        bandwidth_share=bandwidth_share or server.gpu.bandwidth_share,
    )
    server = replace(server, gpu=gpu_as_asked)
    return server, shape, [*shape.notes, *kvsim.simplifications(shape, tp)]


def _shape(fields: Fields) -> kvsim.Shape:
    name = fields.one_of("model", tuple(kvsim.MODELS))
    config = fields.take("config")
    billions = fields.number("parameters_billions", 10**6, least=_LEAST)
    if (name is None) == (config is None):
        raise ValueError(
            "Give one of model, a preset, and config, the text of a config.json; presets are "
            f"{', '.join(kvsim.MODELS)}."
        )
    if name is not None:
        if billions is not None:
            raise ValueError(
                f"parameters_billions is {billions:g}: those of {name} are known, so leave it out."
            )
        return kvsim.MODELS[name].shape
    if not isinstance(config, str | dict):
        raise ValueError("config must be the text of a config.json, or the object in it.")
    shape = kvsim.read_config(config)
    return shape if billions is None else shape.with_parameters(billions)


def _workload(
    fields: Fields, trace_named: Callable[[str], kvsim.Trace | None]
) -> tuple[str, Drawn, kvsim.Trace | None, str | None]:
    plates = settings.WORKLOADS
    workload = fields.one_of("workload", (*plates, MEANS, TRACE)) or plates[0]
    if workload == MEANS:
        usual = kvsim.ExponentialLengths()
        means = (
            fields.number("mean_prompt_tokens", LONGEST, least=_LEAST) or usual.mean_prompt_tokens,
            fields.number("mean_output_tokens", LONGEST, least=_LEAST) or usual.mean_output_tokens,
        )
    else:
        for name in ("mean_prompt_tokens", "mean_output_tokens"):
            fields.refuse(name, f"it counts only if workload is {MEANS!r}.")
    if workload != TRACE:
        for name in ("trace", "replay"):
            fields.refuse(name, f"it counts only if workload is {TRACE!r}.")
        if workload == MEANS:
            return workload, kvsim.ExponentialLengths(*means), None, None
        return workload, allocations.lengths(workload, LONGEST), None, None
    name = fields.take("trace")
    replay = fields.one_of("replay", REPLAYS) or REPLAYS[0]
    if not isinstance(name, str):
        raise ValueError("trace is not given: send the trace first, which returns its name.")
    trace = trace_named(name)
    if trace is None:
        raise UnknownTraceError("This trace is not here any more: send it again.")
    if replay == REPLAYS[0] and trace.duration_s == 0:
        raise ValueError(
            "replay is 'rate', but all requests of the trace arrive at once, so there is no gap to "
            "stretch: choose 'own-times'."
        )
    return workload, trace.lengths(), trace, replay
