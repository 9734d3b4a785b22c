"""The command line: what it refuses, in one sentence each, and how it ends."""

import json
import signal
import socket
import subprocess
import sys
from dataclasses import replace
from importlib.metadata import version
from urllib.request import urlopen

import pytest
from page_text import Page
from serving import serving

from kvsim_app.__main__ import main
from kvsim_app.results import paper_store
from kvsim_app.results.atlas import load, to_bytes
from kvsim_app.results.container import pack, unpack
from kvsim_app.results.files import ATLASES, FILMS, OVERCOMMIT, PAPER, SHARING
from kvsim_app.settings import values

MOST_OFFLINE_BYTES = 3_000_000


def kvsim(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "kvsim_app", *arguments], capture_output=True, text=True
    )


def check_one_sentence(said):
    """One line, a sentence, no traceback."""
    assert said.count("\n") == 1
    assert said.endswith(".\n")
    assert "Traceback" not in said


@pytest.mark.parametrize("port", ["abc", "-1", "70000", "5006.5", "", "²"])
def test_what_is_no_port_is_refused(port):
    run = kvsim("serve", f"--port={port}")
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.endswith(f"{port!r} is no port: give a number from 0 to 65535\n")


def test_a_port_in_use_is_named():
    with socket.create_server(("localhost", 0)) as taken:
        port = taken.getsockname()[1]
        run = kvsim("serve", "--port", str(port))
    assert run.returncode == 1
    assert str(port) in run.stderr
    check_one_sentence(run.stderr)


def test_an_address_that_is_not_this_machines_is_named():
    run = kvsim("serve", "--port", "0", "--address", "192.0.2.1")
    assert run.returncode == 1
    assert "192.0.2.1" in run.stderr
    check_one_sentence(run.stderr)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "*",
        "*.*",
        "*:80",
        "https://lesson.example",
        "lesson.example:port",
        "a b",
        "lesson.example/x",
    ],
)
def test_what_is_no_host_is_refused(host):
    run = kvsim("serve", f"--allow-origin={host}")
    assert run.returncode == 2
    assert f"{host!r} is no host" in run.stderr
    assert "Traceback" not in run.stderr


@pytest.mark.parametrize(
    "url",
    [
        "",
        "plates.example",
        "ftp://plates.example",
        "https://",
        "http://[",
        "https://a.example/?x=1",
    ],
)
def test_what_is_no_public_address_is_refused(url):
    run = kvsim("serve", f"--public-url={url}")
    assert run.returncode == 2
    assert f"{url!r} is no address of a page" in run.stderr
    assert "Traceback" not in run.stderr


def test_the_page_is_written_into_one_file(tmp_path, capsys):
    path = tmp_path / "plate.html"
    asked = "https://plates.example/cache/?rate=30&work=azure-conversation&embed=1&show=cache"
    assert main(["export", str(path), "--settings", asked]) == 0
    size = path.stat().st_size
    assert size < MOST_OFFLINE_BYTES
    assert capsys.readouterr().out.startswith(f"{path}: {size:,} bytes")
    page = Page(path.read_text("utf-8"))
    assert page.one("html")["data-view"] == "embed=1&show=cache"
    assert page.one("input", name="rate")["value"] == str(values("rate").index(30))
    files = json.loads(page.one("script", id="plate-data").text)["files"]
    assert set(files["atlases"]) == {"exponential", "azure-conversation"}
    assert list(tmp_path.iterdir()) == [path]


def test_no_file_is_written_over_unless_that_is_asked(tmp_path, capsys):
    path = tmp_path / "lesson.html"
    path.write_text("a lesson")
    assert main(["export", str(path)]) == 1
    said = capsys.readouterr().err
    assert str(path) in said
    assert "--force" in said
    check_one_sentence(said)
    assert path.read_text() == "a lesson"
    assert main(["export", str(path), "--force"]) == 0
    assert path.read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize("name", ["nowhere/plate.html", "file/plate.html", "folder"])
def test_a_file_that_cannot_be_written_is_named(tmp_path, capsys, name):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    assert main(["export", str(tmp_path / name), "--force"]) == 1
    said = capsys.readouterr().err
    assert str(tmp_path / name) in said
    check_one_sentence(said)


