"""Policies in the pages' own texts, and sources in which nothing runs what somebody typed."""

import base64
import hashlib
import re

import pytest
from page_text import Page

from kvsim_app import assets
from kvsim_app.paths import STATIC, TEMPLATES
from kvsim_app.results.files import load_results
from kvsim_app.settings import Settings

DIRECTIVE = re.compile(r"([a-z-]+) ([^;]*)")
# Ways from a text to a running script or to an element.
DANGEROUS = re.compile(
    r"\.(inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\(|new Function|"
    r"createContextualFragment|setTimeout\(\s*[\"'`]|setInterval\(\s*[\"'`]|DOMParser|javascript:"
)


def directives(policy):
    return {name: set(values.split()) for name, values in DIRECTIVE.findall(policy)}


def digest(script):
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def test_the_served_policy_names_the_one_script_in_the_page():
    policy = directives(assets.linked_policy())
    assert policy["default-src"] == {"'none'"}
    assert policy["script-src"] == {"'self'", digest(assets.head_script())}
    assert "unsafe-eval" not in assets.linked_policy()
    # Whoever wants to may hold it in a frame.
    assert "frame-ancestors" not in policy


@pytest.fixture(scope="module")
def inlined():
    return assets.inlined_page(load_results(), Settings(), "embed=1&theme=dark")


def test_the_offline_policy_lets_nothing_be_asked(inlined):
    page = Page(inlined)
    meta = page.one("meta", http_equiv="Content-Security-Policy")
    policy = directives(meta["content"])
    assert policy["default-src"] == {"'none'"}
    assert "connect-src" not in policy
    assert policy["img-src"] == {"data:", "blob:"}
    # It stands before everything that it is about.
    assert inlined.index("http-equiv") < inlined.index("<script")
    assert inlined.index("http-equiv") < inlined.index("<style")


def test_the_offline_policy_names_each_script_and_no_other(inlined):
    policy = directives(Page(inlined).one("meta", http_equiv="Content-Security-Policy")["content"])
    run = re.findall(r"<script>(.*?)</script>", inlined, re.DOTALL)
    library = assets.LIBRARY.read_text("utf-8")
    assert policy["script-src"] == {digest(script) for script in (*run, library)}
    assert len(run) == len(assets.SCRIPTS)  # the head's, and all but the library


def test_the_view_of_a_file_stands_in_its_page(inlined):
    assert Page(inlined).one("html")["data-view"] == "embed=1&theme=dark"


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_no_script_makes_text_into_elements_or_runs_it(path):
    assert not DANGEROUS.search(path.read_text("utf-8"))


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.html")), ids=lambda path: path.name)
def test_no_template_has_handlers_or_trusts_a_text(path):
    text = path.read_text("utf-8")
    assert not re.search(r"<[^>]*\son\w+\s*=", text)
    assert not re.search(r"\|\s*safe\b", text)


def test_the_script_for_other_pages_is_shown_and_not_run():
    snippet = (TEMPLATES / "host-snippet.html").read_text("utf-8")
    page = assets.inlined_page(load_results(), Settings())
    assert snippet.strip() not in page
    assert snippet.strip() in Page(page).one(id="host-snippet").text
