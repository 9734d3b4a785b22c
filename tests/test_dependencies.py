"""What the project needs: declared, used, consistent, and of no version known to be vulnerable."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
DECLARED = [
    Requirement(each)
    for each in tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "dependencies"
    ]
]
# The first version that has all fixes, as published up to November 2026 by the projects
# themselves and in the databases of the Open Source Vulnerabilities project.
FIXED = {
    "bokeh": "3.8.2",  # CVE-2026-21883
    "jinja2": "3.1.6",  # CVE-2025-27516
    "tornado": "6.6.1",  # its release notes: percent-encoding, redirects
    "tqdm": "4.66.3",  # CVE-2024-34062
}


@pytest.mark.parametrize("requirement", DECLARED, ids=lambda each: each.name)
def test_a_range_has_both_ends_and_holds_what_is_installed(requirement):
    operators = {each.operator for each in requirement.specifier}
    assert operators == {">=", "<"}
    assert version(requirement.name) in requirement.specifier


@pytest.mark.parametrize("name", FIXED)
def test_no_version_that_is_allowed_is_known_to_be_vulnerable(name):
    (requirement,) = [each for each in DECLARED if each.name == name]
    (lowest,) = [each.version for each in requirement.specifier if each.operator == ">="]
    assert Version(lowest) >= Version(FIXED[name])


def test_what_is_imported_is_declared_and_what_is_declared_is_imported():
    imported = set()
    for path in (*ROOT.glob("kvsim/*.py"), *ROOT.glob("app/*.py")):
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
