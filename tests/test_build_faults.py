"""A build that is hit: workers and parents that are killed, full disks, bad rows, two at once."""

import os
import resource
import signal
import subprocess
import sys

import pytest
from family import children, runs, wait_for
from test_atlas_build import SMALL, files, run
from test_cli import check_one_sentence

from kvsim_app.results.build_lock import BusyError, alone_in
from kvsim_app.results.container import write_whole


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What a build writes that nothing happens to, and how many rows it simulates."""
    folder = tmp_path_factory.mktemp("whole")
    done = run("build", folder, 2)
    assert done.returncode == 0, done.stderr
    return files(folder), done.stdout.count("simulated a row")


def kept_rows(folder):
    """The rows that are whole; one that was being written has another name."""
    return sorted(path for path in folder.glob(".atlas-parts/*/*") if path.suffix != ".part")


def start(folder, workers=2):
    """A build on its way: at least one row is kept."""
    process = subprocess.Popen(
        [sys.executable, str(SMALL), "build", str(folder), str(workers)],
        env={**os.environ, "ROW_DELAY_S": "1.5"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_for(lambda: kept_rows(folder))
    return process


def last_line(said):
    """What is said after the progress bars, which end in a line of their own."""
    *_, line = said.splitlines(keepends=True)
    check_one_sentence(line)
    assert "Traceback" not in said
    return line


def check_the_next_goes_on(folder, whole):
    """It simulates what was not kept, and the results are as if nothing had happened."""
    content, rows = whole
    kept = len(kept_rows(folder))
    resumed = run("build", folder, 2)
    assert resumed.returncode == 0, resumed.stderr
    assert 0 < resumed.stdout.count("simulated a row") == rows - kept < rows
    assert files(folder) == content


def test_a_worker_that_is_killed_is_said(whole, tmp_path):
    process = start(tmp_path)
    os.kill(min(children(process)), signal.SIGKILL)
    _, said = process.communicate()
    assert process.returncode == 1
    assert "--workers" in last_line(said)
    assert not list(tmp_path.glob("atlas-*"))
    check_the_next_goes_on(tmp_path, whole)


def test_the_second_of_two_is_refused_and_the_first_when_killed_leaves_no_worker(whole, tmp_path):
    first = start(tmp_path)
    second = run("build", tmp_path, 1)
    assert second.returncode == 1
    assert second.stdout == ""
    assert str(tmp_path) in second.stderr
    check_one_sentence(second.stderr)
    workers = children(first)
    assert workers
    first.kill()
    first.communicate()
    wait_for(lambda: not any(runs(pid) for pid in workers))
    check_the_next_goes_on(tmp_path, whole)


def test_a_folder_is_held_until_the_end_of_the_block(tmp_path):
    with alone_in(tmp_path), pytest.raises(BusyError), alone_in(tmp_path):
        pass
    with alone_in(tmp_path):
        pass


def limited(command, size_bytes):
    """Run a command that can write no file above a size, as on a disk that is full."""
    limit = (size_bytes, size_bytes)
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit),
    )


@pytest.mark.parametrize("size_bytes", [0, 2000])
def test_a_full_disk_is_said_and_the_old_results_stay(whole, tmp_path, size_bytes):
    """Full at once, or with all rows kept and no room for the atlas."""
    content, _ = whole
    assert max(map(len, content.values())) > 2000
    old = {name: b"old " + data for name, data in content.items()}
    for name, data in old.items():
        (tmp_path / name).write_bytes(data)
    stopped = limited([sys.executable, str(SMALL), "build", str(tmp_path), "2"], size_bytes)
    assert stopped.returncode == 1
    assert str(tmp_path) in last_line(stopped.stderr)
    now = files(tmp_path)
    assert not any(name.endswith(".part") for name in now)
    # But for those that stand for other results, which the test's build writes as it likes.
    for name in old.keys() - {"paper.json", "films.bin", "overcommit.bin", "sharing.bin"}:
        assert now[name] == old[name]
    assert run("build", tmp_path, 2).returncode == 0
    assert files(tmp_path) == content


def test_a_write_that_fails_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "results.bin"
    write_whole(path, b"old")
    script = "import sys, pathlib; from kvsim_app.results.container import write_whole\n"
    script += "write_whole(pathlib.Path(sys.argv[1]), bytes(100_000))"
    failed = limited([sys.executable, "-c", script, str(path)], 50_000)
    assert failed.returncode != 0
    assert "OSError" in failed.stderr
    assert files(tmp_path) == {"results.bin": b"old"}


def test_damaged_rows_are_simulated_again(whole, tmp_path):
    """Empty, cut, or with a bit flipped that makes another number."""
    content, rows = whole
    run("interrupt", tmp_path, 1)
    empty, cut, flipped = kept_rows(tmp_path)
    empty.write_bytes(b"")
    cut.write_bytes(cut.read_bytes()[:-1])
    row = bytearray(flipped.read_bytes())
    row[-9] ^= 1
    flipped.write_bytes(row)
    resumed = run("build", tmp_path, 2)
    assert resumed.stdout.count("simulated a row") == rows
    assert files(tmp_path) == content
