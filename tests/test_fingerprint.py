"""The fingerprint of the model's code: what changes a figure changes it, and nothing else does."""

import shutil
from importlib.resources import files

import pytest

from kvsim_app.results import fingerprint as module
from kvsim_app.results.fingerprint import fingerprint

ROOTS = ("binned", "curve", "saturated")


@pytest.fixture
def code(tmp_path, monkeypatch):
    """A copy of the model's code that can be edited; it is what the fingerprint is of."""
    copy = tmp_path / "kvsim"
    shutil.copytree(str(files("kvsim")), copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(module, "files", lambda package: copy)
    return copy


def edit(code, name, old, new):
    path = code / name
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")


UNCHANGED = {
    "a comment": ("curve.py", "BAND = (0.1, 0.9)", "# Of all.\nBAND = (0.1, 0.9)"),
    "no comment": (
        "curve.py",
        "BAND = (0.1, 0.9)  # quantiles over replications",
        "BAND = (0.1, 0.9)",
    ),
    "a docstring": ("curve.py", '"""Median TTFT of one run', '"""The median TTFT of one run'),
    "a docstring on more lines": ("capacity.py", '"""How many requests', '"""\nHow many requests'),
    "layout": ("curve.py", "BAND = (0.1, 0.9)", "\n\nBAND = (\n    0.1,\n    0.9,\n)"),
    "parentheses": (
        "saturated.py",
        "return completions / seconds",
        "return (completions / seconds)",
    ),
    "quotes": ("capacity.py", '"simulate this one."', "'simulate this one.'"),
    "a module that is not used": ("paper/experiments.py", "import ", "UNUSED = 1\nimport "),
    "a preset of the hardware": ("hardware.py", "\nH100", "\nOTHER = 1\nH100"),
    "a preset of the model": ("model.py", "LLAMA", "OTHER = 1\nLLAMA"),
}
CHANGED = {
    "a number": ("saturated.py", "ended) // 4", "ended) // 5"),
    "a number's type": ("traffic.py", "PLATE_DURATION_S = 60.0", "PLATE_DURATION_S = 60"),
    "a string": ("capacity.py", "simulate this one.", "simulate it."),
    "an operator": ("saturated.py", "completions / seconds", "completions // seconds"),
    "a name": ("curve.py", "BAND = (0.1, 0.9)", "BANDS = (0.1, 0.9)"),
    "a default": ("traffic.py", "replication: int = 0", "replication: int = 1"),
    "an imported module": ("timeline.py", "import numpy", "UNUSED = 1\nimport numpy"),
    "a table of lengths": ("data/azure_code_lengths.csv", "\n", "\n\n"),
}


@pytest.mark.parametrize("what", UNCHANGED)
def test_a_rewording_is_no_change_of_the_model(code, what):
    before = fingerprint({}, ROOTS)
    edit(code, *UNCHANGED[what])
    assert fingerprint({}, ROOTS) == before


@pytest.mark.parametrize("what", CHANGED)
def test_what_may_change_a_figure_is_one(code, what):
    before = fingerprint({}, ROOTS)
    edit(code, *CHANGED[what])
    assert fingerprint({}, ROOTS) != before


def test_indentation_that_changes_the_meaning_counts(code):
    lines = "    if x:\n        y = 1\n    {}z = 2\n"
    path = code / "checks.py"
    text = path.read_text("utf-8") + "\n\ndef f(x):\n" + lines
    prints = set()
    for indentation in ("", "    "):
        path.write_text(text.replace("{}", indentation), "utf-8")
        prints.add(fingerprint({}, ROOTS))
    assert len(prints) == 2


def test_constants_count_in_any_order():
    assert fingerprint({"a": 1, "b": 2}, ROOTS) == fingerprint({"b": 2, "a": 1}, ROOTS)
    assert fingerprint({"a": 1}, ROOTS) != fingerprint({"a": 2}, ROOTS)
    assert fingerprint({"a": 1}, ROOTS) != fingerprint({"a": "1"}, ROOTS)


def test_modules_count_with_all_that_they_import():
    assert fingerprint({}, ("capacity", "saturated")) == fingerprint({}, ("saturated",))
    assert fingerprint({}, ("curve", "binned")) == fingerprint({}, ("binned", "curve"))
    assert fingerprint({}, ("paper.experiments",)) != fingerprint({}, ("curve",))
    whole = ("paper.experiments", "paper.published", "paper.sharing", "shared_capacity")
    assert fingerprint({}, whole) == fingerprint({}, ("paper.sharing",))
