"""What the project needs: declared, used and consistent."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
DECLARED = [
    Requirement(each)
    for each in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "dependencies"
    ]
]


@pytest.mark.parametrize("requirement", DECLARED, ids=lambda each: each.name)
def test_a_range_has_both_ends_and_holds_what_is_installed(requirement):
    operators = {each.operator for each in requirement.specifier}
    assert operators == {">=", "<"}
    assert version(requirement.name) in requirement.specifier


def test_what_is_imported_is_declared_and_what_is_declared_is_imported():
    imported = set()
    for path in (*ROOT.glob("kvsim/**/*.py"), *ROOT.glob("app/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                imported.add(node.module)
    tops = {re.match(r"\w+", name)[0] for name in imported}
    foreign = tops - set(sys.stdlib_module_names) - {"kvsim", "kvsim_app"}
    assert foreign == {requirement.name for requirement in DECLARED}


def test_the_installed_packages_agree_with_one_another():
    checked = subprocess.run(
        [sys.executable, "-m", "pip", "--disable-pip-version-check", "check"],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stdout
