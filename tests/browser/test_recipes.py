"""Recipes: sites that hold the plate, built by their tools and opened from another origin."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from browser.conftest import LOOKING
from browser.expected import wait_for_words
from browser.hosting import folder_served, lesson
from kvsim_app.paths import TEMPLATES

HERE = ("127.0.0.1", "localhost")
RECIPES = Path(__file__).parent.parent / "recipes"
SNIPPET = (TEMPLATES / "host-snippet.html").read_text("utf-8")


def built(folder, name):
    """Build a recipe, if it needs that; return the folder of its pages."""
    if name == "sphinx":
        run("sphinx", "-q", "-W", ".", "site", cwd=folder)
    elif name == "mkdocs":
        run("mkdocs", "build", "--quiet", "--strict", cwd=folder)
    elif name == "myst":
        (folder / "index.html").write_text(shown_by_myst(folder / "index.md"), "utf-8")
        return folder
    else:
        return folder
    return folder / "site"


def run(module, *arguments, cwd):
    run = subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=cwd, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout + run.stderr


def shown_by_myst(page):
    """A page that does with the directive what MyST's theme does, at the width of its text."""
    ((module, model),) = re.findall(
        r"^```\{anywidget\} (\S+)\n(.*?)^```$", page.read_text("utf-8"), re.M | re.S
    )
    return lesson(f"""<div id="widget" style="width: 727px"></div>
        <script type="module">
          import widget from "./{module}";
          const el = document.createElement("div");
          document.getElementById("widget").attachShadow({{ mode: "open" }}).append(el);
          widget.render({{ model: new Map(Object.entries({model})), el }});
        </script>""")


@pytest.mark.parametrize("name", ["plain", "sphinx", "mkdocs", "myst"])
def test_the_plate_stands_in_the_site_at_its_height(browser, plate, tmp_path, name):
    folder = tmp_path / name
    shutil.copytree(RECIPES / name, folder)
    (folder / "snippet.html").write_text(SNIPPET, "utf-8")
    for file in folder.rglob("*.*"):
        text = file.read_text("utf-8")
        file.write_text(text.replace("PLATE", plate).replace("SNIPPET", SNIPPET), "utf-8")
    with folder_served(built(folder, name)) as address:
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.add_init_script(LOOKING)
        # Themes ask other hosts for what the plate has no use for.
        page.route(lambda url: urlsplit(url).hostname not in HERE, lambda route: route.abort())
        page.goto(address)
        page.frame_locator("iframe").locator("html[data-ready]").wait_for(state="attached")
        (held,) = page.frames[1:]
        wait_for_words(held, rate=30)
        held.wait_for_function(
            "() => document.documentElement.scrollHeight === document.documentElement.clientHeight"
        )
        assert page.locator("iframe").bounding_box()["height"] > 900
        assert not held.locator(".lede").is_visible()
        if name == "plain":
            check_paper(page)
        page.close()


def check_paper(page):
    """On paper a picture stands in the frame's place."""
    page.emulate_media(media="print")
    assert not page.locator("iframe").is_visible()
    picture = page.locator(".on-paper")
    assert picture.is_visible()
    picture.evaluate("picture => picture.decode()")
    assert picture.evaluate("picture => picture.naturalWidth") > 1_500
