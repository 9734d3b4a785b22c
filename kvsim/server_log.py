"""What a server's start-up says about its KV cache: lines of vLLM and SGLang, as people paste them.

Start with :func:`read_log`. :mod:`kvsim.log_forms` is the table of lines that are understood.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from kvsim.log_forms import FORMS, HINT, Form, Role
from kvsim.log_text import LogText, log_text

GIB = 2**30

# What is read, each with the forms that say it; the first of them that was printed counts.
FIGURES = {
    "cache_gib": (
        *("pinned", "available", "rest", "profiled", "tabled", "refused_gib"),
        *("pool", "paged"),
    ),
    "tokens": ("tokens", "total", "refused_tokens", "pool", "paged"),
    "blocks": ("override", "blocks", "allocates", "num_blocks"),
    "cpu_blocks": ("blocks", "allocates"),
    "block_size": ("hybrid_block", "set_block"),
    "max_length": (
        *("concurrency", "refused_tokens", "refused_gib", "max_length", "context"),
        "set_length",
    ),
    "max_concurrency": ("concurrency",),
    "max_num_seqs": ("running", "set_seqs"),
    "tensor_parallel": ("set_tp",),
    "pipeline_parallel": ("set_pp",),
    "kv_dtype": ("pool", "sglang_dtype", "set_dtype"),
    "model": ("set_model", "loading", "vllm_model"),
    "version": ("vllm_engine", "vllm_server", "vllm_banner"),
}
# A group of a pattern that stands for one of these, but for those of the same name.
_GROUPS = {
    "gib": "cache_gib",
    "override": "blocks",
    "hybrid_block": "block_size",
    "concurrency": "max_concurrency",
}
# Of these every GPU prints its own, and the smallest decides.
_SMALLEST = ("cache_gib", "tokens", "blocks", "cpu_blocks", "max_concurrency")


@dataclass(frozen=True)
class Printed:
    """One figure as it was printed: its value, the number of its line, and who printed it.

    Servers round sizes and concurrencies to two decimals, and drop a nought at the end.
    """

    value: int | float | str
    line: int
    worker: str = ""
    half: float = 0  # the true figure lies this far below or above it

    @property
    def number(self) -> float:
        """The value, of which the caller knows that it is no name."""
        assert not isinstance(self.value, str)
        return self.value


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
class Event:
    """A line, or lines, that a form fits."""

    form: Form
    line: int
    worker: str
    values: dict[str, Printed]


@dataclass(frozen=True)
class Run:
    """One start of a server: the events of its lines, in order."""

    events: tuple[Event, ...]

    def spread(self, name: str) -> list[Printed]:
        """Return the figures of a name that its workers printed, one of each, smallest first.

        A worker that allocates several pools has them added up; tokens count those of the first.
        """
        for form in FIGURES[name]:
            found = [e for e in self.events if e.form.name == form and name in e.values]
            if found:
                break
        else:
            return []
        if name not in _SMALLEST:
            # Those of a draft model come after those of the model itself.
            return [found[0].values[name]]
        each: dict[str, Printed] = {}
        for event in found:
            value = event.values[name]
            before = each.get(event.worker)
            if before is None:
                each[event.worker] = value
            elif form == "pool" and name == "cache_gib":
                each[event.worker] = _sum(before, value)
            elif form != "pool" and value.number < before.number:
                # Older engines print the line for each worker, all under one name.
                each[f"{event.worker} line {value.line}"] = value
        return sorted(each.values(), key=lambda printed: printed.number)

    def first(self, name: str) -> Printed | None:
        """Return the figure of a name that counts; None if it was not printed."""
        return next(iter(self.spread(name)), None)

    def has(self, *forms: str) -> bool:
        """Tell whether a line of one of these forms was printed."""
        return any(event.form.name in forms for event in self.events)

    @cached_property
    def made_a_cache(self) -> bool:
        """Tell whether a figure of a cache was printed."""
        return any(self.first(name) for name in ("cache_gib", "tokens", "blocks"))

    @property
    def pools(self) -> int:
        """Most caches that one worker has allocated."""
        workers = Counter(event.worker for event in self.events if event.form.name == "pool")
        return max(workers.values(), default=0)


def _sum(left: Printed, right: Printed) -> Printed:
    # Hundredths added as binary numbers may miss the hundredth by a bit.
    total = round(left.number + right.number, 9)
    return Printed(total, left.line, left.worker, left.half + right.half)


@dataclass(frozen=True)
class ServerLog:
    """What was read. Of several starts in one paste the last one counts.

    ``cache_gib`` is for one GPU, in units of 2**30 bytes; ``tokens`` and ``blocks`` are what the
    engine says its cache holds. :func:`kvsim.log_capacity.cache_of` says what they come to, and
    :func:`kvsim.log_remarks.remarks` what they mean.
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
        if self.run.has("tokens", "available", "pinned", "refused_gib"):
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
        """GPUs that one copy of the model is spread over, as far as the lines say."""
        return (self.whole("tensor_parallel") or 1) * (self.whole("pipeline_parallel") or 1)


