"""The addresses at which Python answers for a reader's own server; all begin with ``answers/``.

Bodies and answers are JSON unless said otherwise. What is refused has a status of 400 or more and
``{"error": SENTENCE}``. A page of another origin may not ask (403).

``POST config``: the text of a ``config.json``, at most 1 MB. Answer: ``name``, ``layers`` (number),
``attention_heads``, ``max_length``, ``parameters_billions``, ``active_billions`` (null if they
cannot be counted, and ``uncounted`` says why), ``weights`` (published type), ``notes`` (sentences).

``POST log``: lines of a server's start-up, at most 1 MB. Answer: ``engine``, ``generation``,
``figures`` {name: {value, line, worker}}, ``remarks`` [{name, values, sentence}], ``unread``
[{line, text, sentence}], ``capacity`` {tokens, tokens_low, tokens_high, basis, sentence} or null,
and then ``capacity_problem`` says why; ``ask``: the fields of ``compute`` that these lines set.

``POST trace`` (``?leave-out=1`` leaves bad rows out): CSV or JSON lines, at most 20 MB. Answer:
``trace`` (its name, for ``compute``), ``kind``, ``requests``, ``duration_s``, ``rate_per_s`` (null
if all arrive at once), ``longest_tokens``, ``prompt_tokens`` and ``output_tokens`` {mean, p50, p90,
p99, greatest}, ``remarks``, ``bad_rows`` [{line, reason, sentence}]. Refused rows: 400 with
``error`` and all ``bad_rows``.

``POST capacity``: the fields of ``compute``. Answer at once, without simulation of its curve:
``title``, ``tokens``, ``bytes_per_token``, ``cache_bytes``, ``contiguous_requests`` and
``paged_requests`` that fit on average, ``mean_request_tokens``, ``axes``, ``position``, ``notes``.

``POST compute``: what is asked, at most 1 MB; see :mod:`kvsim_app.answers.asked` for the fields.
Answer: 202 and a status (below). 409 with ``missing: "trace"`` if the trace is not known here (any
more): send it again. 503 if too many wait.

``GET jobs/ID?ticket=T``: the status: ``job``, ``ticket`` (of this reader), ``state`` (``waiting``,
``running``, ``done``, ``failed``, ``cancelled``), ``stage`` (``coarse``, ``asked``, ``others``,
null before and after), ``done`` of ``total`` pieces of work, ``version`` (0 before there is an
atlas; the atlas changes with it), ``reason`` (a sentence, if failed or cancelled), ``title``,
``axes``, ``position``, ``notes``, ``replications``, and ``results`` [{kind, figures,
binding_limit}] at the position asked about, null before. 404 if there is no such job here: ask
``compute`` again with the same fields, which gives the same ID.

``POST jobs/ID/cancel?ticket=T``: this reader no longer wants it; it is stopped when nobody does.

``GET jobs/ID/atlas?version=N``: the atlas so far, in the form of the kept ones (bytes). What is not
there yet has NaN in ``*_ttft``, ``*_sustained``, ``*_requests``, ``*_share`` and ``*_doubled``, and
0 in the arrays of whole numbers.

``GET jobs/ID/results.json``, ``.csv``, ``.py``: the results to keep; 404 until there are any.

A server of several processes has jobs and traces in each of them by themselves: who is sent to
another one is told 404 or 409, and asks again.
"""

import asyncio
import json
import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import cached_property
from typing import Any
from urllib.parse import urlsplit

from tornado.http1connection import HTTP1Connection
from tornado.web import RequestHandler, stream_request_body

import kvsim
from kvsim.logs.facts import log_facts
from kvsim.logs.text import MAX_LOG_BYTES
from kvsim.traces.rows import MAX_TRACE_BYTES, BadRow, TraceError
from kvsim.traces.trace import trace_facts

from .answering import Answering, TooManyError
from .asked import UnknownTraceError, read_asked, trace_bytes
from .asked_fields import shown
from .facts import capacity_facts, config_facts, log_ask
from .job import AnswerJob
from .kept import Kept

MAX_TEXT_BYTES = MAX_LOG_BYTES
MOST_READ_AT_ONCE = 8  # uploads, each of which is in memory as a whole
_MOST_RECEIVED_BYTES = 100 * 2**20  # and dropped, of what is too large, so that a reader is told
UPLOAD_S = 180.0  # or a few slow ones would keep all others out
_TRACES_BYTES = 96 * 2**20
_TICKET_LENGTH = 64


class RepeatedFieldError(ValueError):
    """A field stands twice in a JSON object, and it is not known which one is meant."""


class Desk:
    """What the handlers share: the answers, and the traces that were sent."""

    def __init__(self) -> None:
        self.answering = Answering()
        self.traces: Kept[kvsim.Trace] = Kept(_TRACES_BYTES)
        self.reading = 0  # requests whose body is being received or read


