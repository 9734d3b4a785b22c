"""The paper's figure on the page: rendered from its file, which the simulation agrees with."""

import json
import re
from dataclasses import replace

import pytest
from page_text import Page

from kvsim.paper import experiments, published, sharing
from kvsim_app import assets
from kvsim_app.paths import TEMPLATES
from kvsim_app.results import paper_store
from kvsim_app.results.atlas_build import PLANS, ROOTS
from kvsim_app.results.files import PAPER, load_results
from kvsim_app.results.fingerprint import fingerprint
from kvsim_app.results.paper_store import PaperError, build, check_current, load
from kvsim_app.settings import Settings

PARTS = ("token_states", "reserved", "internal", "rest")
STALE = "the paper's figures are stale: build them again with `kvsim atlas`"


@pytest.fixture(scope="module")
def kept():
    return load(PAPER)


def page_with(paper_results):
    """The page's text with some figures of the paper in it."""
    return assets.inlined_page(replace(load_results(), paper=paper_results), Settings())


@pytest.fixture(scope="module")
def html(kept):
    return page_with(kept)


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


# The file.


def test_the_file_is_of_this_code(kept):
    assert kept.fingerprint == paper_store.current_fingerprint(), STALE
    assert kept.settings == paper_store.settings(), STALE
    assert kept.figures["seeds"] == kept.settings["seeds"] >= 5
    for row in kept.figures["figure_2"]:
        assert row["published"] == published.FIGURE_2[row["system"]], STALE


@pytest.mark.parametrize("system", experiments.SYSTEMS)
def test_a_seed_simulated_again_gives_what_is_kept(kept, system):
    (row,) = [row for row in kept.figures["figure_2"] if row["system"] == system]
    seed = 3
    again = experiments.shares(experiments.SYSTEMS[system], experiments.SATURATED, seed)
    for part in PARTS:
        assert row["by_seed"][part][seed] == pytest.approx(again[part], rel=1e-9), STALE
        mean = sum(row["by_seed"][part]) / kept.settings["seeds"]
        assert row[part] == pytest.approx(mean, rel=1e-9)


def test_kvsim_papers_number_of_seeds_is_the_pages(capsys, monkeypatch):
    """So that who runs it sees the page's numbers."""
    from kvsim.__main__ import main as kvsim

    asked = []
    monkeypatch.setattr(
        "kvsim.paper.sharing.reproduce_all", lambda seeds, workers: asked.append(seeds) or {}
    )
    monkeypatch.setattr("kvsim.paper.text.text", lambda result: "")
    monkeypatch.setattr("kvsim.paper.text.notes", lambda result: {})
    assert kvsim(["paper"]) == 0
    assert asked == [paper_store.SEEDS]


def test_the_fingerprint_is_of_what_the_figures_come_from():
    of_paper = fingerprint({}, paper_store.ROOTS)
    assert of_paper != fingerprint({}, ROOTS)
    assert paper_store.current_fingerprint() not in {p.fingerprint() for p in PLANS.values()}


def test_what_is_built_is_read_back(kept, tmp_path, monkeypatch):
    monkeypatch.setattr(sharing, "reproduce_all", lambda seeds, workers: kept.figures)
    path = tmp_path / "paper.json"
    build(path)
    assert path.read_bytes() == PAPER.read_bytes(), STALE
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace('"reserved": 1', '"reserved": 2', 1),
        lambda text: "[]",
        lambda text: "{}",
        lambda text: "\x00",
    ],
    ids=["cut", "changed", "list", "empty", "binary"],
)
def test_a_damaged_file_is_refused(tmp_path, damage):
    path = tmp_path / "paper.json"
    path.write_text(damage(PAPER.read_text("utf-8")), "utf-8")
    with pytest.raises(PaperError, match="damaged"):
        load(path)


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "paper.json"
    path.write_bytes(b"\xff\xfe\xfa" + PAPER.read_bytes())
    with pytest.raises(PaperError, match="damaged"):
        load(path)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(PaperError, match=re.escape(str(tmp_path))):
        load(tmp_path / "paper.json")


def test_a_stale_file_is_refused(kept):
    with pytest.raises(PaperError, match="other model code"):
        check_current(replace(kept, fingerprint="of other code"))


# The figure.


def bars(html):
    """The parts of each bar by system and source: its fill, its width, and the number in it."""
    drawn = {}
    for system, source, inside in re.findall(
        r'class="measured-parts" data-system="(.*?)" data-source="(.*?)">(.*?)</span>', html, re.S
    ):
        drawn[system, source] = [
            (part, float(width), shown)
            for part, width, shown in re.findall(
                r'class="fill-(\w+)" style="flex-grow: ([\d.]+)"><b>(.*?)</b>', inside
            )
        ]
    return drawn


def test_every_bar_adds_up(html):
    drawn = bars(html)
    assert len(drawn) == 2 * len(experiments.SYSTEMS) + 1
    for (system, source), parts in drawn.items():
        total = sum(width for _, width, _ in parts)
        # Published shares are rounded to a tenth.
        tolerance = 1e-6 if source == "simulated" else 0.11
        assert total == pytest.approx(100, abs=tolerance), (system, source)
        for _, width, shown in parts:
            assert float(shown) == pytest.approx(width, abs=0.0501)


def test_published_shares_are_exact_and_simulated_ones_the_kept(html, kept):
    drawn = bars(html)
    for row in kept.figures["figure_2"]:
        for source, wanted in (
            ("published", published.FIGURE_2[row["system"]]),
            ("simulated", row),
        ):
            found = {part: width for part, width, _ in drawn[row["system"], source]}
            assert found == {part: wanted[part] for part in PARTS if wanted[part]}
    assert {part: width for part, width, _ in drawn["first-fit", "simulated"]} == {
        part: kept.figures["first_fit"][part] for part in PARTS if kept.figures["first_fit"][part]
    }