def read_log(pasted: str | bytes) -> ServerLog:
    """Read lines of a server's start-up; lines that say nothing about the cache are passed over.

    Text and bytes of any kind are read. Raises ``ValueError`` only beyond
    :data:`kvsim.log_text.MAX_LOG_BYTES`.
    """
    text = log_text(pasted)
    found = [
        (match.start(), -match.end(), form, match.groupdict())
        for form in FORMS
        for match in form.pattern.finditer(text.packed)
    ]
    found.sort(key=lambda each: each[:2])
    events = [_event(text, start, form, groups) for start, _, form, groups in found]
    unread = _unread(text, [(start, -end) for start, end, _, _ in found])
    return ServerLog(tuple(Run(tuple(run)) for run in _runs(events)), tuple(unread))


def _event(text: LogText, start: int, form: Form, groups: dict[str, str | None]) -> Event:
    line, worker = text.line_at(start), text.worker_at(start)
    return Event(form, line, worker, _values(groups, line, worker))


def _values(groups: dict[str, str | None], line: int, worker: str) -> dict[str, Printed]:
    values = {}
    for group, text in groups.items():
        if text is None:
            continue
        name = _GROUPS.get(group, group)
        if group in ("model", "version", "v1", "kv_dtype"):
            values[name] = Printed(text, line, worker)
            continue
        if group in ("gib", "k_gib", "v_gib", "needed", "concurrency"):
            half = 0.5 * 10 ** -max(2, len(text.partition(".")[2]))
            values[name] = Printed(float(text), line, worker, half)
        else:
            values[name] = Printed(int(text.replace(",", "")), line, worker)
    if "k_gib" in values:
        values["cache_gib"] = _sum(values["k_gib"], values["v_gib"])
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


def _runs(events: list[Event]) -> list[list[Event]]:
    """Part the events of several starts.

    A start is new if its greeting comes after figures of a cache, if a worker measures its memory
    again after an engine has made its cache, or if another maximum length is printed.
    """
    runs = [_Open()]
    for event in events:
        if runs[-1].ended_by(event):
            runs.append(_Open())
        elif runs[-1].has_another_length(event):
            runs.append(runs[-1].part())
        runs[-1].add(event)
    return [run.events for run in runs if run.events]


class _Open:
    """A start whose events are being gathered; what each of them asks takes no search."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._seen: set[tuple[str, str]] = set()  # a form and a worker
        self._roles: set[Role] = set()
        self._length: int | float | str | None = None  # of the last concurrency
        self._settled = 0  # events up to it, and to the refusal that may follow

    def add(self, event: Event) -> None:
        self.events.append(event)
        self._seen.add((event.form.name, event.worker))
        self._roles.add(event.form.role)
        if event.form.name == "concurrency":
            self._length = event.values["max_length"].value
        if event.form.name in ("concurrency", "refused_tokens"):
            self._settled = len(self.events)

    def ended_by(self, event: Event) -> bool:
        """Tell whether an event is the first of the next start."""
        form, role = event.form.name, event.form.role
        if role == "start":
            return bool(self._roles & {"profile", "engine"})
        if form == "pool":  # a worker may have several, but no more once it has told their sum
            return ("total", event.worker) in self._seen
        again = (form, event.worker) in self._seen
        return role == "profile" and again and "engine" in self._roles

    def has_another_length(self, event: Event) -> bool:
        """Tell whether a concurrency is for another maximum length than the one before."""
        if event.form.name != "concurrency" or self._length is None:
            return False
        return self._length != event.values["max_length"].value

    def part(self) -> "_Open":
        """Give what came after the last concurrency to a start of its own."""
        later = _Open()
        for event in self.events[self._settled :]:
            later.add(event)
        del self.events[self._settled :]
        return later
