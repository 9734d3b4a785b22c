"""The simulation stands alone, and the wheel carries the whole page."""

import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path
from urllib.request import urlopen

import pytest
from page_text import live_texts
from serving import SERVE, serving

import kvsim_app
from kvsim_app.results.files import ATLASES

ROOT = Path(__file__).resolve().parents[1]
PACKED = ("kvsim", "app", "static", "pyproject.toml", "README.md", "LICENSE")


def test_the_core_imports_numpy_and_nothing_of_the_page():
    script = """
import importlib, pkgutil, sys
import kvsim
for module in pkgutil.walk_packages(kvsim.__path__, "kvsim."):
    importlib.import_module(module.name)
print(*sorted({name.split(".")[0] for name in sys.modules}))
"""
    loaded = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.split()
    foreign = {"kvsim_app", "panel", "bokeh", "param", "tornado", "jinja2", "tqdm", "pandas"}
    assert "numpy" in loaded
    assert foreign.isdisjoint(loaded)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """A wheel, built from a copy: building leaves files behind."""
    source = tmp_path_factory.mktemp("source")
    for name in PACKED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    target = tmp_path_factory.mktemp("wheel")
    built = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--outdir", str(target), str(source)],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (path,) = target.glob("*.whl")
    return path


def test_the_wheel_holds_the_page_and_takes_no_common_name(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"kvsim", "kvsim_app"}
    static = [path for path in (ROOT / "static").iterdir() if path.is_file()]
    results = {
        *("films.bin", "paper.json", "sharing.bin", "overcommit.bin"),
        *(path.name for path in ATLASES.values()),
    }
    assert results <= {path.name for path in static}
    files = {f"kvsim_app/static/{path.name}" for path in static}
    files |= {f"kvsim_app/templates/{path.name}" for path in (ROOT / "app/templates").iterdir()}
    files |= {f"kvsim/data/{path.name}" for path in (ROOT / "kvsim/data").glob("*.csv")}
    for folder, package in (("app", "kvsim_app"), ("kvsim", "kvsim")):
        place = ROOT / folder
        files |= {f"{package}/{path.relative_to(place)}" for path in place.rglob("*.py")}
    packed = {name for name in names if ".dist-info/" not in name}
    assert {name for name in files if "__pycache__" not in name} == packed
    about = {name.split(".dist-info/")[1] for name in names if ".dist-info/" in name}
    assert about == {
        *("METADATA", "RECORD", "WHEEL", "entry_points.txt", "top_level.txt"),
        "licenses/LICENSE",
    }


def test_the_wheel_installed_elsewhere_serves_the_page(wheel, tmp_path):
    place = tmp_path / "site"
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"),
            *("--disable-pip-version-check", "--target", str(place), str(wheel)),
        ],
        check=True,
    )
    environment = {"PYTHONPATH": str(place)}
    where = subprocess.run(
        [
            sys.executable,
            "-c",
            "import kvsim, kvsim_app; print(kvsim.__file__, kvsim_app.__file__)",
        ],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
        check=True,
    ).stdout.split()
    assert all(Path(path).is_relative_to(place) for path in where), "not the one under test"
    assert not Path(kvsim_app.__file__).is_relative_to(place)
    command = place / "bin" / "kvsim"
    said = subprocess.run([command, "--version"], capture_output=True, text=True, env=environment)
    assert said.stdout == f"kvsim {version('kvsim')}\n"
    with serving(SERVE, cwd=tmp_path, environment=environment) as served:
        html = urlopen(served.url).read().decode()
        assert urlopen(f"{served.url}panel").status == 200
    assert live_texts(html)["paged_fit"][0] == "333"
