"""The section on sharing as it is served: its words, and the paper's figures beside the model's."""

import re
from dataclasses import replace

import pytest
from page_text import Page

from kvsim.paper import published
from kvsim_app.paths import TEMPLATES
from kvsim_app.results import paper_store, sharing_results
from kvsim_app.results.files import PAPER, SHARING
from kvsim_app.sections.controls import Sharing
from kvsim_app.sections.sharing_page import described
from kvsim_app.sections.sharing_words import BARS, read, sharing_words
from kvsim_app.settings import Settings
from kvsim_app.words import fixed, samples


@pytest.fixture(scope="module")
def kept():
    return paper_store.load(PAPER)


@pytest.fixture(scope="module")
def results():
    return sharing_results.load(SHARING)


@pytest.fixture(scope="module")
def shown(results, kept):
    return described(results, kept, Settings(), Sharing())


def test_it_is_served_at_its_own_settings(results, shown):
    assert shown["words"] == sharing_words(read(results, Settings(), Sharing()))
    for key in ("finding", "saved", "shared_prompts"):
        span = Page(str(shown["follow"](key))).one("span", data_sharing=key)
        assert span.text == shown["words"][key]
    assert shown["widths"]["contiguous"] < shown["widths"]["alone"] < shown["widths"]["shared"]
    assert shown["widths"]["shared"] <= 100


def test_bars_are_empty_where_nothing_fits(results, kept):
    shown = described(results, kept, Settings(max_length=1024), Sharing())
    assert min(shown["widths"].values()) > 0, "its own system prompt leaves room"
    none = replace(results, arrays={**results.arrays, "shared_prompts": _half_missing(results)})
    widths = described(none, kept, Settings(), Sharing())["widths"]
    assert [widths[bar] for bar in BARS] == [0, pytest.approx(shown_alone(results)), 0]


def _half_missing(results):
    prompts = results.arrays["shared_prompts"].copy()
    prompts[:, :, 3, 4] = float("nan")
    return prompts


def shown_alone(results):
    reading = read(results, Settings(), Sharing())
    return round(100 * reading.prompts["alone"] / 400, 2)


def test_the_papers_figures_stand_beside_the_models(shown, kept):
    alpaca = [row for row in shown["figure_15"] if row["label"].startswith("Alpaca")]
    assert [row["published"] for row in alpaca] == [
        fixed(stated, 2) for stated in published.FIGURE_15_ALPACA.values()
    ]
    for row, given in zip(shown["figure_15"], kept.figures["figure_15"], strict=True):
        assert row["label"].endswith(samples(given["samples"]))
        assert row["simulated"] == fixed(given["saved"], 1)
        low, high = (float(end) for end in row["spread"].split(" to "))
        assert low <= float(row["simulated"]) <= high
    stated = [row["published"] for row in shown["figure_16"]]
    assert stated == ["", *(fixed(ratio, 2) for ratio in published.FIGURE_16.values())]
    for row, given in zip(shown["figure_16"], kept.figures["figure_16"], strict=True):
        assert (row["simulated"], row["alone"]) == (
            fixed(given["ratio"], 2),
            fixed(given["ratio_alone"], 2),
        )


def test_no_result_is_typed_in():
    template = (TEMPLATES / "sharing.html").read_text("utf-8")
    typed = re.sub(r"{{.*?}}|{%.*?%}|{#.*?#}|<[^>]*>|&#?\w+;", " ", template, flags=re.S)
    assert re.findall(r"\d[\d.]*", re.sub(r"A1\b", "", typed)) == ["15", "16", "2", "4", "6"]
