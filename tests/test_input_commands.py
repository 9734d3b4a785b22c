"""The commands ``log`` and ``trace``: what they print, and what they refuse in a sentence."""

import io
import json

import pytest
from logs import REAL

from kvsim.__main__ import main
from kvsim.logs.facts import NAMES
from kvsim.logs.server_log import FIGURES

BAD_TRACE = "arrival_s,prompt_tokens,output_tokens\n0,5,0\n1,7,9\n0.5,8,-1\n"


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "pasted"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    return write


def test_every_figure_of_a_log_has_a_name():
    assert set(NAMES) == set(FIGURES)


def test_a_log_is_printed(file, capsys):
    assert main(["log", file(REAL["V0, 0.7"][0])]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    for part in (
        "engine: vLLM V0",
        "blocks: 5,519 (line 2)",
        "maximum length, tokens: 32,768 (line 3)",
        "holds 88,304 tokens",
        "- Maximum concurrency 2.69 is no limit",
    ):
        assert part in said.out


def test_a_log_as_json(file, capsys, monkeypatch):
    class Stdin:
        buffer = io.BytesIO(b"Available KV cache memory: 3.81 GiB\r\nGPU KV cache size: x\r\n")

    monkeypatch.setattr("sys.stdin", Stdin)
    assert main(["log", "-", "--json", "--bytes-per-token", "131072"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["figures"]["cache_gib"] == {"value": 3.81, "line": 1, "worker": ""}
    assert found["capacity"]["tokens_low"] <= 31232 <= found["capacity"]["tokens_high"]
    (unread,) = found["unread"]
    assert (unread["line"], unread["text"]) == (2, "GPU KV cache size: x")
    assert "could not be read" in unread["sentence"]
    assert all(remark["sentence"].endswith(".") for remark in found["remarks"])


def test_a_log_without_a_cache_is_no_error(file, capsys):
    assert main(["log", file(b"\xff\x00hello")]) == 0
    said = capsys.readouterr()
    assert "engine: unknown" in said.out
    assert "do not say how large" in said.out
    assert main(["log", file("Available KV cache memory: 3.81 GiB"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["capacity"] is None
    assert "3.81 GiB only" in found["capacity_problem"]


def test_a_trace_is_printed(file, capsys):
    good = BAD_TRACE.replace(",0\n", ",4\n").replace("-1", "2")
    assert main(["trace", file(good)]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "requests: 3, as kvsim names the columns" in said.out
    assert "arrivals: 2 a second, over 1 s" in said.out
    assert "at most 9" in said.out
    assert "sorted by arrival" in said.out
    assert main(["trace", file(good), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["requests"], found["rate_per_s"], found["longest_tokens"]) == (3, 2, 16)
    assert found["output_tokens"]["greatest"] == 9


def test_all_bad_rows_are_printed(file, capsys):
    assert main(["trace", file(BAD_TRACE)]) == 1
    said = capsys.readouterr()
    assert [line[:7] for line in said.out.splitlines()] == ["Line 2 ", "Line 4 "]
    assert said.err.startswith("2 rows are no request")
    assert said.err.count("\n") == 1
    assert main(["trace", file(BAD_TRACE), "--json"]) == 1
    said = capsys.readouterr()
    assert [row["line"] for row in json.loads(said.out)["bad_rows"]] == [2, 4]


def test_bad_rows_are_left_out_if_that_is_asked_for(file, capsys):
    assert main(["trace", file(BAD_TRACE), "--leave-out-bad-rows"]) == 0
    said = capsys.readouterr()
    assert "requests: 1" in said.out
    assert "arrivals: all at once" in said.out
    assert said.out.count("Line ") == 2
    assert main(["trace", file(BAD_TRACE), "--leave-out-bad-rows", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["rate_per_s"] is None
    assert [row["line"] for row in found["bad_rows"]] == [2, 4]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["log", "no/such/file"], "No such file"),
        (["trace", "no/such/file"], "No such file"),
        (["trace", "."], "directory"),
        (["trace", "FILE"], "first line of the trace"),
    ],
)
def test_refusals(file, capsys, arguments, part):
    given = [file("hello") if argument == "FILE" else argument for argument in arguments]
    assert main(given) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert part in said.err
    assert said.err.endswith(".\n")
    assert said.err.count("\n") == 1


@pytest.mark.parametrize("bytes_per_token", ["nan", "0", "-1", "many", ""])
def test_what_is_no_number_of_bytes(capsys, bytes_per_token):
    with pytest.raises(SystemExit):
        main(["log", "-", f"--bytes-per-token={bytes_per_token}"])
    assert "is no number of bytes: give a number above 0" in capsys.readouterr().err


def test_files_that_are_too_long(file, capsys):
    assert main(["log", file(b"x" * 1_000_001)]) == 1
    assert "larger than 1,000,000 bytes" in capsys.readouterr().err
