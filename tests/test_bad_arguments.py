"""Whatever is typed after ``kvsim``: a sentence or the usage, no traceback, and an end."""

import io
import os
import socket
from contextlib import chdir, redirect_stderr, redirect_stdout
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kvsim.__main__ import main as core_main
from kvsim_app import serve
from kvsim_app.__main__ import main

TRIED = 300  # of each kind
LONGEST = 1000  # characters of a sentence, which names what was given


HERE = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "", None)
# What a shell can hand over: no zero bytes, but bytes that are no text.
TEXTS = st.text(st.characters(exclude_characters="\0"), max_size=30)
BYTES = st.binary(max_size=20).map(lambda data: os.fsdecode(data.replace(b"\0", b"")))
ODD_NUMBERS = st.sampled_from(["0x10", "1e3", "²", "-0", "00", "+1", "1_000", "9" * 5000])
NUMBERS = st.one_of(st.integers(), st.floats(), ODD_NUMBERS).map(str)
PLACES = st.sampled_from(["", ".", "/", "~", "a/b", "x" * 5000, "*", "::1", "0.0.0.0", "a:b:c"])
ODD = st.one_of(TEXTS, BYTES, NUMBERS, PLACES)
OPTIONS = st.sampled_from(
    ["--port", "--address", "--allow-origin", "--num-procs", "--output", "--workers", "--seeds"]
)
FLAGS = st.sampled_from(["--json", "--help", "--version", "--", "-h", "-p", "--po"])
WORDS = st.one_of(OPTIONS, FLAGS, ODD, st.builds("{}={}".format, OPTIONS, ODD))

COMMANDS = ["serve", "paper", "capacity", "limits", "log", "trace", "no command"]

known = socket.getaddrinfo


def unknown(host, *arguments, **options):
    """Nobody outside this machine is asked what address a name has."""
    if host in HERE:
        return known(host, *arguments, **options)
    host.encode("idna")
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


RESULTS = "kvsim_app.results"


@pytest.fixture(scope="module", autouse=True)
def nothing_is_built_or_served(tmp_path_factory):
    """All but what takes long: the page is not rendered, nothing simulated, nobody served.

    In a folder of its own, since a folder that is made up may be ``.``.
    """
    with (
        chdir(tmp_path_factory.mktemp("anywhere")),
        patch("kvsim_app.serve.prepare", dict),
        patch("bokeh.server.server.BaseServer.run_until_shutdown", lambda self: self.stop()),
        patch(f"{RESULTS}.paper_store.build", lambda path, workers: path.write_bytes(b"")),
        patch(f"{RESULTS}.atlas_build.build", lambda plan, path, workers: path.write_bytes(b"")),
        patch(f"{RESULTS}.films.build", lambda path: path.write_bytes(b"")),
        patch(f"{RESULTS}.overcommit_results.build", lambda path: path.write_bytes(b"")),
        patch(f"{RESULTS}.sharing_results.build", lambda path, workers: path.write_bytes(b"")),
        patch("kvsim.paper.sharing.reproduce_all", lambda seeds, workers: {}),
        patch("kvsim.paper.figure_19.compared", dict),
        patch("kvsim.paper.text.notes", lambda result: []),
        patch("kvsim.paper.text.text", lambda result: "the paper"),
        patch("socket.getaddrinfo", unknown),
        patch("os.fork", side_effect=OSError(11, "Resource temporarily unavailable")),
        # No process of a server: others of this one's, such as a browser, are not waited for.
        patch("os.wait", side_effect=ChildProcessError),
    ):
        yield serve


class Said(io.TextIOWrapper):
    """Takes what cannot be encoded as the terminal does."""

    def __init__(self):
        super().__init__(io.BytesIO(), "utf-8", "backslashreplace", "\n")

    @property
    def text(self):
        self.flush()
        return self.buffer.getvalue().decode()


def check(run, arguments):
    """It ends with a status, and says why in words."""
    out, err = Said(), Said()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = run(arguments)
        except SystemExit as end:
            status = end.code
    out, err = out.text, err.text
    assert "Traceback" not in out + err
    if status == 0:
        assert err == ""
    elif status == 2:  # argparse's: the usage, and what is wrong
        assert err.startswith("usage: ")
        assert "error: " in err
    else:
        assert status == 1
        assert out == ""
        assert 1 <= err.count("\n") <= 1 + "".join(arguments).count("\n")
        assert err.endswith(".\n")
        assert len(err) < 6 * LONGEST


tried = settings(max_examples=TRIED)


@tried
@given(st.sampled_from(COMMANDS), st.lists(WORDS, max_size=4))
@example("log", ["a\nb"])
@example("trace", ["x" * 5000])
@example("capacity", ["--config", "\udcff", "--kv-gib", "1"])
@example("serve", ["--port=0", "--address", "x" * 70])
@example("serve", ["--port=0", "--address", "a..b"])
@example("serve", ["--port=0", "--address", "\udcff"])
@example("serve", ["--port=0", "--allow-origin", "a:b:c"])
@example("serve", ["--port=0", "--allow-origin", "host:port"])
@example("serve", ["--port=0", "--allow-origin", ""])
@example("serve", ["--port=0", "--num-procs=2"])
@example("serve", ["--port", "9" * 10_000])
def test_any_arguments(command, words):
    check(main, [command, *words])
    if command != "serve":
        check(core_main, [command, *words])


@tried
@given(ODD, ODD)
@example("x" * 5000, "1")
@example("a\nb", "1")
@example("\udcff", "1")
def test_any_folder_and_any_number_of_workers(folder, workers):
    """Folders that are not there; see test_cli for those that are."""
    if not os.path.isdir(folder):
        check(main, ["atlas", f"--output={folder}", f"--workers={workers}"])


@tried
@given(ODD)
def test_any_address(address):
    check(main, ["serve", "--port=0", f"--address={address}"])