class AnswersHandler(RequestHandler):
    """Answers in JSON, and refuses in one sentence."""

    def initialize(self, desk: Desk) -> None:
        """Take what all handlers share."""
        self.desk = desk

    def set_default_headers(self) -> None:
        """Nothing here is to be kept, or taken for something else."""
        self.set_header("Cache-Control", "no-store")
        self.set_header("X-Content-Type-Options", "nosniff")

    def prepare(self) -> None:
        """Receive more than other addresses do: nothing of it is kept unasked."""
        connection = self.request.connection
        if isinstance(connection, HTTP1Connection):
            connection.set_max_body_size(_MOST_RECEIVED_BYTES)

    def answer(self, found: Any, status: int = 200) -> None:
        """Send JSON; what is no number (NaN, infinite) is null."""
        self.set_status(status)
        self.set_header("Content-Type", "application/json; charset=utf-8")
        self.finish(json.dumps(_finite(found), ensure_ascii=False, allow_nan=False))

    def refuse(self, status: int, sentence: str, **more: Any) -> None:
        """Answer with a sentence and a status."""
        self.answer({"error": sentence} | more, status)

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Say what Tornado has against a request, or that the server has failed."""
        if status_code == 405:
            self.refuse(405, f"This address takes no {self.request.method}.")
        elif status_code < 500:
            self.refuse(status_code, "This is no request that the plate understands.")
        else:
            self.refuse(status_code, "The server could not answer this; its log says why.")

    def refuse_other_origins(self) -> bool:
        """Refuse a request from a page of another origin; tell whether it was one.

        A browser says so, in words of its own or by the origin; who is no browser may ask.
        """
        site = self.request.headers.get("Sec-Fetch-Site")
        origin = self.request.headers.get("Origin")
        if site is None:
            other = origin is not None and _host(origin) != self.request.host
        else:
            other = site not in ("same-origin", "none")
        if other:
            self.refuse(403, "Only the plate's own page may ask this: open it at its own address.")
        return other


@stream_request_body
class BodyHandler(AnswersHandler):
    """Receives a body of at most ``most_bytes``, and reads it beside the server's own loop."""

    most_bytes = MAX_TEXT_BYTES
    counted = False

    def prepare(self) -> None:
        """Refuse before the body comes, where its size or origin is enough."""
        super().prepare()
        self._parts: list[bytes] = []
        self._size = 0
        if self.request.method != "POST" or self.refuse_other_origins():
            return
        if self.desk.reading >= MOST_READ_AT_ONCE:
            self.refuse(503, "So much is being read here just now: try again in a minute.")
            return
        self.desk.reading += 1
        self.counted = True
        connection = self.request.connection
        if isinstance(connection, HTTP1Connection):
            connection.set_body_timeout(UPLOAD_S)

    def data_received(self, chunk: bytes) -> None:
        """Take a part of the body."""
        self._size += len(chunk)
        if self._size <= self.most_bytes:
            self._parts.append(chunk)
        else:
            self._parts.clear()

    def on_finish(self) -> None:
        """Make room for another."""
        if self.counted:
            self.desk.reading -= 1
            self.counted = False

    def on_connection_close(self) -> None:
        """Make room when the reader has gone before the body was here."""
        self.on_finish()

    async def post(self) -> None:
        """Read the body and answer, or say what is wrong with it."""
        if self._size > self.most_bytes:
            self.refuse(
                413,
                f"This is larger than {self.most_bytes:,} bytes, which are the most: give a part "
                "of it.",
            )
            return
        body = b"".join(self._parts)
        self._parts.clear()
        try:
            self.answer(*await asyncio.to_thread(self._read, body))
        except TraceError as error:
            rows = [_bad_row(row) for row in error.bad_rows]
            self.refuse(400, str(error), bad_rows=rows)
        except UnknownTraceError as error:
            self.refuse(409, str(error), missing="trace")
        except TooManyError as error:
            self.refuse(503, str(error))
        except ValueError as error:
            self.refuse(400, str(error))

    def _read(self, body: bytes) -> tuple[Any, int]:
        """Read a body; a fault in that must not be one that a thread cannot hand over."""
        try:
            return self.read(body)
        except StopIteration as error:
            raise RuntimeError(str(error)) from error

    @abstractmethod
    def read(self, body: bytes) -> tuple[Any, int]:
        """Return the answer to a body and its status; raise ``ValueError`` with a sentence."""

    def asked(self, body: bytes) -> Any:
        """Return a JSON body's value."""
        try:
            return json.loads(body, object_pairs_hook=_once)
        except RepeatedFieldError:
            raise
        except (ValueError, RecursionError) as error:
            raise ValueError("This is no JSON: send one object with the fields.") from error


class ConfigHandler(BodyHandler):
    """Reads a ``config.json``."""

    def read(self, body: bytes) -> tuple[Any, int]:
        """Return the model's figures."""
        return config_facts(kvsim.read_config(body)), 200


class LogHandler(BodyHandler):
    """Reads a server's start-up."""

    def read(self, body: bytes) -> tuple[Any, int]:
        """Return its figures, what they mean, and what they set."""
        log = kvsim.read_log(body)
        return log_facts(log) | {"ask": log_ask(log)}, 200


