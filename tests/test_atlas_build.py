"""Building an atlas: resumed after an interruption, and the same bytes every time."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kvsim_app.atlas import load
from kvsim_app.fingerprint import _code

SMALL = Path(__file__).with_name("small_atlas.py")


def run(command, path, workers):
    return subprocess.run(
        [sys.executable, str(SMALL), command, str(path), str(workers)],
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A small atlas, built in one go, and what was said."""
    path = tmp_path_factory.mktemp("built") / "atlas.bin"
    done = run("build", path, 2)
    assert done.returncode == 0, done.stderr
    return path, done


def test_a_build_shows_its_progress_and_says_what_it_wrote(built):
    path, done = built
    assert "goes on from 0 of" in done.stdout
    assert f"{path}: {path.stat().st_size:,} bytes" in done.stdout
    assert "100%" in done.stderr
    assert list(path.parent.iterdir()) == [path], "the finished rows are cleared away"


def test_a_build_holds_every_position(built):
    atlas = load(built[0])
    assert atlas.axes["max_length"] == [4096, 8192, 16384]
    assert atlas.arrays["paged_ttft"].shape == (2, 2, 3, 2, 3)
    assert atlas.arrays["contiguous_ttft"].shape == (3, 2, 3)
    assert np.all(atlas.arrays["paged_ttft"] > 0)


def test_an_interrupted_build_goes_on_and_gives_the_same_bytes(built, tmp_path):
    path = tmp_path / "atlas.bin"
    stopped = run("interrupt", path, 2)
    assert stopped.returncode == 1
    assert stopped.stderr.splitlines()[-1].startswith("Stopped; what is done is kept")
    assert "Traceback" not in stopped.stderr
    assert not path.exists()
    resumed = run("build", path, 1)
    assert resumed.returncode == 0, resumed.stderr
    assert "goes on from 3 of" in resumed.stdout
    assert path.read_bytes() == built[0].read_bytes()


def test_an_interrupted_build_ends_soon(built, tmp_path):
    """What only waits for a worker is given up: nobody would keep its rows."""
    rows = built[1].stdout.count("simulated a row")
    stopped = run("interrupt", tmp_path / "atlas.bin", 1)
    # Three are done; the pool may have handed one or two more to its worker.
    assert 3 <= stopped.stdout.count("simulated a row") <= 6 < rows


def test_a_row_that_was_being_written_is_simulated_again(built, tmp_path):
    path = tmp_path / "atlas.bin"
    run("interrupt", path, 2)
    rows = [part for part in path.with_name(".atlas-parts").rglob("*") if part.is_file()]
    assert len(rows) == 3
    # As a build that was killed leaves it.
    rows[0].rename(rows[0].with_name("unfinished")).write_bytes(rows[0].name.encode())
    resumed = run("build", path, 2)
    assert resumed.returncode == 0, resumed.stderr
    assert "goes on from 2 of" in resumed.stdout
    assert path.read_bytes() == built[0].read_bytes()


def test_a_rewording_is_no_change_of_the_model():
    one = 'def f(x):\n    """Say."""\n    return x + 1  # one more\n'
    other = 'def f(x):\n    """Say it\n    otherwise."""\n\n    return x + 1\n'
    assert _code(one) == _code(other)
    assert _code(one) != _code(one.replace("+ 1", "+ 2"))
    assert _code('x = "a"\n') != _code('x = "b"\n')
