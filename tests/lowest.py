"""Runs the tests, but for the browser's, with the oldest versions that pyproject.toml allows.

    python3 tests/lowest.py [pytest arguments]

In an environment that is thrown away. The usual tests run with the newest ones.
"""

import re
import subprocess
import sys
import tempfile
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TOOLS = ("pytest", "pytest-xdist", "hypothesis", "build", "distributed")
# What needs other tools, or a browser.
LEFT_OUT = ("tests/browser", "tests/test_style.py")


def lowest(requirement):
    """``name>=1.2,<3`` as the oldest version that it allows: ``name==1.2``."""
    name, version = re.fullmatch(r"([\w-]+)>=([\w.]+)(?:,<[\w.]+)?", requirement).groups()
    return f"{name}=={version}"


def main(arguments):
    """Install, say what is installed, and return pytest's exit status."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    oldest = [lowest(each) for each in project["dependencies"]]
    tools = [
        each
        for each in project["optional-dependencies"]["test"]
        if re.match(r"[\w-]+", each)[0] in TOOLS
    ]
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, symlinks=sys.platform != "win32", with_pip=True)
        python = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check"]
        print(*oldest, sep="\n", flush=True)
        subprocess.run([*pip, "install", *oldest, *tools, "-e", ROOT], check=True)
        subprocess.run([*pip, "check"], check=True)
        left_out = [f"--ignore={path}" for path in LEFT_OUT]
        return subprocess.run(
            [python, "-m", "pytest", *left_out, *(arguments or ["-n", "auto"])], cwd=ROOT
        ).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
