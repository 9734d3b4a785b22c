"""The plate in a notebook: one that is run, and then opened as a page, asks no other host."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbconvert import HTMLExporter

from browser.expected import check_sources, wait_for_words
from browser.hands import put
from browser.test_offline import Apart

NOTEBOOK = Path(__file__).parent.parent / "recipes" / "notebook.ipynb"


@pytest.fixture(scope="module")
def notebook():
    """The notebook, run by a kernel of its own."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    return notebook


def test_a_cell_shows_the_plate_and_nothing_else(notebook):
    (output,) = notebook.cells[1].outputs
    assert output.output_type == "execute_result"
    assert set(output.data) == {"text/plain", "text/html"}
    assert output.data["text/html"].startswith("<iframe ")
    assert len(output.data["text/plain"]) < 1_000


def test_it_works_in_the_notebooks_page_without_another_host(browser, notebook, tmp_path):
    # What nbconvert's own pages ask of other hosts is no part of the plate.
    exporter = HTMLExporter(mathjax_url="", require_js_url="", jquery_url="", mermaid_js_url="")
    html, _ = exporter.from_notebook_node(notebook)
    file = tmp_path / "notebook.html"
    file.write_text(html, "utf-8")
    apart = Apart(browser)
    apart.named.add(file.as_uri())
    page = apart.open(ready=False)
    page.goto(file.as_uri())
    page.frame_locator("iframe").locator("html[data-films]").wait_for(state="attached")
    (plate,) = page.frames[1:]
    wait_for_words(plate, block_size=64, rate=30)
    put(plate, rate=12, max_length=2048)
    wait_for_words(plate, block_size=64, rate=12, max_length=2048)
    check_sources(plate, block_size=64, rate=12, max_length=2048)
    assert not plate.locator(".lede").is_visible()
    assert not plate.locator("#reservation").is_visible()
    assert apart.requests == [file.as_uri()]
    apart.close()


def test_a_view_that_is_not_to_be_had_is_refused():
    from kvsim_app.plate import Plate

    with pytest.raises(ValueError, match="show is 'notes': it can be any of workshop"):
        Plate(view="show=notes")._repr_mimebundle_()
    with pytest.raises(ValueError, match="'rate' is no view"):
        Plate(view="rate=3")._repr_mimebundle_()
