"""The rows of a trace, checked one by one: CSV or JSON lines, with the column names in use."""

import csv
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kvsim.workload import FloatArray, IntArray

MAX_TRACE_BYTES = 20_000_000
MAX_TRACE_ROWS = 200_000
MAX_TOKENS = 2_000_000  # twice a context of a million, so that distributions stay small
MAX_ARRIVAL_S = 10_000_000_000  # seconds since 1970 are among them
SHOWN_ROWS = 3

# Decimal digits only: Python would take underscores, other scripts' digits and "nan" too.
_NUMBER = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{0,30})?(?:[eE][+-]?[0-9]{1,3})?")
_TIME = re.compile(
    r"((?:19[7-9]|20[0-9]|21[0-9])[0-9]-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}:[0-9]{2}"
    r"(?:\.[0-9]{1,9})?)(Z|[+-][0-9]{2}:?[0-9]{2})?"
)


@dataclass(frozen=True)
class Columns:
    """Names that a kind of trace gives its columns, in lower case, and what its times are."""

    kind: str
    arrival: str
    prompt: str
    output: str
    arrival_unit: str  # "s", "ms", or "time" for dates and times of day

    @property
    def names(self) -> tuple[str, str, str]:
        """The three names."""
        return self.arrival, self.prompt, self.output


KINDS = (
    Columns("kvsim", "arrival_s", "prompt_tokens", "output_tokens", "s"),
    # AzureLLMInferenceTrace of 2023 and 2024: https://github.com/Azure/AzurePublicDataset
    Columns("Azure", "timestamp", "contexttokens", "generatedtokens", "time"),
    # https://github.com/kvcache-ai/Mooncake, FAST25-release/traces
    Columns("Mooncake", "timestamp", "input_length", "output_length", "ms"),
)


@dataclass(frozen=True)
class BadRow:
    """A row that is no request: the number of its line, from 1, and why."""

    line: int
    reason: str

    @property
    def sentence(self) -> str:
        """Say so."""
        return f"Line {self.line} {self.reason}."


