"""One start of a server, as a log has it, and how several starts in one paste are told apart."""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property

from kvsim.logs.forms import Form, Role

# What is read, each with the forms that say it; the first of them that was printed counts.
FIGURES = {
    "cache_gib": (
        *(
            "in_use_bytes",
            "pinned",
            "available",
            "in_use",
            "rest",
            "profiled",
            "tabled",
            "refused_gib",
        ),
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
                each[event.worker] = sum_of(before, value)
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


def sum_of(left: Printed, right: Printed) -> Printed:
    """Return the sum of two figures, with what rounding may have done to both."""
    # Hundredths added as binary numbers may miss the hundredth by a bit.
    total = round(left.number + right.number, 9)
    return Printed(total, left.line, left.worker, left.half + right.half)


def runs_of(events: list[Event]) -> list[list[Event]]:
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
