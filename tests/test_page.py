"""The page as it is served, read without a browser: whole, and with no number typed in."""

import base64
import json
import re
from dataclasses import replace
from itertools import pairwise

import pytest
from page_text import Page

import kvsim
from kvsim.deployment.cache_layout import KV_DTYPES
from kvsim.deployment.shape import WEIGHT_BITS
from kvsim.measured import comparison, notes
from kvsim_app import words
from kvsim_app.assets import (
    ANSWERS_ADDRESS,
    LINKED,
    SCRIPTS,
    STYLES,
    TEACHER,
    head_script,
    inlined_page,
    linked_page,
)
from kvsim_app.languages import ENGLISH
from kvsim_app.paths import TEMPLATES
from kvsim_app.reading import read
from kvsim_app.results.files import ATLASES, FILMS, OVERCOMMIT, SHARING, load_results
from kvsim_app.sections import your_server
from kvsim_app.settings import Settings, choices

ADDRESSES = {path: f"assets/{path.name}" for path in LINKED}


@pytest.fixture(scope="module")
def results():
    return load_results()


@pytest.fixture(scope="module")
def atlas(results):
    return results.atlases["exponential"]


@pytest.fixture(scope="module")
def html(results):
    return linked_page(results, ADDRESSES)


@pytest.fixture(scope="module")
def page(html):
    """Every element closed in its turn: Page fails otherwise."""
    return Page(html)


@pytest.fixture(scope="module")
def known(atlas):
    return words.live_words(
        read(atlas, Settings()), words.constant_words(atlas.constants, atlas.axes)
    )


def test_no_placeholder_is_left(html):
    text = html.replace("{{The kvsim authors}}", "")  # BibTeX's own braces
    before_data = text[: text.index('id="plate-data"')]
    assert not re.search(r"{{|}}|{%|%}|{#|\bUndefined\b|\bNone\b|\bnan\b", before_data)


def test_ids_are_unique_and_what_is_referred_to_is_there(page):
    ids = [element["id"] for element in page.all(id=...)]
    assert len(ids) == len(set(ids))
    for name in ("for", "aria-labelledby", "aria-describedby"):
        for element in page.elements:
            for reference in element.attributes.get(name, "").split():
                assert reference in ids, f"{name} {reference}"
    for link in page.all("a", href=...):
        if link["href"].startswith("#"):
            assert link["href"][1:] in ids


