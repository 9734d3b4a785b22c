"""README's test command: what it does on machines that lack something."""

import os
import subprocess
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from test_cli import check_one_sentence


@pytest.fixture
def run(tmp_path, monkeypatch):
    """The script, with a folder of its own; nothing is run, but noted."""
    spec = spec_from_file_location("run_script", Path(__file__).with_name("run.py"))
    script = module_from_spec(spec)
    spec.loader.exec_module(script)
    script.called = []
    script.works = lambda command: True
    (tmp_path / ".venv").mkdir()
    (tmp_path / "pyproject.toml").write_text("[project]")
    monkeypatch.setattr(script, "ROOT", str(tmp_path))
    monkeypatch.setattr(script, "STAMP", str(tmp_path / ".venv" / "installed-for"))
    monkeypatch.setattr(script, "runs", lambda *command: script.works(command))

    def call(command, **options):
        script.called.append(list(command))
        return 0

    monkeypatch.setattr(subprocess, "call", call)
    return script


def test_an_old_python_is_told(run, monkeypatch, capsys):
    monkeypatch.setattr("sys.version_info", (3, 9))
    assert run.main([]) == 1
    said = capsys.readouterr().err
    assert "3.9" in said
    check_one_sentence(said)


def test_where_no_environment_can_be_made_that_is_told(run, monkeypatch, capsys):
    def create(*arguments, **options):
        raise subprocess.CalledProcessError(1, "ensurepip")

    run.works = lambda command: False
    monkeypatch.setattr("venv.create", create)
    assert run.main([]) == 1
    assert "python3-venv" in capsys.readouterr().err


def test_it_installs_once_and_again_when_the_project_changes(run, tmp_path):
    for wanted in (1, 0):
        run.called.clear()
        assert run.install() == 0
        assert len(run.called) == wanted
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'other'")
    assert run.install() == 0
    assert len(run.called) == 1


def test_a_failed_installation_is_told_and_tried_again(run, monkeypatch, capsys):
    monkeypatch.setattr(subprocess, "call", lambda *command, **options: 1)
    assert run.install() == 1
    assert run.install() == 1
    assert "pip" in capsys.readouterr().err


def test_a_browser_that_is_there_is_used(run):
    assert run.get_browser() == 0
    assert run.called == []


WAYS = [
    (0, True, ["apt-get", "playwright", "playwright"]),
    (0, False, ["playwright"]),
    (1000, True, ["playwright"]),
]


@pytest.mark.parametrize(("user", "has_apt", "ways"), WAYS)
def test_ways_to_a_browser_are_tried_until_one_starts(
    run, monkeypatch, capsys, user, has_apt, ways
):
    monkeypatch.setattr(os, "geteuid", lambda: user, raising=False)
    monkeypatch.setattr("shutil.which", lambda name: name if has_apt else None)
    named = [
        next(word for word in ("apt-get", "playwright") if word in commands[-1])
        for commands in run.browser_installers()
    ]
    assert named == ways
    for until in range(1, len(ways) + 1):
        run.called.clear()
        answers = iter([False] * until + [True])
        run.works = lambda command, answers=answers: next(answers)
        assert run.get_browser() == 0
        tried = list(run.browser_installers())[:until]
        assert run.called == [command for commands in tried for command in commands]
    run.works = lambda command: False
    assert run.get_browser() == 1, "the browser tests are never left out"
    assert "install Chromium" in capsys.readouterr().err
