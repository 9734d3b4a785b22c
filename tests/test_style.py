"""The code is clean: ruff, its format, mypy; and no file names a place on somebody's machine."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("kvsim", "app", "static", "tests", ".ci")
TEXT = {".py", ".js", ".css", ".html", ".json", ".md", ".toml", ""}


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "--no-cache", "."),
        ("ruff", "format", "--check", "--no-cache", "."),
        ("mypy", "kvsim", "app"),
    ],
    ids=" ".join,
)
def test_nothing_is_found(command):
    run = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def texts():
    """Every text of the project, by its path."""
    paths = [path for path in ROOT.iterdir() if path.is_file()]
    for folder in FOLDERS:
        paths += [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    return {
        path.relative_to(ROOT): path.read_text("utf-8")
        for path in paths
        # In a worktree .git is a file, and says where the repository is.
        if path.suffix in TEXT and path.name != ".git" and "__pycache__" not in path.parts
    }


def test_no_path_of_a_machine_is_written_down():
    for path, text in texts().items():
        found = re.search(r"/(home|root|Users|work|tmp)/\w", text)
        assert not found, f"{path}: {found}"


def test_every_module_says_what_it_is_about():
    for path, text in texts().items():
        if path.suffix == ".py" and text:
            assert re.match(r'(#!.*\n)?"""[\w`]', text), path
        if path.suffix == ".js":
            assert text.startswith("/* "), path
