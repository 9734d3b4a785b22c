"""The words of the section on an overcommitted cache, and the figure of recompute and swap."""

import re

import pytest
from page_text import Page
from sampling import fresh_random

from kvsim.paper import figure_19
from kvsim_app import words
from kvsim_app.allocations import SERVER
from kvsim_app.assets import inlined_page
from kvsim_app.languages import ENGLISH
from kvsim_app.paths import STATIC
from kvsim_app.results.files import load_results
from kvsim_app.sections import overcommit
from kvsim_app.sections.controls import Overcommit
from kvsim_app.sections.overcommit import TRADED, section_words, shares
from kvsim_app.sections.swap_figure import described
from kvsim_app.settings import Settings, choices

NARROW = "\u202f"
CHOICES = dict(choices(Overcommit))


@pytest.fixture(scope="module")
def everything():
    return load_results()


@pytest.fixture(scope="module")
def results(everything):
    return everything.overcommitted


def random_settings(random):
    return Overcommit(
        **{
            name: choice.objects[random.integers(len(choice.objects))]
            for name, choice in CHOICES.items()
        }
    )


def test_a_position_finds_its_own_figures(results):
    random = fresh_random()
    for _ in range(50):
        settings = random_settings(random)
        print(settings)
        swap = "charged" if settings.copy_charge else "swap"
        way = swap if settings.preemption == "swap" else "recompute"
        place = tuple(
            results.axis(name).index(value)
            for name, value in (
                ("way", way),
                ("watermark", settings.watermark),
                ("overcommit_block_size", settings.overcommit_block_size),
                ("overcommit_rate", settings.overcommit_rate),
            )
        )
        assert results.position(settings) == place
        known = section_words(results, settings)
        figure = {name: array[place] for name, array in results.arrays.items() if array.ndim == 4}
        assert known["chosen_preemptions"] == words.significant(float(figure["preemptions"]))
        assert known["chosen_running"] == words.fixed(float(figure["running"]), 1)
        p99_s = float(results.arrays["tpot"][(*place, 2)])
        assert known["chosen_tpot_p99"] == f"{words.significant(1e3 * p99_s)}{NARROW}ms"


def test_every_sentence_is_filled_in(results):
    random = fresh_random()
    keys = list(section_words(results, Overcommit()))
    for _ in range(50):
        known = section_words(results, random_settings(random))
        assert list(known) == keys
        for key, text in known.items():
            assert text, key
            assert not re.search(r"[{}]|None|nan|undefined", text), text


@pytest.mark.parametrize(
    ("position", "case"),
    [
        ({}, "some_recompute"),
        ({"preemption": "swap"}, "some_swap"),
        ({"watermark": 5}, "watermark"),
        ({"overcommit_rate": 20}, "sustained"),
    ],
)
def test_the_finding_says_what_is_so(results, position, case):
    known = section_words(results, Overcommit(**position))
    assert known["finding"] == words.fill(f"overcommit_finding_{case}", **known)


def test_each_comparison_changes_one_setting(results):
    known = section_words(results, Overcommit())
    marked = section_words(results, Overcommit(watermark=1))
    returned = section_words(results, Overcommit(preemption="swap"))
    for key in (each.removeprefix("chosen_") for each in known if each.startswith("chosen_")):
        if key != "heading":
            assert known[f"marked_{key}"] == marked[f"chosen_{key}"]
            assert marked[f"marked_{key}"] == known[f"chosen_{key}"]
            assert known[f"returned_{key}"] == returned[f"chosen_{key}"]
            assert returned[f"returned_{key}"] == known[f"chosen_{key}"]
    assert known["marked_heading"] == f"1{NARROW}% watermark"
    assert marked["marked_heading"] == f"0{NARROW}% watermark"
    assert (known["returned_heading"], returned["returned_heading"]) == ("swap", "recompute")


def test_bars_are_as_long_as_their_numbers_say(results):
    settings = Overcommit(overcommit_rate=40)
    long = shares(results, settings)
    for name in TRADED:
        most = results.value(name, results.position(settings))
        for place, watermark in enumerate(results.axis("watermark")):
            value = results.value(name, results.position(settings, watermark=watermark))
            assert long[f"mark{place}_{name}"] == pytest.approx(value / most)
    assert set(shares(results, Overcommit(overcommit_rate=20)).values()) == {0.0, 1.0}


def test_the_page_says_it_before_any_script(everything):
    page = Page(inlined_page(everything, Settings()))
    known = section_words(everything.overcommitted, Overcommit())
    said = page.all(data_overcommit=...)
    assert {each["data-overcommit"] for each in said} > {"finding", "chosen_ttft_p99"}
    for element in said:
        assert element.text == known[element["data-overcommit"]]


def test_the_page_names_a_rate_without_pre_emptions(everything):
    assert overcommit.calm_rate(everything.overcommitted) == words.rate(20)
    page = Page(inlined_page(everything, Settings()))
    assert f"At {words.rate(20)} nobody" in page.one("section", id="overcommit").text


def test_a_sentence_asks_for_nothing_that_is_not_known(results):
    """Fields of the section's words, or in its script's code."""
    known = set(section_words(results, Overcommit()))
    code = (STATIC / "overcommit-words.js").read_text("utf-8")
    code += (STATIC / "overcommit.js").read_text("utf-8")
    for name, template in ENGLISH.items():
        if name.startswith("overcommit_"):
            for field in set(re.findall(r"\{(\w+)\}", template)) - known:
                assert re.search(rf"\b{field}\b", code), (name, field)


@pytest.fixture(scope="module")
def figure():
    return described()


def test_the_figure_has_the_published_points_and_the_simulated_ones(figure):
    papers, plates = figure["panels"]
    compared = figure_19.compared()
    assert [point["shown"] for point in papers["swap"]] == [
        words.fixed(1e3 * row["seconds"], 1) for row in compared["swap"]
    ]
    stated = {
        point["block_size"]: point["published"]["shown"]
        for point in papers["swap"]
        if point["published"]
    }
    assert stated == {"1": "137.0", "16": "40.0", "256": "33.0"}
    assert papers["published_recompute"] == "38.0"
    charged = figure_19.charged(SERVER)
    assert plates["recompute"]["shown"] == words.fixed(1e3 * figure_19.recompute_s(SERVER, 253), 1)
    assert [point["shown"] for point in plates["swap"]] == [
        words.fixed(1e3 * figure_19.swap_s(charged, 253, size), 1) for size in figure_19.BLOCK_SIZES
    ]
    assert not any(point["published"] for point in plates["swap"])


def test_points_lie_where_their_numbers_say(figure):
    """Block sizes double from place to place; times are on a log scale from 1 to 200 ms."""
    for panel in figure["panels"]:
        for place, point in enumerate(panel["swap"]):
            assert point["left"] == pytest.approx(100 * place / 8, abs=0.01)
            seconds = 0.2 * (1e-3 / 0.2) ** (point["top"] / 100)
            assert words.fixed(1e3 * seconds, 1) == point["shown"]
        line = [tuple(map(float, corner.split(","))) for corner in panel["line"].split()]
        assert line == [(point["left"], point["top"]) for point in panel["swap"]]
    assert [tick["shown"] for tick in figure["ticks"]] == ["1", "10", "100"]
    assert figure["ticks"][0]["top"] == 100


def test_the_derived_cost_is_said(figure):
    assert (figure["copy_us"], figure["copies"], figure["pcie_share"]) == ("2.58", "64", "40")
    assert figure["block_us"] == "165"
    assert [panel["equal_from"] for panel in figure["panels"]] == ["32", "16"]
