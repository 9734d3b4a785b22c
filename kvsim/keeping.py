"""Results to keep: as a record for JSON, and as tables of RFC 4180 (CSV).

Numbers are written in full, and every name has its unit. What is not known (the TPOT of answers
of one token) is null, or an empty field.
"""

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from kvsim.as_python import python_lines
from kvsim.binding import RESOURCES, BindingLimits
from kvsim.kinds import all_of_kind, of_kind, shown
from kvsim.setting import Setting
from kvsim.summary import ServiceLimits, Summary
from kvsim.timeline import Timeline
from kvsim.traces.lengths import TraceLengths
from kvsim.traces.replay import Replay
from kvsim.traces.trace import Trace
from kvsim.workload import FloatArray

REQUEST_COLUMNS = (
    *("run", "request", "arrival_s", "prompt_tokens", "output_tokens"),
    *("ttft_s", "tpot_s", "latency_s", "preemptions", "within_limits"),
)
_NO_BINDING: dict[str, Any] = {
    "name": None,
    "ttft_saved_share": dict.fromkeys(RESOURCES),
    "latency_saved_share": dict.fromkeys(RESOURCES),
}


def record(
    setting: Setting | Replay, summary: Summary, limits: BindingLimits | None = None
) -> dict[str, Any]:
    """Return all there is to keep of a setting's result, ready for JSON.

    ``limits`` are those at the setting's rate alone. Raises ``ValueError`` for limits at other
    rates.
    """
    of_kind("setting", setting, Setting, Replay)
    of_kind("summary", summary, Summary)
    if limits is not None and limits.rates_per_s.tolist() != [setting.rate_per_s]:
        raise ValueError(
            f"limits are those at {limits.rates_per_s.tolist()} requests/s: give those at "
            f"{setting.rate_per_s!r}, the rate of the setting."
        )
    return {
        "kvsim": _version(),
        "setting": _plain(setting),
        "figures": {name: _known(value) for name, value in summary.figures().items()},
        "binding_limit": None if limits is None else _binding(limits),
        "python": python_lines(setting),
    }


def to_json(kept: dict[str, Any] | Sequence[dict[str, Any]]) -> str:
    """Return one record, or several, as JSON. Raises ``ValueError`` for what JSON cannot hold."""
    try:
        return json.dumps(kept, indent=2, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"kept is {shown(kept)}: give what record() returns, or several of these ({error})."
        ) from None


def to_csv(
    results: Iterable[tuple[Setting | Replay, Summary, BindingLimits | None]],
) -> str:
    """Return a table of results with one row for each setting; what names it comes first."""
    try:
        triples = [(setting, summary, limits) for setting, summary, limits in results]
    except (TypeError, ValueError):
        raise ValueError(
            f"results is {shown(results)}: give settings, each with its summary and limits."
        ) from None
    rows = []
    for setting, summary, limits in triples:
        kept = record(setting, summary, limits)
        binding = kept["binding_limit"] or _NO_BINDING
        rows.append(
            {
                "server": repr(setting.server),
                "allocation": repr(setting.allocation),
                "lengths": repr(setting.lengths),
                "rate_requests_per_s": setting.rate_per_s,
                "replications": setting.replications,
                "seed": setting.seed,
                "duration_s": setting.duration_s,
                **{
                    f"{limit.name.removesuffix('_s')}_limit_s": getattr(setting.limits, limit.name)
                    for limit in fields(ServiceLimits)
                },
                **kept["figures"],
                "binding_limit": binding["name"],
                **{
                    f"{measure}_saved_by_twice_the_{resource}_share": share
                    for measure in ("ttft", "latency")
                    for resource, share in binding[f"{measure}_saved_share"].items()
                },
            }
        )
    if not rows:
        raise ValueError("results is empty: give at least one.")
    return _table(list(rows[0]), (list(row.values()) for row in rows))


def requests_csv(timelines: Sequence[Timeline], limits: ServiceLimits | None = None) -> str:
    """Return a table of the requests of all runs, both counted from 0."""
    timelines = all_of_kind("timelines", timelines, Timeline)
    limits = limits or ServiceLimits()
    return _table(
        REQUEST_COLUMNS,
        (
            [number, *row]
            for number, run in enumerate(timelines)
            for row in zip(
                range(len(run.requests)),
                run.requests.arrival_s.tolist(),
                run.requests.prompt_tokens.tolist(),
                run.requests.output_tokens.tolist(),
                run.ttft_s.tolist(),
                map(_known, run.tpot_s.tolist()),
                run.latency_s.tolist(),
                run.preemptions.tolist(),
                limits.kept(run).astype(int).tolist(),
                strict=True,
            )
        ),
    )


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text)  # by default as RFC 4180 has it
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _binding(limits: BindingLimits) -> dict[str, Any]:
    (name,) = limits.names
    return {
        "name": name,
        "ttft_saved_share": _by_resource(limits.ttft_saved),
        "latency_saved_share": _by_resource(limits.latency_saved),
    }


def _by_resource(saved: FloatArray) -> dict[str, float | None]:
    return dict(zip(RESOURCES, map(_known, saved[:, 0].tolist()), strict=True))


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _plain(value: Any) -> Any:
    """Return a setting as plain values, each object with its class as its ``kind``."""
    if isinstance(value, Trace):
        return {"kind": "Trace", "requests": len(value), "sha256": value.digest}
    if isinstance(value, TraceLengths):
        requests = len(value.prompt_tokens)
        return {"kind": "TraceLengths", "max_length": value.max_length, "requests": requests}
    if not is_dataclass(value):
        return value
    return {"kind": type(value).__name__} | {
        field.name: _plain(getattr(value, field.name)) for field in fields(value)
    }


def _version() -> str | None:
    try:
        return version("kvsim")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return None
