"""How commands end whose output nobody can take, or whose standard streams are closed."""

import os
import subprocess
import sys
from unittest.mock import patch

import pytest

from kvsim.__main__ import main
from kvsim.commands.terminal import to_the_end

COMMANDS = (["capacity", "--list"], ["limits"], ["log", os.devnull])
NO_UTF8 = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}


def kvsim(*arguments, **streams):
    environment = os.environ | streams.pop("env", {})
    return subprocess.run(
        [sys.executable, "-m", "kvsim", *arguments],
        stderr=subprocess.PIPE, env=environment, **streams,
    )  # fmt: skip


@pytest.mark.parametrize("arguments", COMMANDS)
def test_whoever_stops_reading_has_read_enough(arguments):
    ours, theirs = os.pipe()
    os.close(ours)
    run = kvsim(*arguments, stdout=theirs)
    os.close(theirs)
    assert run.returncode == 1
    assert run.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="writes to a file without room")
@pytest.mark.parametrize("arguments", COMMANDS)
def test_output_that_has_no_room_is_said(arguments):
    with open("/dev/full", "wb") as full:
        run = kvsim(*arguments, stdout=full)
    assert run.returncode == 1
    assert run.stderr == (
        b"The output cannot be written (No space left on device): send it elsewhere.\n"
    )


def test_an_input_that_is_closed_is_said(capsys):
    for command in ("log", "trace"):
        with patch("sys.stdin", None):
            assert main([command, "-"]) == 1
        assert capsys.readouterr().err == (
            "'-' cannot be read (Bad file descriptor): give a file, or - for the input.\n"
        )


@pytest.mark.parametrize("env", [NO_UTF8, {"PYTHONIOENCODING": "ascii"}])
def test_what_the_terminal_cannot_show_is_escaped(tmp_path, env):
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival_s,prompt_tokens,output_tokens\n0,1²,1\n", "utf-8")
    run = kvsim("trace", str(trace), stdout=subprocess.PIPE, env=env)
    assert run.returncode == 1
    assert run.stdout.startswith(b"Line 2 has prompt_tokens '1\\xb2', which must be")
    assert b"Traceback" not in run.stderr


def test_an_interrupted_command_says_so(capsys):
    def interrupted():
        raise KeyboardInterrupt

    assert to_the_end(interrupted) == 130
    assert capsys.readouterr().err == "Stopped.\n"


def test_other_faults_are_not_taken_for_a_full_disk():
    def cannot_start():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    with pytest.raises(BlockingIOError):
        to_the_end(cannot_start)


def test_names_that_no_file_can_have_are_named(capsys):
    for command in ("log", "trace"):
        for name in ("a\0b", "x" * 5000, "two\nlines", ""):
            assert main([command, name]) == 1
            said = capsys.readouterr().err
            assert "cannot be read" in said
            assert said.count("\n") == 1
            assert len(said) < 400
