"""The addresses at which a server answers for a reader's own: what they take, send and refuse."""

import asyncio
import http.client
import json
import time
from contextlib import closing
from urllib.parse import urlsplit

import numpy as np
import own_loop
import pytest
from serving import serving
from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application

import kvsim
from kvsim.logs.text import MAX_LOG_BYTES
from kvsim.traces.rows import MAX_TRACE_BYTES
from kvsim_app.answers.handlers import MOST_READ_AT_ONCE, BodyHandler, Desk, patterns
from kvsim_app.results.atlas import from_bytes

PATIENCE_S = 120
LEAST = {"model": "llama-3-8b", "gpu": "L4", "weights": "fp8", "cache_tokens": 3000}
ROWS = [(0.2 * n, 50 + 7 * n % 400, 5 + n % 60) for n in range(120)]
TRACE = "arrival_s,prompt_tokens,output_tokens\n" + "".join(f"{a},{p},{o}\n" for a, p, o in ROWS)
LOG = """INFO 11-30 10:00:00 [kv_cache_utils.py:634] GPU KV cache size: 88,304 tokens
INFO 11-30 10:00:00 [kv_cache_utils.py:637] Maximum concurrency for 32,768 tokens per request: 2.69x
GPU KV cache size: many tokens
"""


@pytest.fixture(scope="module")
def host():
    """A server that is asked wrong things too, and logs that; but no traceback."""
    with serving(clean=False) as served:
        yield urlsplit(served.url).netloc
        assert "Traceback" not in served.log


def ask(host, path, body=None, method=None, **headers):
    """The response to one request: its status, headers, body, and what is in it if it is JSON."""
    with closing(http.client.HTTPConnection(host, timeout=PATIENCE_S)) as connection:
        if body is not None and not isinstance(body, str | bytes):
            body = json.dumps(body)
        method = method or ("GET" if body is None else "POST")
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, f"/answers/{path}", body, names)
        response = connection.getresponse()
        response.body = response.read()
        if response.headers["Content-Type"].startswith("application/json"):
            response.json = json.loads(response.body)
        return response


def refused(response, status):
    """The sentence with which something was refused."""
    assert response.status == status
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    sentence = response.json["error"]
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence


def followed(host, fields, until):
    """The status of an answer when something is so."""
    begun = ask(host, "compute", fields)
    assert begun.status == 202, begun.body
    status, ends = begun.json, time.monotonic() + PATIENCE_S
    while not until(status):
        assert status["state"] in ("waiting", "running", "done"), status
        assert time.monotonic() < ends
        time.sleep(0.05)
        status = ask(host, f"jobs/{status['job']}?ticket={status['ticket']}").json
    return status


def cancel(host, status):
    return ask(host, f"jobs/{status['job']}/cancel?ticket={status['ticket']}", "")


def test_a_description_is_read(host):
    config = kvsim.MODELS["qwen3-30b-a3b"].config
    found = ask(host, "config", config).json
    shape = kvsim.MODELS["qwen3-30b-a3b"].shape
    assert found["layers"] == 48
    assert found["parameters_billions"] == shape.parameters.total / 1e9
    assert found["active_billions"] == shape.parameters.active / 1e9
    assert "num_hidden_layers" in refused(ask(host, "config", "{}"), 400)
    assert "JSON" in refused(ask(host, "config", "no"), 400)


def test_a_log_is_read_and_says_what_it_sets(host):
    found = ask(host, "log", LOG).json
    assert found["ask"] == {"cache_tokens": 88304, "max_length": 32768, "block_size": 16}
    assert found["capacity"]["tokens"] == 88304
    assert found["figures"]["tokens"]["line"] == 1
    assert any("is no limit" in remark["sentence"] for remark in found["remarks"])
    assert [unread["line"] for unread in found["unread"]] == [3]
    computed = ask(host, "capacity", {"model": "llama-3-8b", "gpu": "H100"} | found["ask"]).json
    assert computed["tokens"] == 88304
    assert computed["position"]["max_length"] == 32768


def test_a_log_of_anything_is_read(host):
    found = ask(host, "log", b"\xff\x00<script>").json
    assert (found["engine"], found["capacity"], found["ask"]) == ("", None, {})
    assert found["capacity_problem"]