def test_headings_skip_no_level(page):
    levels = [int(e.tag[1]) for e in page.elements if re.fullmatch("h[1-6]", e.tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_parts_of_the_plate_are_there(page):
    for part in (
        *("workshop", "reading", "learn", "essay", "assumptions", "terms", "sources", "reuse"),
        *("cards", "questions"),
        *("take-away", "citation", "bibtex", "embed", "assumptions-line", "notice"),
    ):
        assert page.one(id=part).text or part == "notice", part
    assert page.one("html")["lang"]
    assert page.one("meta", name="viewport")
    assert "MIT" in page.one(id="reuse").text


def test_what_follows_the_sliders_says_the_plates_settings(page, known):
    live = page.all(data_live=...)
    assert len(live) > 30
    for element in live:
        assert element.text == known[element["data-live"]], element["data-live"]


def test_controls_are_made_from_the_table(page):
    for name, choice in choices():
        (element,) = page.all(name=name)
        position = list(choice.objects).index(choice.default)
        (label,) = page.all("label", for_=element["id"])
        assert label.text == choice.label
        if choice.kind == "range":
            assert element["type"] == "range"
            assert element["max"] == str(len(choice.objects) - 1)
            assert element["value"] == str(position)
            assert element["aria-valuetext"]
        elif choice.kind == "switch":
            assert element["type"] == "checkbox"
            assert "checked" not in element.attributes
        else:
            assert element.tag == "select"
            options = [each for each in page.all("option") if element["id"] in each.within]
            shown = [words.fill(f"{name}_{value}") for value in choice.objects]
            assert [option.text for option in options] == shown
            assert [each.text for each in options if "selected" in each.attributes] == [
                shown[position]
            ]


def test_the_page_knows_where_its_files_are(page):
    files = json.loads(page.one("script", id="plate-data").text)["files"]
    assert files["atlases"] == {name: ADDRESSES[path] for name, path in ATLASES.items()}
    assert files["films"] == ADDRESSES[FILMS]
    assert files["overcommit"] == ADDRESSES[OVERCOMMIT]
    assert files["sharing"] == ADDRESSES[SHARING]


def test_nothing_is_asked_of_another_host(page, html):
    for tag, name in (
        *(("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src")),
        *(("source", "src"), ("form", "action"), ("object", "data"), ("image", "href")),
    ):
        for element in page.all(tag):
            address = element.attributes.get(name, "")
            assert not re.match(r"(https?:)?//", address), address
    for path in STYLES:
        assert not re.search(r"@import|url\(", path.read_text("utf-8"))
    for link in page.all("a", href=...):
        assert link["href"].startswith(("#", "https://", TEACHER)), "sources are links, over https"


def test_scripts_come_after_the_text_and_hold_nothing_up(page):
    scripts = page.all("script", src=...)
    assert [element["src"] for element in scripts] == [ADDRESSES[path] for path in SCRIPTS]
    assert all("defer" in element.attributes for element in scripts)
    first, *others = [element for element in page.elements if element.tag in ("script", "footer")]
    # What decides on the first paint stands in the page itself, and is short.
    assert first.tag == "script"
    assert len(first.text) < 6_000
    assert first.text == head_script()
    assert others[0].tag == "footer"


def test_the_data_for_the_script_is_json_and_cannot_end_its_element(page):
    data = json.loads(page.one("script", id="plate-data").text)
    assert [control["name"] for control in data["controls"]] == [name for name, _ in choices()]
    assert data["words"] == ENGLISH
    assert "<" not in page.one("script", id="plate-data").text


def visible_text(page, *without):
    """The page's text but for some of its parts and what is not to be read."""
    hidden = {"script", "style", "noscript", "html", "head", "body", "main", "title", "meta"}
    return "\n".join(
        element.text
        for element in page.elements
        if element.tag not in hidden
        and not {*element.within, element.attributes.get("id")} & {*without}
    )


def test_no_result_is_typed_in(results, atlas, known):
    """With other results in the atlas, none of these is anywhere in the page any more."""
    other = replace(
        atlas,
        arrays={
            name: array * 0.37 if array.dtype.kind == "f" else 0 * array
            for name, array in atlas.arrays.items()
        },
    )
    others = replace(results, atlases=results.atlases | {"exponential": other})
    # The paper's figures are of another model, and have a test of their own.
    text = visible_text(Page(linked_page(others, ADDRESSES)), "measured")
    for name in (
        *("contiguous_fit", "paged_fit", "contiguous_share", "paged_share", "contiguous_ttft"),
        *("paged_ttft", "contiguous_sustained", "paged_sustained", "contiguous_wasted"),
    ):
        assert known[name] not in re.findall(r"[\d.\u202f]+\d(?:\u202f%|.s|.requests/s)?", text), (
            name
        )


def test_no_constant_is_typed_in(results, atlas):
    """Another model on another GPU: of the plate's own only the sources speak."""
    constants = atlas.constants | {
        "model": "Other Model",
        "gpu": "Other GPU",
        "cache_bytes": 7.7e10,
        "kv_bytes_per_token": 777,
        "peak_flops": 7.77e14,
        "peak_bandwidth": 7.77e12,
        "compute_share": 0.77,
        "bandwidth_share": 0.78,
        "pass_overhead_s": 7.7e-3,
        "mean_prompt_tokens": 7777,
        "mean_output_tokens": 777,
        "capacity_tokens": 777_777,
        "replications": 77,
        "duration_s": 77.0,
        "seed": 7,
    }
    other = replace(atlas, constants=constants)
    others = replace(results, atlases=results.atlases | {"exponential": other})
    # Other servers than the plate's are offered and measured in a part of their own.
    text = visible_text(
        Page(linked_page(others, ADDRESSES)), "sources", "measured", "overcommit", "your-server"
    )
    own = words.constant_words(atlas.constants, atlas.axes)
    for name in ("kv_bytes_per_token", "capacity_tokens", "mean_prompt", "peak_tflops", "seed"):
        assert own[name] not in text, name
    for name in ("cache_gb", "peak_tbs"):
        assert not re.search(rf"\b{re.escape(own[name])}\s*(GB|TB/s)", text), name
    assert own["model"] not in text
    assert "H100" not in text
    assert "Other Model" in text
    assert "Other GPU" in text


def test_no_other_number_of_the_plates_settings_is_in_the_templates(known):
    for template in TEMPLATES.iterdir():
        typed = re.sub(
            r"{{.*?}}|{%.*?%}|{#.*?#}|<[^>]*>", " ", template.read_text("utf-8"), flags=re.S
        )
        for name in ("paged_fit", "contiguous_share", "paged_share", "paged_ttft", "fit_ratio"):
            number = known[name].split("\u202f")[0]
            assert not re.search(rf"(?<![\d.]){re.escape(number)}(?![\d.]*\d)", typed), (
                template,
                name,
            )


def test_a_page_with_everything_inside_asks_for_nothing(results):
    page = Page(inlined_page(results, Settings()))
    assert page.all("script", src=...) == []
    assert [e["href"] for e in page.all("link", href=...) if e["rel"] != "icon"] == []
    files = json.loads(page.one("script", id="plate-data").text)["files"]
    assert list(files["atlases"]) == ["exponential"]
    assert "film" not in files, "nobody makes films for it"
    further = (files["films"], files["overcommit"], files["sharing"])
    for address in (*files["atlases"].values(), *further):
        assert address.startswith("data:")


def test_a_page_with_everything_inside_brings_its_own_workload(results):
    page = Page(inlined_page(results, Settings(workload="azure-code")))
    files = json.loads(page.one("script", id="plate-data").text)["files"]
    assert set(files["atlases"]) == {"exponential", "azure-code"}
    encoded = files["atlases"]["azure-code"].partition("base64,")[2]
    assert base64.b64decode(encoded) == ATLASES["azure-code"].read_bytes()


def test_a_page_can_open_at_other_settings(results, atlas):
    start = Settings(
        block_size=64,
        max_length=4096,
        rate=7,
        block_overhead=3.7,
        workload="sharegpt",
        reservation="buddy-pow2",
    )
    page = Page(inlined_page(results, start))
    wanted = words.live_words(
        read(results.atlases["sharegpt"], start),
        words.constant_words(atlas.constants, atlas.axes),
    )
    for element in page.all(data_live=...):
        assert element.text == wanted[element["data-live"]]
    assert page.one("input", name="block_size")["value"] == "6"
    assert "checked" in page.one("input", name="block_overhead").attributes
    selected = {each.text for each in page.all("option", selected=...)}
    assert words.fill("workload_sharegpt") in selected
    assert words.fill("reservation_buddy-pow2") in selected
    # Reset and link still know the plate's own.
    data = json.loads(page.one("script", id="plate-data").text)
    assert [control["default"] for control in data["controls"]] == [4, 3, 17, 0, 0, 0]


def cells(page, table):
    """The texts of the cells below a table's head, row after row."""
    return [each.text for each in page.all() if table in each.within and each.tag in ("th", "td")]


def missed(gpu):
    """What the two tables say that the model misses, with a GPU's shares of its peak rates."""
    found = comparison(gpu)
    decode = [
        (
            words.count(row["context_tokens"]),
            words.fixed(1000 * row["measured_s"], 3),
            words.fixed(1000 * row["simulated_s"], 3),
            ("−" if row["missed_share"] < 0 else "+") + words.percent(abs(row["missed_share"])),
            words.percent(row["published_bandwidth_share"]),
        )
        for row in found["decode"]
    ]
    prefill = [
        (
            words.percent(row["published_peak_share"]),
            words.fixed(1000 * row["simulated_s"], 2),
            words.fixed(1000 * row["published_s"], 2) if row["published_s"] else "",
        )
        for row in found["prefill"]
    ]
    return decode, prefill, found


@pytest.mark.parametrize(
    "gpu", [kvsim.H100, replace(kvsim.H100, compute_share=0.41, bandwidth_share=0.53)]
)
def test_the_page_says_what_the_model_misses(results, monkeypatch, gpu):
    decode, prefill, found = missed(gpu)
    monkeypatch.setattr(your_server, "comparison", lambda: found)
    page = Page(linked_page(results, ADDRESSES))
    of_decode, of_prefill = cells(page, "own-decode"), cells(page, "own-prefill")
    assert of_decode[5:] == [text for row in decode for text in row]
    rows = [of_prefill[start : start + 6] for start in range(6, len(of_prefill), 6)]
    assert [(row[2], row[3], row[4]) for row in rows] == prefill
    text = page.one(id="own-limits").text
    for straight in ('"', "'", " %", " -"):
        assert straight not in text
    # As a terminal has it.
    text = re.sub(r"(\d)\u202f(\d{3})", r"\1,\2", text).replace("\u202f%", " %")
    text = text.translate(str.maketrans("“”’−", '""\'-'))
    for note in notes(found).values():
        assert note in text
    for row in found["prefill"]:
        assert row["source"] in text


def test_every_model_gpu_and_workload_is_offered(page):
    def offered(name):
        options = [each for each in page.all("option") if name in each.within]
        return {each["value"]: each.text for each in options if each["value"]}

    assert offered("own-model") == {key: each.title for key, each in kvsim.MODELS.items()}
    assert offered("own-gpu") == {key: each.gpu.name for key, each in kvsim.CARDS.items()}
    assert [*offered("own-weights")] == [*WEIGHT_BITS]
    assert [*offered("own-kv")] == [*KV_DTYPES]
    workloads = next(choice for name, choice in choices() if name == "workload").objects
    assert [*offered("own-lengths")] == [*workloads, "means", "trace"]


def test_only_a_served_page_asks_about_other_servers(results, page):
    served = json.loads(page.one("script", id="plate-data").text)["files"]
    alone = Page(inlined_page(results, Settings())).one("script", id="plate-data").text
    assert served["answers"] == ANSWERS_ADDRESS
    assert "answers" not in json.loads(alone)["files"]


def test_the_contents_lead_from_the_workshop_to_every_section_in_order(page, html):
    contents = html[html.index('<nav class="contents"') : html.index("</nav>")]
    links = re.findall(r'<a href="#([\w-]+)">([^<]+)</a>', contents)
    sections = [each for each in page.all("section", id=...) if each["id"] != "workshop"]
    assert [section for section, _ in links] == [section["id"] for section in sections]
    for section, heading in links:
        label = page.one(id=section)["aria-labelledby"]
        assert heading == page.one(id=label).text.strip()
    assert (
        html.index('id="workshop"') < html.index('<nav class="contents"') < html.index('id="cards"')
    )