class TraceHandler(BodyHandler):
    """Reads a trace and keeps it."""

    most_bytes = MAX_TRACE_BYTES

    def read(self, body: bytes) -> tuple[Any, int]:
        """Return the trace's name and figures."""
        leave_out = self.get_query_argument("leave-out", "") == "1"
        trace = kvsim.read_trace(body, leave_out_bad_rows=leave_out)
        self.desk.traces.put(trace.digest, trace, trace_bytes(trace))
        facts = trace_facts(trace) | {"bad_rows": [_bad_row(row) for row in trace.bad_rows]}
        return {"trace": trace.digest} | facts, 200


class CapacityHandler(BodyHandler):
    """Says what the cache of a server is, before anything is simulated."""

    def read(self, body: bytes) -> tuple[Any, int]:
        """Return the closed forms. Who asks for them may well ask for more."""
        self.desk.answering.warm()
        return capacity_facts(read_asked(self.asked(body), self.desk.traces.get)), 200


class ComputeHandler(BodyHandler):
    """Begins an answer."""

    def read(self, body: bytes) -> tuple[Any, int]:
        """Return its status."""
        asked = read_asked(self.asked(body), self.desk.traces.get)
        job, ticket = self.desk.answering.ask(asked)
        return job.status(ticket), 202


@stream_request_body
class JobHandler(AnswersHandler):
    """Tells how far an answer is, takes it back, and sends what there is of it."""

    def data_received(self, chunk: bytes) -> None:
        """Drop what comes: no body is needed here, and none is kept in memory."""

    @cached_property
    def ticket(self) -> str:
        """Who asks."""
        return self.get_query_argument("ticket", "")[:_TICKET_LENGTH]

    def job(self, identity: str) -> AnswerJob | None:
        """Return an answer, or refuse."""
        job = self.desk.answering.job(identity, self.ticket)
        if job is None:
            self.refuse(404, "There is no such answer here, or no longer: ask again.")
        return job

    async def get(self, identity: str, what: str | None) -> None:
        """Send the status, the atlas, or the results to keep."""
        job = self.job(identity)
        if job is None:
            return
        if what is None:
            self.answer(job.status(self.ticket))
        elif what == "atlas":
            version, made = 0, b""
            if job.version:
                version, made = await asyncio.to_thread(job.atlas)
            if not version:
                self.refuse(404, "There is nothing of this answer yet: ask again in a moment.")
                return
            self.set_header("Content-Type", "application/octet-stream")
            self.finish(made)
        elif what in _FILES:
            content_type, write = _FILES[what]
            if not job.records():
                self.refuse(404, "These results are not there yet: ask again in a moment.")
                return
            self.set_header("Content-Type", f"{content_type}; charset=utf-8")
            self.set_header("Content-Disposition", f'attachment; filename="kvsim-{what}"')
            self.finish(write(job))
        else:
            self.refuse(405, f"This address takes no {self.request.method}.")

    def post(self, identity: str, what: str | None) -> None:
        """Take the answer back, for one reader."""
        if self.refuse_other_origins():
            return
        if what != "cancel":
            self.refuse(405, f"This address takes no {self.request.method}.")
            return
        job = self.desk.answering.cancel(identity, self.ticket)
        if job is None:
            self.refuse(404, "There is no such answer here, or no longer.")
        else:
            self.answer(job.status(self.ticket))


def _json(job: AnswerJob) -> str:
    return kvsim.to_json(job.records())


def _csv(job: AnswerJob) -> str:
    return kvsim.to_csv(job.results[kind] for kind in job.asked.allocations)


def _python(job: AnswerJob) -> str:
    return "\n".join(kvsim.python_lines(job.results[kind][0]) for kind in job.asked.allocations)


_FILES: dict[str, tuple[str, Callable[[AnswerJob], str]]] = {
    "results.json": ("application/json", _json),
    "results.csv": ("text/csv", _csv),
    "results.py": ("text/x-python", _python),
}


def patterns(desk: Desk, address: str) -> list[tuple[str, type[RequestHandler], dict[str, Any]]]:
    """Return the handlers by the patterns of their addresses, all below ``address``."""
    jobs = r"jobs/([0-9a-f]{32})(?:/(atlas|cancel|results\.(?:json|csv|py)))?"
    handlers: dict[str, type[RequestHandler]] = {
        "config": ConfigHandler,
        "log": LogHandler,
        "trace": TraceHandler,
        "capacity": CapacityHandler,
        "compute": ComputeHandler,
        jobs: JobHandler,
    }
    return [(f"/{address}/{path}", each, {"desk": desk}) for path, each in handlers.items()]


def _host(origin: str) -> str | None:
    """Return the host of an origin, or None if it is no address at all."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object, each of whose fields must be given once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise RepeatedFieldError(
            f"{shown(counts.most_common(1)[0][0])} is given twice: once will do."
        )
    return found


def _bad_row(row: BadRow) -> dict[str, Any]:
    return asdict(row) | {"sentence": row.sentence}


def _finite(value: Any) -> Any:
    """Return plain values with None for what is no finite number, which JSON does not have."""
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
