"""Runs the tests: ``python3 tests/run.py [pytest arguments]``, on a machine with Python alone.

Makes .venv beside pyproject.toml, installs the project and its test tools into it, sees to it
that there is a browser, and runs pytest. What is there already is used again.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import venv

# Kept readable for older versions of Python, so that they can say what is wrong.
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLACE = os.path.join(ROOT, ".venv")
PYTHON = os.path.join(PLACE, *(("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")))
STAMP = os.path.join(PLACE, "installed-for")
LAUNCHING = os.path.join(ROOT, "tests", "browser", "launching.py")


def main(arguments):
    """Set up what is missing, run the tests, and return pytest's exit status."""
    if sys.version_info < (3, 11):  # noqa: UP036
        return fail("The tests need Python 3.11 or newer; this is {}.{}.".format(*sys.version_info))
    return make_environment() or install() or get_browser() or pytest(arguments)


def make_environment():
    """A virtual environment of our own, so that the machine's Python stays as it is."""
    if runs(PYTHON, "-m", "pip", "--version") or runs(PYTHON, "-m", "ensurepip"):
        return 0
    say("Making a virtual environment in .venv ...")
    try:
        # A copy of some interpreters does not find its library.
        venv.create(PLACE, clear=True, symlinks=os.name != "nt", with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        return fail(
            f"A virtual environment cannot be made in {PLACE} ({error}). "
            "On Debian and Ubuntu, install python3-venv first."
        )
    return 0


def install():
    """The project and its test tools, again only if pyproject.toml has changed since."""
    with open(os.path.join(ROOT, "pyproject.toml"), "rb") as file:
        wanted = hashlib.sha256(file.read() + sys.version.encode()).hexdigest()
    if os.path.exists(STAMP):
        with open(STAMP, encoding="ascii") as file:
            if file.read() == wanted:
                return 0
    say("Installing the project and its test tools ...")
    pip = (PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    if subprocess.call([*pip, "-e", ".[test]"], cwd=ROOT):
        return fail("pip could not install the project; what it says about that is above.")
    with open(STAMP, "w", encoding="ascii") as file:
        file.write(wanted)
    return 0


def get_browser():
    """A browser that starts. The browser tests are never left out, so without one all fails."""
    if runs(PYTHON, LAUNCHING):
        return 0
    for commands in browser_installers():
        say("There is no browser yet; trying {} ...".format(" ".join(commands[-1])))
        environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
        for command in commands:
            subprocess.call(command, env=environment, stdout=subprocess.DEVNULL)
        if runs(PYTHON, LAUNCHING):
            return 0
    subprocess.call([PYTHON, LAUNCHING])
    return fail(
        "No browser could be had, and the page is tested in one: install Chromium or Google "
        "Chrome, then start this again."
    )


def browser_installers():
    """Ways to a browser, the likeliest first."""
    playwright = [PYTHON, "-m", "playwright", "install"]
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if root and shutil.which("apt-get"):
        apt = ["apt-get", "--quiet", "--yes"]
        yield [
            [*apt, "update"],
            [*apt, "install", "--no-install-recommends", "chromium", "fonts-liberation"],
        ]
        yield [[*playwright, "--with-deps", "chromium"]]
    yield [[*playwright, "chromium"]]


def pytest(arguments):
    """Run the tests on all cores, a file at a time: its tests share servers and pages."""
    cores = ["-n", "auto", "--dist", "loadfile"]
    return subprocess.call([PYTHON, "-m", "pytest", *cores, *arguments], cwd=ROOT)


def runs(*command):
    """Whether a command ends well; what it says is of no interest."""
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def say(sentence):
    """Tell what is going on."""
    print(sentence, file=sys.stderr, flush=True)


def fail(sentence):
    """Tell why it ends here."""
    say(sentence)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