class TraceError(ValueError):
    """A trace is refused; ``bad_rows`` has all rows that are the reason, if rows are."""

    def __init__(self, sentence: str, bad_rows: Sequence[BadRow] = ()) -> None:
        super().__init__(sentence)
        self.bad_rows = tuple(bad_rows)


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a trace as they stand in it. Arrival times of dates count from the earliest."""

    columns: Columns
    arrival_s: FloatArray
    prompt_tokens: IntArray
    output_tokens: IntArray
    bad: tuple[BadRow, ...]
    further_columns: tuple[str, ...]


def read_rows(data: str | bytes) -> Rows:
    """Read all rows, the bad ones too. Raises ``TraceError`` for what is no trace at all."""
    lines = _lines(data)
    first = next((number for number, line in enumerate(lines) if line.strip()), None)
    if first is None:
        raise TraceError(f"The trace is empty: give a line with the names {_choices()}, and rows.")
    as_json = lines[first].lstrip().startswith("{")
    start = first if as_json else first + 1
    count = sum(1 for line in lines[start:] if line.strip())
    if count > MAX_TRACE_ROWS:
        raise TraceError(
            f"The trace has {count:,} rows: give at most {MAX_TRACE_ROWS:,}, a part of it."
        )
    reading = _Json(lines[first]) if as_json else _Csv(lines[first])
    bad: list[BadRow] = []
    numbers: list[int] = []
    fields: list[Sequence[str]] = []
    for number, line in enumerate(lines[start:], start + 1):
        if not line.strip():
            continue
        row = reading.row(line)
        if isinstance(row, str):
            bad.append(BadRow(number, row))
        else:
            numbers.append(number)
            fields.append(row)
    return _checked(reading, numbers, fields, bad)


def _lines(data: str | bytes) -> list[str]:
    size = len(data) if isinstance(data, bytes) else len(data.encode("utf-8", "surrogatepass"))
    if size > MAX_TRACE_BYTES:
        raise TraceError(
            f"The trace is larger than {MAX_TRACE_BYTES:,} bytes, which are the most: give a part."
        )
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise TraceError(
                f"The trace is no UTF-8 text (byte {error.start:,}): save it as CSV in UTF-8."
            ) from error
    text = data.removeprefix("\ufeff")
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _choices() -> str:
    return ", or ".join(",".join(kind.names) for kind in KINDS)


def _kind(names: Sequence[str]) -> Columns:
    """Find the columns among names. Raises ``TraceError`` if they are not there, or twice."""
    for kind in KINDS:
        if set(kind.names) <= set(names):
            twice = [name for name in kind.names if names.count(name) > 1]
            if twice:
                raise TraceError(f"The trace has two columns {twice[0]}: leave one of them out.")
            return kind
    shown = ",".join(names)
    shown = shown if len(shown) <= 40 else shown[:39] + "…"
    raise TraceError(f"The first line of the trace is {shown!r}: it must name {_choices()}.")


class _Csv:
    """Rows of comma-separated fields. No field of a trace has a line break in it."""

    def __init__(self, header: str) -> None:
        names = _fields(header)
        if isinstance(names, str):
            raise TraceError(f"The first line of the trace {names}: it must name {_choices()}.")
        self._names = [name.strip().lower() for name in names]
        self.columns = _kind(self._names)
        self.further = tuple(name for name in self._names if name not in self.columns.names)
        self._places = [self._names.index(name) for name in self.columns.names]

    def row(self, line: str) -> list[str] | str:
        """Return the three fields, or the reason why there are none."""
        fields = _fields(line)
        if isinstance(fields, str):
            return fields
        if len(fields) != len(self._names):
            return f"has {len(fields):,} fields, where the first line names {len(self._names):,}"
        return [fields[place].strip() for place in self._places]


def _fields(line: str) -> list[str] | str:
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line], strict=True, skipinitialspace=True))
    except (csv.Error, StopIteration):
        return "has a quotation mark that is not closed, or text after one that is"


class _Json:
    """Rows that are a JSON object each."""

    def __init__(self, first: str) -> None:
        found = _object(first)
        if isinstance(found, str):
            raise TraceError(f"The first line of the trace {found}: each line must be an object.")
        names = list(found)
        self.columns = _kind(names)
        self.further = tuple(name for name in names if name not in self.columns.names)

    def row(self, line: str) -> list[str] | str:
        """Return the three fields as text, or the reason why there are none."""
        found = _object(line)
        if isinstance(found, str):
            return found
        missing = [name for name in self.columns.names if name not in found]
        if missing:
            return f"has no {missing[0]}"
        return [_text(found[name]) for name in self.columns.names]


def _object(line: str) -> dict[str, object] | str:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return "is no JSON object"
    if not isinstance(found, dict):
        return "is no JSON object"
    return {name.strip().lower(): value for name, value in found.items()}


def _text(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    # A list or an object is no number, whatever is in it.
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return repr(value) if plain else type(value).__name__


def _checked(
    reading: _Csv | _Json, numbers: list[int], fields: list[Sequence[str]], bad: list[BadRow]
) -> Rows:
    columns = reading.columns
    text = list(zip(*fields, strict=True)) or [(), (), ()]
    reasons: dict[int, str] = {}

    def refuse(place: int, name: str, must_be: str) -> None:
        value = fields[place][columns.names.index(name)]
        value = value if len(value) <= 40 else value[:39] + "…"
        reasons.setdefault(place, f"has {name} {value!r}, which must be {must_be}")

    if columns.arrival_unit == "time":
        arrival = _times(text[0], lambda place: refuse(place, columns.arrival, _TIME_RULE))
    else:
        unit = {"s": 1, "ms": 1000}[columns.arrival_unit]
        rule = f"from 0 to {MAX_ARRIVAL_S * unit:,} {columns.arrival_unit}"
        arrival = _numbers(text[0]) / unit
        for place in np.flatnonzero(~((arrival >= 0) & (arrival <= MAX_ARRIVAL_S))):
            refuse(int(place), columns.arrival, rule)
    lengths = []
    for name, column in ((columns.prompt, text[1]), (columns.output, text[2])):
        tokens = _numbers(column)
        right = (tokens >= 1) & (tokens <= MAX_TOKENS) & (tokens == np.rint(tokens))
        for place in np.flatnonzero(~right):
            refuse(int(place), name, f"a whole number from 1 to {MAX_TOKENS:,}")
        lengths.append(tokens)
    good = np.ones(len(fields), bool)
    good[list(reasons)] = False
    bad = [*bad, *(BadRow(numbers[place], reason) for place, reason in reasons.items())]
    bad.sort(key=lambda row: row.line)
    arrival = arrival[good]
    if columns.arrival_unit == "time" and len(arrival):
        arrival = arrival - arrival.min()
    prompt, output = (tokens[good].astype(np.int64) for tokens in lengths)
    return Rows(columns, arrival, prompt, output, tuple(bad), reading.further)


def _numbers(column: Sequence[str]) -> FloatArray:
    """Return numbers, and NaN for what is none."""
    return np.array(
        [float(text) if _NUMBER.fullmatch(text) else np.nan for text in column], np.float64
    )


_TIME_RULE = "a date and a time such as 2023-11-16 18:15:46.6805900"


def _times(column: Sequence[str], refuse: Callable[[int], None]) -> FloatArray:
    """Return seconds since the earliest of the times, and refuse what is none."""
    found = [_TIME.fullmatch(text) for text in column]
    moments = np.full(len(column), np.datetime64("NaT"), "datetime64[ns]")
    zones = np.zeros(len(column), np.int64)  # minutes ahead
    for place, match in enumerate(found):
        moment = _moment(match)
        if moment is None:
            refuse(place)
        else:
            moments[place], zones[place] = moment
    known = ~np.isnat(moments)
    seconds = np.full(len(column), np.nan)
    if known.any():
        moments = moments - zones.astype("timedelta64[m]")
        since = moments[known] - moments[known].min()
        seconds[known] = since.astype(np.int64) / 1e9
    return seconds


def _moment(match: re.Match[str] | None) -> tuple[np.datetime64, int] | None:
    if match is None:
        return None
    date, time, zone = match.groups()
    try:
        moment = np.datetime64(f"{date}T{time}", "ns")
    except ValueError:  # a 30th of February
        return None
    if zone is None or zone == "Z":
        return moment, 0
    ahead = 60 * int(zone[1:3]) + int(zone[-2:])
    return moment, ahead if zone[0] == "+" else -ahead


def bad_rows_sentence(bad: Sequence[BadRow], remedy: str) -> str:
    """Return one sentence about bad rows: the first ones, and the number of the rest."""
    shown = "; ".join(f"line {row.line} {row.reason}" for row in bad[:SHOWN_ROWS])
    rest = len(bad) - SHOWN_ROWS
    more = f"; and {rest:,} more" if rest > 0 else ""
    rows = "1 row is" if len(bad) == 1 else f"{len(bad):,} rows are"
    return f"{rows} no request ({shown}{more}): {remedy}."