def test_a_trace_is_read_and_its_bad_rows_are_all_named(host):
    found = ask(host, "trace", TRACE).json
    assert found["trace"] == kvsim.read_trace(TRACE).digest
    assert (found["requests"], found["bad_rows"]) == (len(ROWS), [])
    bad = TRACE + "x,1,1\n1,0,1\n"
    answer = ask(host, "trace", bad)
    assert "2 rows" in refused(answer, 400)
    assert [row["line"] for row in answer.json["bad_rows"]] == [len(ROWS) + 2, len(ROWS) + 3]
    left_out = ask(host, "trace?leave-out=1", bad).json
    assert left_out["trace"] == found["trace"]
    assert len(left_out["bad_rows"]) == 2
    assert all(row["sentence"] for row in left_out["bad_rows"])


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("config", MAX_LOG_BYTES),
        ("log", MAX_LOG_BYTES),
        ("capacity", MAX_LOG_BYTES),
        ("compute", MAX_LOG_BYTES),
        ("trace", MAX_TRACE_BYTES),
    ],
)
def test_what_is_too_large_is_refused(host, path, most):
    assert f"{most:,} bytes" in refused(ask(host, path, b"x" * (most + 1)), 413)
    assert ask(host, path, b"x" * 10).status in (200, 400), "and the next is read again"


def test_capacity_is_said_at_once(host):
    found = ask(host, "capacity", LEAST).json
    server = kvsim.server_for(
        kvsim.MODELS["llama-3-8b"].shape, kvsim.CARDS["L4"], weights="fp8", cache_bytes=1e9
    )
    assert found["tokens"] == 3000
    assert found["bytes_per_token"] == server.model.kv_bytes_per_token
    lengths = kvsim.ExponentialLengths(max_length=found["position"]["max_length"])
    server = kvsim.Server(server.model, server.gpu, 3000 * server.model.kv_bytes_per_token)
    fits = kvsim.capacity(server, kvsim.Paged(16), lengths)
    assert found["paged_requests"] == pytest.approx(fits.requests)


@pytest.mark.parametrize("path", ["compute", "capacity"])
@pytest.mark.parametrize(
    ("body", "named"),
    [
        ("", "JSON"),
        ("[1]", "object"),
        ("[" * 100_000, "JSON"),
        ({**LEAST, "gpu": "<b>H100</b>"}, "<b>H100</b>"),
        ({**LEAST, "colour": 1}, "colour"),
        ({**LEAST, "rate": 1e999}, "rate"),
    ],
)
def test_what_cannot_be_computed_is_refused_in_a_sentence(host, path, body, named):
    assert named in refused(ask(host, path, body), 400)


def test_a_trace_that_is_not_here_is_asked_for(host):
    answer = ask(host, "compute", {**LEAST, "workload": "trace", "trace": "0" * 64})
    assert "again" in refused(answer, 409)
    assert answer.json["missing"] == "trace"


@pytest.mark.parametrize("path", ["config", "log", "trace", "capacity", "compute"])
@pytest.mark.parametrize(
    "headers",
    [
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "https://elsewhere.example"},
        {"Origin": "null"},
    ],
)
def test_other_sites_may_not_ask(host, path, headers):
    assert "own page" in refused(ask(host, path, LEAST, **headers), 403)


def test_the_plates_own_page_may_ask(host):
    for headers in ({"Sec_Fetch_Site": "same-origin"}, {"Origin": f"http://{host}"}):
        assert ask(host, "capacity", LEAST, **headers).status == 200


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
@pytest.mark.parametrize("path", ["config", "log", "trace", "capacity", "compute"])
def test_other_methods_are_refused(host, path, method):
    refused(ask(host, path, method=method), 405)


def test_nothing_may_be_kept_or_taken_for_something_else(host):
    for response in (ask(host, "capacity", LEAST), ask(host, "compute", "")):
        assert response.headers["Cache-Control"] == "no-store"
        assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_an_answer_grows_from_a_sketch(host):
    status = followed(host, LEAST | {"ttft_s": 2}, lambda status: status["results"])
    assert status["title"] == "Llama 3 8B on L4"
    assert 0 < status["done"] < status["total"]
    path = f"jobs/{status['job']}"
    made = ask(host, f"{path}/atlas?version={status['version']}")
    assert made.headers["Content-Type"] == "application/octet-stream"
    atlas = from_bytes(made.body)
    assert atlas.axes == status["axes"]
    at = tuple(
        atlas.axes[name].index(status["position"][name])
        for name in ("block_overhead", "block_size", "max_length")
    )
    assert np.isfinite(atlas.arrays["paged_ttft"][at]).any()
    csv = ask(host, f"{path}/results.csv")
    assert csv.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert csv.body.decode().count("\r\n") == 3
    results = ask(host, f"{path}/results.json")
    assert [each["figures"] for each in results.json] == [
        each["figures"] for each in status["results"]
    ]
    made = {}
    exec(ask(host, f"{path}/results.py").body.decode(), made)
    figures = made["summary"].figures()
    assert figures["ttft_p90_s"] == status["results"][1]["figures"]["ttft_p90_s"]
    same = ask(host, "compute", LEAST | {"ttft_s": 2}).json
    assert same["job"] == status["job"]
    assert same["ticket"] != status["ticket"]
    assert cancel(host, status).json["state"] == "running", "somebody else has asked"
    assert cancel(host, same).json["state"] == "cancelled"


