"""Building the results: resumed after an interruption, and the same bytes every time."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from kvsim_app.results.atlas import load

SMALL = Path(__file__).with_name("small_atlas.py")
FILES = {
    *("atlas-exponential.bin", "atlas-azure-code.bin"),
    *("films.bin", "overcommit.bin", "paper.json", "sharing.bin"),
}


def run(command, folder, workers):
    return subprocess.run(
        [sys.executable, str(SMALL), command, str(folder), str(workers)],
        capture_output=True,
        text=True,
    )


def files(folder):
    """The content of every file below a folder, by name."""
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Small results, built in one go, and what was said."""
    folder = tmp_path_factory.mktemp("built")
    done = run("build", folder, 2)
    assert done.returncode == 0, done.stderr
    return folder, done


def test_a_build_shows_its_progress_and_says_what_it_wrote(built):
    folder, done = built
    assert "exponential goes on from 0 of" in done.stdout
    assert "azure-code goes on from 0 of" in done.stdout
    for path in (folder / name for name in FILES):
        assert f"{path}: {path.stat().st_size:,} bytes" in done.stdout
    assert "100%" in done.stderr
    assert set(files(folder)) == FILES, "the finished rows are cleared away"


def test_a_build_holds_every_position(built):
    atlas = load(built[0] / "atlas-exponential.bin")
    assert atlas.constants["workload"] == "exponential"
    assert atlas.axes["max_length"] == [4096, 8192, 16384]
    assert atlas.arrays["paged_ttft"].shape == (2, 2, 3, 2, 3)
    assert atlas.arrays["contiguous_ttft"].shape == (2, 3, 2, 3)
    assert np.all(atlas.arrays["paged_ttft"] > 0)
    for kind in ("contiguous", "paged"):
        assert np.all(atlas.arrays[f"{kind}_cached"] <= atlas.arrays[f"{kind}_held"])
        assert np.all(atlas.arrays[f"{kind}_requests"] > 0)


def test_each_workload_has_its_own_atlas(built):
    one, other = (load(built[0] / f"atlas-{name}.bin") for name in ("exponential", "azure-code"))
    assert other.constants["workload"] == "azure-code"
    assert other.constants["replications"] == 1
    assert other.arrays["contiguous_ttft"].shape == (2, 1, 1, 3)
    assert one.fingerprint != other.fingerprint


def test_an_interrupted_build_goes_on_and_gives_the_same_bytes(built, tmp_path):
    stopped = run("interrupt", tmp_path, 2)
    assert stopped.returncode == 1
    assert stopped.stderr.splitlines()[-1].startswith("Stopped; what is done is kept")
    assert "Traceback" not in stopped.stderr
    assert not list(tmp_path.glob("atlas-*"))
    resumed = run("build", tmp_path, 1)
    assert resumed.returncode == 0, resumed.stderr
    assert "exponential goes on from 3 of" in resumed.stdout
    assert files(tmp_path) == files(built[0])


def test_an_interrupted_build_ends_soon(built, tmp_path):
    """What only waits for a worker is given up: nobody would keep its rows."""
    rows = built[1].stdout.count("simulated a row")
    stopped = run("interrupt", tmp_path, 1)
    # Three are done; the pool may have handed one or two more to its worker.
    assert 3 <= stopped.stdout.count("simulated a row") <= 6 < rows


def test_a_row_that_was_being_written_is_simulated_again(built, tmp_path):
    run("interrupt", tmp_path, 2)
    rows = [part for part in (tmp_path / ".atlas-parts").rglob("*") if part.is_file()]
    assert len(rows) == 3
    # As a build that was killed leaves it.
    rows[0].rename(rows[0].with_name("unfinished")).write_bytes(rows[0].name.encode())
    resumed = run("build", tmp_path, 2)
    assert resumed.returncode == 0, resumed.stderr
    assert "exponential goes on from 2 of" in resumed.stdout
    assert files(tmp_path) == files(built[0])