@pytest.mark.parametrize("asked", ["rate=99", "show=notes", "nonsense", "http://[/?rate=3"])
def test_settings_that_are_not_to_be_had_write_nothing(tmp_path, capsys, asked):
    assert main(["export", str(tmp_path / "plate.html"), "--settings", asked]) == 1
    check_one_sentence(capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


FILES = {
    **ATLASES,
    "films": FILMS,
    "paper": PAPER,
    "overcommit": OVERCOMMIT,
    "sharing": SHARING,
}


@pytest.fixture(params=FILES)
def other(request, tmp_path, monkeypatch):
    """A place for another file of results, which the server is to use, and the kept one."""
    kept = FILES[request.param]
    path = tmp_path / kept.name
    if request.param in ATLASES:
        monkeypatch.setitem(ATLASES, request.param, path)
    else:
        monkeypatch.setattr(f"kvsim_app.results.files.{request.param.upper()}", path)
    return path, kept


def refused(capsys):
    """What ``kvsim serve`` says when it does not start."""
    assert main(["serve", "--port", "0"]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    check_one_sentence(said.err)
    assert "kvsim atlas" in said.err
    return said.err


def test_a_missing_file_is_said(other, capsys):
    assert str(other[0]) in refused(capsys)


def test_a_damaged_file_is_said(other, capsys):
    path, kept = other
    path.write_bytes(kept.read_bytes()[:1000])
    assert "damaged" in refused(capsys)


def test_a_stale_file_is_said(other, capsys):
    path, kept = other
    path.write_bytes(of_other_code(kept))
    assert "other model code" in refused(capsys)


def of_other_code(path):
    """The same results, but for what they say they were built from."""
    if path.name.startswith("atlas-"):
        return to_bytes(replace(load(path), fingerprint="of other code"))
    if path in (FILMS, OVERCOMMIT, SHARING):
        header, arrays = unpack(path.read_bytes())
        return pack(header | {"fingerprint": "of other code"}, arrays)
    return paper_store.to_bytes(replace(paper_store.load(path), fingerprint="of other code"))


@pytest.fixture
def builds(monkeypatch):
    """What ``kvsim atlas`` builds, in order; nothing is simulated."""
    built = []

    def note(path):
        built.append(path)
        path.write_bytes(b"...")

    for quick in ("paper_store", "sharing_results"):
        monkeypatch.setattr(f"kvsim_app.results.{quick}.build", lambda path, workers: note(path))
    monkeypatch.setattr(
        "kvsim_app.results.atlas_build.build", lambda plan, path, workers: note(path)
    )
    monkeypatch.setattr("kvsim_app.results.films.build", note)
    monkeypatch.setattr("kvsim_app.results.overcommit_results.build", note)
    return built


def test_all_results_are_written_into_the_folder(tmp_path, capsys, builds):
    assert main(["atlas", "--output", str(tmp_path)]) == 0
    assert set(builds) == {tmp_path / path.name for path in FILES.values()}
    assert len(builds) == len(FILES)
    said = capsys.readouterr().out
    assert all(f"{path}: 3 bytes" in said for path in builds)


@pytest.mark.parametrize("name", ["nowhere", "file", "file/below"])
def test_there_must_be_a_folder_for_the_results(tmp_path, capsys, builds, name):
    """Said at once, not when everything has been simulated."""
    (tmp_path / "file").write_text("")
    assert main(["atlas", "--output", str(tmp_path / name)]) == 1
    said = capsys.readouterr().err
    assert str(tmp_path / name) in said
    check_one_sentence(said)
    assert builds == []


def test_a_full_disk_is_said(tmp_path, capsys, builds, monkeypatch):
    def fill_the_disk(path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("kvsim_app.results.films.build", fill_the_disk)
    assert main(["atlas", "--output", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "No space left" in said
    check_one_sentence(said)


@pytest.mark.parametrize("workers", ["0", "-1", "many", "1.5", "100000"])
def test_what_is_no_number_of_workers_is_refused(workers):
    run = kvsim("atlas", f"--workers={workers}")
    assert run.returncode == 2
    assert "is no number of processes" in run.stderr
    assert "Traceback" not in run.stderr


def test_without_a_command_the_usage_is_shown():
    run = kvsim()
    assert run.returncode == 2
    assert run.stderr.startswith("usage: kvsim")


def test_the_version_is_the_packages():
    run = kvsim("--version")
    assert run.returncode == 0
    assert run.stdout == f"kvsim {version('kvsim')}\n"


@pytest.fixture
def heeding_interrupts():
    """A shell that runs the tests in the background has them, and their children, ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeding_interrupts")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_the_server_ends_without_a_word(name):
    with serving() as served:
        # The address is printed just before the server runs; once it answers, it does.
        urlopen(served.url).close()
        served.process.send_signal(getattr(signal, name))
        assert served.process.wait() == 0