def test_a_trace_is_replayed(host):
    trace = ask(host, "trace", TRACE).json["trace"]
    fields = {**LEAST, "workload": "trace", "trace": trace, "replay": "own-times"}
    status = followed(host, fields, lambda status: status["results"])
    cancel(host, status)
    assert [each["figures"]["requests"] for each in status["results"]] == [len(ROWS)] * 2
    assert any("replay" in note for note in status["notes"])


def test_answers_that_are_not_there_are_not_found(host):
    nobody = "0" * 32
    for path in (f"jobs/{nobody}", f"jobs/{nobody}/atlas", f"jobs/{nobody}/results.csv"):
        assert "ask" in refused(ask(host, path), 404)
    refused(ask(host, f"jobs/{nobody}/cancel", ""), 404)
    # As a reader who has only just asked.
    status = ask(host, "compute", {**LEAST, "rate": 0.75}).json
    job = f"jobs/{status['job']}"
    refused(ask(host, f"{job}/cancel"), 405)
    refused(ask(host, f"{job}/atlas", ""), 405)
    refused(ask(host, f"{job}/cancel", "", Sec_Fetch_Site="cross-site"), 403)
    cancel(host, status)


def test_so_many_are_computed_at_once(host):
    rates = [1 + n / 16 for n in range(9)]
    answers = [ask(host, "compute", {**LEAST, "workload": "sharegpt", "rate": r}) for r in rates]
    assert [answer.status for answer in answers] == [202] * 8 + [503]
    assert "try again" in refused(answers[-1], 503)
    for answer in answers[:-1]:
        cancel(host, answer.json)


def test_an_origin_that_is_no_address_may_not_ask(host):
    assert refused(ask(host, "log", LOG, Origin="http://[::1"), 403)
    cancel = f"jobs/{'0' * 32}/cancel"
    assert refused(ask(host, cancel, "", Origin="http://[::1"), 403)


def test_bodies_that_nobody_needs_are_dropped(host):
    kind = "multipart/form-data; boundary="
    cancel = f"jobs/{'0' * 32}/cancel"
    assert refused(ask(host, cancel, b"x" * 1_000_000, Content_Type=kind), 404)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("compute_share", 5e-324),
        ("bandwidth_share", 1e-9),
        ("rate", 5e-324),
        ("mean_prompt_tokens", 5e-324),
        ("mean_output_tokens", 5e-324),
    ],
)
def test_numbers_that_no_server_has_are_refused(host, field, value):
    body = LEAST | {"workload": "means", field: value}
    assert field in refused(ask(host, "capacity", body), 400)


def test_a_field_that_stands_twice_is_refused(host):
    body = '{"model": "llama-3-8b", "gpu": "L4", "model": "qwen3-8b"}'
    assert refused(ask(host, "compute", body), 400) == "'model' is given twice: once will do."


def test_a_fault_that_no_thread_hands_over_ends_the_request():
    class Faulty(BodyHandler):
        def read(self, body):
            return next(iter(()))

    with pytest.raises(RuntimeError):
        Faulty._read(object.__new__(Faulty), b"")


def test_slow_bodies_keep_others_out_for_a_while_only(monkeypatch):
    """They are cut off, and their places are given to others."""
    monkeypatch.setattr("kvsim_app.answers.handlers.UPLOAD_S", 1.0)

    async def crowd():
        desk = Desk()
        server = HTTPServer(Application(patterns(desk, "answers")))
        (socket,) = bind_sockets(0, "127.0.0.1")
        server.add_sockets([socket])
        slow = []
        for _ in range(MOST_READ_AT_ONCE):
            stream = await asyncio.open_connection(*socket.getsockname())
            stream[1].write(b"POST /answers/log HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\na")
            slow.append(stream)
        while desk.reading < MOST_READ_AT_ONCE:
            await asyncio.sleep(0.005)
        while slow:
            reader, writer = slow.pop()
            assert await reader.read() == b""
            writer.close()
        server.stop()
        return desk.reading

    assert own_loop.run(asyncio.wait_for(crowd(), PATIENCE_S)) == 0
