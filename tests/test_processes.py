"""Several processes behind one port: all serve everything, and none outlives the first."""

import os
import re
import signal
import subprocess
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest
from family import PATIENCE_S, children, runs, wait_for
from serving import SERVE, serving
from sessions import opened

from kvsim_app.__main__ import main

COUNT = 2
COMMAND = (*SERVE, "--num-procs", str(COUNT))


@pytest.fixture
def heeding_interrupts():
    """A shell that runs the tests in the background has their children ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def serving_children(served):
    """The processes that answer, once all are there."""
    return wait_for(lambda: (found := children(served.process)) and len(found) == COUNT and found)


def test_all_serve_the_page_films_and_sessions_and_one_that_is_killed_is_replaced():
    with serving(COMMAND, clean=False) as served:
        before = serving_children(served)
        page = urlopen(served.url).read()
        film = urlopen(f"{served.url}film?rate=17").read()
        for _ in range(4 * COUNT):
            assert urlopen(served.url).read() == page
            assert urlopen(f"{served.url}film?rate=17").read() == film
        # The page of a session and its WebSocket may be answered by different processes.
        for _ in range(2 * COUNT):
            with opened(urlsplit(served.url).netloc) as session:
                assert "srcdoc" in session.document.roots[0].text
        assert served.log == ""
        os.kill(min(before), signal.SIGKILL)
        wait_for(lambda: len(children(served.process) - before) == 1)
        for _ in range(2 * COUNT):
            assert urlopen(served.url).read() == page
        served.process.terminate()
        said = served.process.stdout.read()
        assert "http" not in said, "the address is said once"
        assert re.search(r"killed by signal 9, restarting", served.log)
        assert "Traceback" not in served.log


@pytest.mark.usefixtures("heeding_interrupts")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
def test_none_outlives_the_first(name):
    """Which is told as Ctrl-C, ``kill`` and ``kill -9`` tell it; nobody tells the others."""
    with serving(COMMAND) as served:
        others = serving_children(served)
        urlopen(served.url).close()
        served.process.send_signal(getattr(signal, name))
        status = served.process.wait(PATIENCE_S)
        wait_for(lambda: not any(runs(pid) for pid in others))
    assert status == (-signal.SIGKILL if name == "SIGKILL" else 0)


@pytest.mark.parametrize("number", ["0", "-1", "two", "1.5", "257", ""])
def test_what_is_no_number_of_processes_is_refused(number):
    run = subprocess.run([*SERVE, f"--num-procs={number}"], capture_output=True, text=True)
    assert run.returncode == 2
    assert run.stderr.endswith(
        f"{number!r} is no number of processes: give a number from 1 to 256\n"
    )


def test_a_system_that_cannot_is_told(monkeypatch, capsys):
    monkeypatch.delattr(os, "fork")
    assert main(["serve", "--num-procs", "2"]) == 1
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert said.endswith(".\n")
