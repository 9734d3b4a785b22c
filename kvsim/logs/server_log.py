"""What a server's start-up says about its KV cache: lines of vLLM and SGLang, as people paste them.

Start with :func:`read_log`. :mod:`kvsim.logs.forms` is the table of lines that are understood.
"""

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kvsim.deployment.cache_layout import GIB
from kvsim.kinds import of_kind
from kvsim.logs.forms import FORMS, HINT, Form
from kvsim.logs.runs import FIGURES, Event, Printed, Run, runs_of, sum_of
from kvsim.logs.text import LogText, log_text

# A group of a pattern that stands for one of these, but for those of the same name.
_GROUPS = {
    "gib": "cache_gib",
    "override": "blocks",
    "hybrid_block": "block_size",
    "concurrency": "max_concurrency",
}
_RANKS = {
    "tensor_parallel": re.compile(r"(?:TP|rank=)(\d+)"),
    "pipeline_parallel": re.compile(r"PP(\d+)"),
}
_DECIMAL = {"gib", "k_gib", "v_gib", "needed", "advised", "concurrency"}
_TEXT = {"model", "version", "v1", "kv_dtype"}


@dataclass(frozen=True)
class Unread:
    """A line that speaks of the cache and could not be read."""

    line: int
    text: str

    @property
    def sentence(self) -> str:
        """Say so."""
        return f"Line {self.line} speaks of the cache, but could not be read: “{self.text}”."


@dataclass(frozen=True)
class ServerLog:
    """What was read. Of several starts in one paste the last one counts.

    ``cache_gib`` is for one GPU, in units of 2**30 bytes; ``tokens`` and ``blocks`` are what the
    engine says its cache holds. :func:`kvsim.logs.capacity.cache_of` says what they come to, and
    :func:`kvsim.logs.remarks.remarks` what they mean.
    """

    runs: tuple[Run, ...]
    unread: tuple[Unread, ...]

    @cached_property
    def run(self) -> Run:
        """The start that counts: the last one that got as far as its cache."""
        made = [run for run in self.runs if run.made_a_cache]
        return (made or self.runs or (Run(()),))[-1]

    @cached_property
    def engine(self) -> str:
        """Name of the engine; empty if no line gives it away."""
        named = [event.form.engine for event in self.run.events if event.form.engine]
        return max(sorted(set(named)), key=named.count, default="")

    @cached_property
    def generation(self) -> str:
        """``V0`` or ``V1`` of vLLM; empty for other engines, and if no line gives it away."""
        if self.engine != "vLLM":
            return ""
        events = self.run.events
        if any("v1" in e.values or e.worker.startswith("EngineCore") for e in events):
            return "V1"
        if self.run.has("tokens", "available", "pinned", "in_use", "in_use_bytes", "refused_gib"):
            return "V1"
        if "cpu_blocks" in self.figures or self.run.has(
            "rest", "profiled", "tabled", "refused_tokens"
        ):
            return "V0"
        return ""

    @cached_property
    def figures(self) -> dict[str, Printed]:
        """Every figure that was read, by its name in :data:`FIGURES`."""
        found = {name: self.run.first(name) for name in FIGURES}
        return {name: printed for name, printed in found.items() if printed is not None}

    def value(self, name: str) -> int | float | str | None:
        """Value of a figure; None if it was not printed."""
        printed = self.figures.get(name)
        return None if printed is None else printed.value

    def whole(self, name: str) -> int | None:
        """Value of a figure that is a whole number; None if it was not printed."""
        value = self.value(name)
        return value if isinstance(value, int) else None

    @property
    def gpus(self) -> int:
        """GPUs that one copy of the model is spread over: as set, or as its workers number them."""
        workers = {event.worker for event in self.run.events}
        return math.prod(
            self.whole(name)
            or max((int(n) + 1 for w in workers for n in rank.findall(w)), default=1)
            for name, rank in _RANKS.items()
        )


def read_log(pasted: str | bytes) -> ServerLog:
    """Read lines of a server's start-up; lines that say nothing about the cache are passed over.

    Text and bytes of any kind are read. Raises ``ValueError`` only beyond
    :data:`kvsim.logs.text.MAX_LOG_BYTES`.
    """
    of_kind("pasted", pasted, str, bytes)
    text = log_text(pasted)
    found = [
        (match.start(), -match.end(), form, match.groupdict())
        for form in FORMS
        for match in form.pattern.finditer(text.packed)
    ]
    found.sort(key=lambda each: each[:2])
    events = [_event(text, start, form, groups) for start, _, form, groups in found]
    unread = _unread(text, [(start, -end) for start, end, _, _ in found])
    return ServerLog(tuple(Run(tuple(run)) for run in runs_of(events)), tuple(unread))


def _event(text: LogText, start: int, form: Form, groups: dict[str, str | None]) -> Event:
    line, worker = text.line_at(start), text.worker_at(start)
    return Event(form, line, worker, _values(groups, line, worker))


def _values(groups: dict[str, str | None], line: int, worker: str) -> dict[str, Printed]:
    values = {}
    for group, text in groups.items():
        if text is None:
            continue
        name = _GROUPS.get(group, group)
        if group in _TEXT:
            values[name] = Printed(text, line, worker)
            continue
        if group in _DECIMAL:
            half = 0.5 * 10 ** -max(2, len(text.partition(".")[2]))
            values[name] = Printed(float(text), line, worker, half)
        else:
            values[name] = Printed(int(text.replace(",", "")), line, worker)
    if "cache_bytes" in values:  # exact
        values["cache_gib"] = Printed(values["cache_bytes"].number / GIB, line, worker)
    if "k_gib" in values:
        values["cache_gib"] = sum_of(values["k_gib"], values["v_gib"])
    return values


def _unread(text: LogText, spans: list[tuple[int, int]]) -> Iterable[Unread]:
    lines: set[int] = set()
    place, reach = 0, 0
    for hint in HINT.finditer(text.packed):
        while place < len(spans) and spans[place][0] < hint.end():
            reach = max(reach, spans[place][1])
            place += 1
        line = text.line_at(hint.start())
        if reach <= hint.start() and line not in lines:
            lines.add(line)
            yield Unread(line, text.quote(line))