def cells(html, table):
    """The text of a table's cells, row by row."""
    inside = re.search(rf'<table id="{table}".*?</table>', html, re.S)[0]
    return [
        [re.sub("<.*?>", "", cell) for cell in re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.S)]
        for row in re.findall(r"<tr.*?>(.*?)</tr>", inside, re.S)
    ]


def test_the_table_holds_every_number_of_the_bars(html, kept):
    rows = [row[-6:] for row in cells(html, "shares-table")[1:]]
    for row in (*kept.figures["figure_2"], kept.figures["first_fit"]):
        for source in ("published", "simulated"):
            numbers = row if source == "simulated" else row.get("published")
            if numbers:
                wanted = [f"{numbers[part]:.1f}" for part in PARTS] + [f"{numbers['batch']:.2f}"]
                assert [source, *wanted] in rows
        low, high = row["spread"]["token_states"]
        assert any(each[:2] == ["spread", f"{low:.1f} to {high:.1f}"] for each in rows)


def test_the_relatives_are_there(html, kept):
    rows = cells(html, "relatives")
    numbers = [row[1:3] for row in rows]
    for row in kept.figures["section_6_2"]["paged_over"]:
        assert [f"{row['published']:.2f}", f"{row['ratio']:.2f}"] in numbers
    for row in kept.figures["section_6_2"]["rates"]:
        assert [f"{row['published']:.2f}", f"{row['requests_per_s']:.2f}"] in numbers
    sizes = {row[0]: row[1:3] for row in rows}
    for row in kept.figures["block_sizes"]:
        shown = [f"{row['expected']:.2f}", f"{row['token_states']:.2f}"]
        assert sizes[str(row["block_size"])] == shown


def test_the_caveat_on_rounding_is_computed(page, kept):
    said = page.one(id="measured").text
    oracle = kept.figures["figure_2"][2]
    first_fit = kept.figures["first_fit"]
    assert f"{oracle['parts_of_rest']['rounding']:.1f} are such rounding" in said
    assert f"{first_fit['token_states']:.1f}\u202f% token states" in said
    assert f"a batch of {first_fit['batch']:.2f}" in said
    assert "50.6\u202f% and 18.1" in said, "what paper.md's independent program gave"


def test_what_does_not_come_out_is_said(page, kept):
    """The one share that lies too far away, by name; none that does not."""
    said = page.one(id="measured").text
    assert "One share lies further" in said
    pow2 = kept.figures["figure_2"][1]
    assert f"{pow2['rest']:.1f} against {pow2['published']['rest']:.1f}" in said
    assert f"{kept.figures['figure_2'][3]['batch']:.2f}" in said


def test_no_number_is_typed_in(kept):
    """With other figures in the file, the kept ones are not in the text any more."""
    shift = {
        "token_states": 1.37, "reserved": 2.41, "internal": 3.43, "rest": 0.57, "batch": 0.83,
        "requests_per_s": 0.41, "ratio": 0.43, "rounding": 1.71,
    }  # fmt: skip

    def other(value, name=""):
        if isinstance(value, dict):
            return {key: other(each, key) for key, each in value.items()}
        if isinstance(value, list):
            return [other(each, name) for each in value]
        return value + shift[name] if name in shift else value

    changed = replace(kept, figures=other(kept.figures))
    text = Page(page_with(changed)).one(id="measured").text
    numbers = re.findall(r"[\d.]+\d", text)
    for row in (*kept.figures["figure_2"], kept.figures["first_fit"]):
        assert f"{row['batch']:.2f}" not in numbers or row["batch"] == 7
        for part in ("token_states", "reserved"):
            if row[part]:
                changed = [f"{row[part]:.1f} against", f"{row[part]:.1f}\u202f%"]
                assert not any(each in text for each in changed)
    assert f"{kept.figures['figure_2'][2]['parts_of_rest']['rounding']:.1f}" not in numbers
    template = (TEMPLATES / "measured.html").read_text("utf-8")
    typed = re.sub(r"{{.*?}}|{%.*?%}|{#.*?#}|<[^>]*>|&#?\w+;", " ", template, flags=re.S)
    assert re.findall(r"\d+\.\d+", typed) == ["6.2", "6.2"], "only the numbers of the paper's parts"


def test_it_needs_no_script(page):
    """But to take it away as a file."""
    within = [
        element
        for element in page.elements
        if "measured" in element.within
        and "take" not in element.attributes.get("class", "").split()
    ]
    assert within
    assert not {"script", "canvas", "svg"} & {element.tag for element in within}
    assert not any(
        "needs-script" in element.attributes.get("class", "").split()
        or "data-live" in element.attributes
        for element in within
    )
    scripts = json.dumps([path.name for path in assets.SCRIPTS])
    assert "paper" not in scripts


def test_readers_by_ear_have_captions_and_the_finding(page, kept):
    (image,) = [e for e in page.all(role="img") if "measured" in e.within]
    for row in kept.figures["figure_2"]:
        finding = f"{row['published']['token_states']:.1f} and {row['token_states']:.1f}"
        assert finding in image["aria-label"]
    tables = [e for e in page.all("table") if "measured" in e.within]
    captions = [e for e in page.all("caption") if "measured" in e.within]
    assert len(tables) == len(captions) == 3
    assert all(caption.text for caption in captions)
