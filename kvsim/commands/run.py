"""``kvsim run``: simulate one setting, print its figures, and keep them."""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from pathlib import Path

from kvsim.allocation import Allocation, Contiguous, Paged
from kvsim.as_python import python_lines
from kvsim.binding import RESOURCES, BindingLimits
from kvsim.binned import WORKLOADS
from kvsim.commands.arguments import add_efficiencies, efficient, number, whole
from kvsim.commands.terminal import fail
from kvsim.hardware import H100
from kvsim.keeping import record, requests_csv, to_csv, to_json
from kvsim.server import PLATE_CACHE_BYTES, Server
from kvsim.setting import LONGEST_S, RATES, Setting
from kvsim.summary import Percentiles, ServiceLimits, Summary, summarise
from kvsim.traffic import DEFAULT_REPLICATIONS, PLATE_DURATION_S, PLATE_SEED

MOST_REQUESTS = 5_000_000  # that one command simulates: a minute or so
_LIMITS = {"ttft": "time to first token", "tpot": "time per output token", "latency": "latency"}


def add_run(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a parser's."""
    run = commands.add_parser("run", help="simulate one server at one request rate")
    run.add_argument(
        "--allocation", choices=("paged", "contiguous"), default="paged", help="default paged"
    )
    whole_numbers = (
        ("--block-size", Paged().block_size, (1, 2**20), "tokens of a block, if paged"),
        ("--max-length", Contiguous().max_length, (2, 2**20), "most tokens of a request"),
        ("--replications", DEFAULT_REPLICATIONS, (1, 1000), "runs"),
        ("--seed", PLATE_SEED, (0, 2**64), "of the random numbers"),
    )
    for option, start, within, what in whole_numbers:
        run.add_argument(
            option,
            type=whole(*within, option[2:].replace("-", " ")),
            default=start,
            help=f"{what}; default {start}",
        )
    numbers = (
        ("--rate", 18.0, ("request rate", *RATES), "requests per second"),
        ("--duration", PLATE_DURATION_S, ("duration", 0.0, LONGEST_S), "seconds of traffic"),
        (
            "--cache-gb",
            PLATE_CACHE_BYTES / 1e9,
            ("size", 0.0, 1e9),
            "cache in units of 10**9 bytes",
        ),
    )
    for option, default, reading, what in numbers:
        run.add_argument(
            option, type=number(*reading), default=default, help=f"{what}; default {default:g}"
        )
    run.add_argument(
        "--lengths", choices=tuple(WORKLOADS), default="exponential", help="default exponential"
    )
    add_efficiencies(run)
    for name, what in _LIMITS.items():
        run.add_argument(
            f"--{name}-limit",
            type=number("limit"),
            metavar="SECONDS",
            help=f"of {what}: requests beyond it do not count for the goodput",
        )
    run.add_argument("--csv", type=Path, metavar="FILE", help="write the figures there")
    run.add_argument("--requests", type=Path, metavar="FILE", help="write every request as CSV")
    form = run.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument(
        "--python", action="store_true", help="print the lines that do the same, and stop"
    )
    run.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> int:
    try:
        setting = _setting(given)
        _refuse_what_would_be_lost(given)
        if given.python:
            print(python_lines(setting), end="")
            return 0
        runs = setting.run()
        summary = summarise(runs, setting.limits)
        limits = setting.binding_limits()
    except ValueError as error:
        return fail(str(error))
    kept: tuple[tuple[Path | None, Callable[[], str]], ...] = (
        (given.csv, lambda: to_csv([(setting, summary, limits)])),
        (given.requests, lambda: requests_csv(runs, setting.limits)),
    )
    for path, content in kept:
        if path is not None:
            try:
                path.write_text(content(), "utf-8", newline="")
            except OSError as error:
                return fail(f"{path} cannot be written ({error.strerror}): name another file.")
    if given.json:
        print(to_json(record(setting, summary, limits)), end="")
    else:
        print("\n".join(_text(setting, summary, limits)))
    return 0


def _refuse_what_would_be_lost(given: argparse.Namespace) -> None:
    for name in ("csv", "requests"):
        if given.python and getattr(given, name) is not None:
            raise ValueError(f"--{name} writes nothing with --python: leave one of them out.")
    if given.csv is not None and given.csv == given.requests:
        raise ValueError(f"--csv and --requests are both {str(given.csv)!r}: name two files.")


def _setting(given: argparse.Namespace) -> Setting:
    """Return what was asked for. Raises ``ValueError`` if it cannot be or takes too long."""
    expected = given.rate * given.duration * given.replications
    if expected > MOST_REQUESTS:
        raise ValueError(
            f"That is about {expected:,.6g} requests, and at most {MOST_REQUESTS:,} are "
            "simulated: lower --rate, --duration or --replications."
        )
    allocation: Allocation = (
        Paged(given.block_size) if given.allocation == "paged" else Contiguous(given.max_length)
    )
    return Setting(
        Server(gpu=efficient(H100, given), cache_bytes=given.cache_gb * 1e9),
        allocation,
        replace(WORKLOADS[given.lengths], max_length=given.max_length),
        given.rate,
        given.replications,
        given.seed,
        given.duration,
        ServiceLimits(given.ttft_limit, given.tpot_limit, given.latency_limit),
    )


def _text(setting: Setting, summary: Summary, limits: BindingLimits) -> Iterator[str]:
    yield (
        f"{setting.allocation!r} at {setting.rate_per_s:g} requests/s: "
        f"{summary.requests:,} requests in {summary.runs} runs of {setting.duration_s:g} s, "
        f"seed {setting.seed}"
    )
    if not summary.requests:
        yield "No request arrived: raise --rate or --duration."
        return
    yield f"{'':28}{'p50':>10}{'p90':>10}{'p99':>10}"
    for name, what in _LIMITS.items():
        percentiles: Percentiles = getattr(summary, f"{name}_s")
        values = (f"{getattr(percentiles, each.name):10.4g}" for each in fields(Percentiles))
        yield f"{what + ', s':28}" + "".join(values)
    yield f"{'mean normalized latency':28}{summary.normalized_latency_s:10.4g} s/token"
    yield (
        f"{'completed':28}{summary.completed_per_s:10.4g} requests/s, until the last one has ended"
    )
    within = [
        f"{what} at most {most_s:g} s"
        for name, what in _LIMITS.items()
        if (most_s := getattr(setting.limits, f"{name}_s")) is not None
    ]
    if within:
        yield f"{'goodput':28}{summary.goodput_per_s:10.4g} requests/s ({', '.join(within)})"
    yield (
        f"{'pre-emptions':28}{summary.preemptions:10,} of {summary.preempted_requests:,} requests, "
        f"{summary.recomputed_tokens:,} tokens recomputed"
    )
    yield f"{'limit that binds':28}{limits.names[0]:>10}"
    for measure, saved in (("TTFT", limits.ttft_saved), ("latency", limits.latency_saved)):
        shares = ", ".join(
            f"{resource} {100 * change:+.0f} %"
            for resource, change in zip(RESOURCES, 0 - saved[:, 0], strict=True)
        )
        yield f"  median {measure} with twice the: {shares}"
