"""What a reader takes away: pictures and numbers as files, the citation, a report."""

import csv
import xml.etree.ElementTree as ET
from base64 import b64encode
from importlib.metadata import version

import pytest
from playwright.sync_api import expect

from browser.conftest import LOOKING
from browser.expected import KINDS, constants, read_at, wait_for_film, words_at
from browser.hands import put
from browser.visits import Visits
from kvsim.binding import RESOURCES
from kvsim_app import words
from kvsim_app.assets import inlined_page
from kvsim_app.reading import binding
from kvsim_app.results.files import load_results
from kvsim_app.settings import Settings, choices, values

POSITION = {"block_size": 64, "max_length": 4096, "rate": 22, "block_overhead": 3.7}
FIGURES = {
    "capacity": ("png", "svg", "csv"),
    "ttft": ("png", "svg", "csv"),
    "cache": ("png", "csv"),
}
FILES = [(figure, kind) for figure, kinds in FIGURES.items() for kind in kinds]
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def page(browser, plate):
    """One page for all, at settings that are not the plate's own."""
    visits = Visits(browser, plate, LOOKING)
    page = visits.open("?block=64&maxlen=4096&rate=22&overhead=3.7")
    wait_for_film(page, **POSITION)
    yield page
    visits.close()


def spelled(position):
    """The key and the value of every control."""
    settings = Settings(**position)
    return [(choice.key, choice.spell(getattr(settings, name))) for name, choice in choices()]


def taken(page, figure, kind):
    """The file that a button gives: its name and its bytes."""
    with page.expect_download() as download:
        page.locator(f"[data-take={figure}][data-kind={kind}]").click()
    file = download.value.suggested_filename
    notice = page.locator(f".take:has([data-take={figure}]) + .take-said")
    expect(notice).to_have_text(words.fill("take_saved", file=file))
    return file, download.value.path().read_bytes()


def table(content):
    """The comment lines of a CSV file, and its rows by column."""
    lines = content.decode().splitlines()
    comments = [line.removeprefix("# ") for line in lines if line.startswith("#")]
    assert lines[: len(comments)] == [f"# {comment}" for comment in comments]
    return comments, list(csv.DictReader(lines[len(comments) :]))


def name_of(figure):
    """What a figure's files are called at the position."""
    parts = [f"kvsim-{figure}", *(f"{key}-{value}" for key, value in spelled(POSITION))]
    return "_".join([*parts, "t-60.0"] if figure == "cache" else parts)


@pytest.mark.parametrize("figure", FIGURES)
def test_numbers_say_what_they_are_of(page, figure):
    file, content = taken(page, figure, "csv")
    assert file == f"{name_of(figure)}.csv"
    comments, rows = table(content)
    assert version("kvsim") in comments[0]
    assert f"seed {constants()['seed']}" in comments[0]
    settings = " ".join(f"{key}={value}" for key, value in spelled(POSITION))
    assert comments[1] == f"settings: {settings}"
    assert comments[2] == f"link: {page.url}"
    assert rows


def test_the_left_charts_numbers(page):
    _, rows = table(taken(page, "capacity", "csv")[1])
    assert [row["allocation"] for row in rows] == list(KINDS)
    for row in rows:
        side = getattr(read_at(**POSITION), row["allocation"])
        assert float(row["requests_that_fit"]) == side.requests
        assert float(row["share_of_reserved_cache_holding_tokens"]) == side.share


def test_the_right_charts_numbers(page):
    _, rows = table(taken(page, "ttft", "csv")[1])
    assert [float(row["request_rate_per_s"]) for row in rows] == values("rate")
    for row in rows:
        reading = read_at(**{**POSITION, "rate": int(row["request_rate_per_s"])})
        for kind in KINDS:
            side = getattr(reading, kind)
            written = [float(row[f"{kind}_ttft_{part}_s"]) for part in ("p10", "median", "p90")]
            assert written == [float(each) for each in side.ttft_s]
            assert float(row[f"{kind}_sustained_per_s"]) == side.sustained_per_s
            bound = [RESOURCES[place] for place in binding(side.saved)]
            assert row[f"{kind}_binds"] == ("+".join(bound) or "none")


def test_the_drawings_numbers(page):
    comments, rows = table(taken(page, "cache", "csv")[1])
    assert "time_s: 60.0" in comments
    reading = read_at(**POSITION)
    for kind in KINDS:
        own = [row for row in rows if row["allocation"] == kind]
        assert sum(float(row["tokens"]) for row in own) == reading.capacity_tokens
        assert sum(float(row["share_of_cache"]) for row in own) == pytest.approx(1)
        (held,) = [float(row["tokens"]) for row in own if row["part"] == "tokens"]
        assert held == getattr(reading, kind).cached_tokens
        assert {int(row["waiting"]) for row in own} == {getattr(reading, kind).waiting}


COLOURS = """async ([png, names]) => {
  const image = new Image();
  image.src = `data:image/png;base64,${png}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  const found = new Uint32Array(data.buffer);
  const counts = new Map();
  for (const pixel of found) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  return [image.width, image.height, names.map((name) => counts.get(looking.pixelOf(name)) ?? 0)];
}"""


@pytest.mark.parametrize(
    ("figure", "scheme"), [("capacity", "light"), ("ttft", "dark"), ("cache", "light")]
)
def test_pictures_are_whole(page, figure, scheme):
    """On paper of the reader's colour, with both allocations in theirs, large enough to print."""
    page.emulate_media(color_scheme=scheme)
    file, content = taken(page, figure, "png")
    assert file == f"{name_of(figure)}.png"
    assert content.startswith(b"\x89PNG\r\n")
    names = ["paper", "ink", "contiguous", "paged"]
    encoded = b64encode(content).decode()
    width, height, counts = page.evaluate(COLOURS, [encoded, names])
    chart = page.locator(f"#{figure}-figure").bounding_box()
    assert width >= 2 * min(chart["width"], 440)
    assert height >= 600
    paper, ink, contiguous, paged = counts
    assert paper > width * height / 4
    assert ink > 500
    assert contiguous > 500
    assert paged > 500


@pytest.mark.parametrize("figure", ["capacity", "ttft"])
def test_drawings_in_svg_are_whole(page, figure):
    """What is said is in it as text: the labels, the finding, the assumptions, where it is from."""
    file, content = taken(page, figure, "svg")
    assert file == f"{name_of(figure)}.svg"
    drawing = ET.fromstring(content)
    assert drawing.tag == f"{SVG}svg"
    assert float(drawing.get("width")) > 400
    assert float(drawing.get("height")) > 300
    written = " ".join(
        " ".join("".join(text.itertext()).split()) for text in drawing.iter(f"{SVG}text")
    )
    known = words_at(**POSITION)
    for text in (known[f"finding_{figure}"], known["assumptions"], known["seed"], version("kvsim")):
        assert " ".join(text.split()) in written
    labels = [f"bar_{kind}" for kind in KINDS]
    if figure == "ttft":
        labels = [f"point_{kind}" for kind in KINDS]
        curves = [p for p in drawing.iter(f"{SVG}path") if p.get("stroke-width") == "2.5"]
        assert len(curves) >= 2
    for label in labels:
        assert " ".join(words.fill(label, **known).split()) in written
    # Nothing in it is asked of anybody.
    assert b"href" not in content
    assert b"<image" not in content


def test_the_papers_figure_can_be_taken_too(page):
    """Its numbers are the table's, its drawing has a bar for each of them."""
    paper = load_results().paper.figures
    figures = [*paper["figure_2"], paper["first_fit"]]
    file, content = taken(page, "measured", "csv")
    assert file == "kvsim-measured.csv"
    comments, rows = table(content)
    assert version("kvsim") in comments[0]
    simulated = {row["system"]: row for row in rows if row["source"] == "simulated"}
    assert simulated.keys() == {row["system"] for row in figures}
    for row in figures:
        for part in ("token_states", "reserved", "internal", "rest"):
            written = float(simulated[row["system"]][f"{part}_percent"])
            assert written == pytest.approx(row[part], abs=0.051)
        assert float(simulated[row["system"]]["mean_batch"]) == pytest.approx(
            row["batch"], abs=0.01
        )
    drawing = ET.fromstring(taken(page, "measured", "svg")[1])
    texts = {"".join(text.itertext()) for text in drawing.iter(f"{SVG}text")}
    assert {row["token_states_percent"] for row in rows} <= texts
    assert {row["mean_batch"] for row in rows} <= texts
    assert taken(page, "measured", "png")[1].startswith(b"\x89PNG")


def test_making_a_picture_leaves_nothing_behind(page):
    before = page.evaluate("[Bokeh.documents.length, document.body.children.length]")
    taken(page, "ttft", "svg")
    taken(page, "capacity", "png")
    assert page.evaluate("[Bokeh.documents.length, document.body.children.length]") == before
    put(page, rate=9)
    file, _ = taken(page, "ttft", "csv")
    assert "_rate-9_" in file
    put(page, rate=22)
    wait_for_film(page, **POSITION)


def in_frame(page, sandbox, source):
    """A page that shows another in a frame; returns that one."""
    page.set_content(f"""<!doctype html><title>A lesson</title>
      <iframe {sandbox} srcdoc="" width="1200" height="780"></iframe>""")
    page.evaluate("source => (document.querySelector('iframe').srcdoc = source)", source)
    frame = page.frame_locator("iframe")
    frame.locator("html[data-films]").wait_for(state="attached")
    return page.frames[1]


def test_a_sandboxed_frame_offers_what_it_may_not_save(visits):
    page = visits.open(ready=False)
    plate = in_frame(page, 'sandbox="allow-scripts"', inlined_page(load_results(), Settings()))
    started = []
    page.on("download", lambda download: started.append(download))
    notice = plate.locator("#ttft-figure .take-said")
    for kind, element in (("csv", "textarea"), ("png", "img")):
        plate.locator(f"[data-take=ttft][data-kind={kind}]").click()
        shown = plate.locator("#ttft-figure .taken")
        plate.wait_for_selector(f"#ttft-figure {element}.taken")
        assert shown.count() == 1
        expect(notice).to_contain_text("This frame does not let the page save files")
        if kind == "csv":
            comments, rows = table(shown.input_value().encode())
            assert not any("about:" in comment for comment in comments), "it has no address"
            assert len(rows) == len(values("rate"))
        else:
            expect(shown).to_have_js_property("complete", True)
            assert shown.evaluate("each => each.naturalWidth") > 800
    assert started == []
    plate.get_by_role("button", name="Print handout").click()
    expect(plate.locator("#notice")).to_have_text(words.fill("print_blocked"))


def test_a_file_of_ones_own_gives_files_too(visits, tmp_path):
    """The page with everything inside, opened without any server."""
    place = tmp_path / "plate.html"
    place.write_text(inlined_page(load_results(), Settings()), "utf-8")
    visits.hosts.add("")
    page = visits.open(ready=False)
    page.goto(f"{place.as_uri()}?rate=9")
    page.wait_for_selector("html[data-films]", state="attached")
    file, content = taken(page, "ttft", "csv")
    assert "_rate-9_" in file
    assert len(table(content)[1]) == len(values("rate"))
    assert taken(page, "cache", "png")[1].startswith(b"\x89PNG")
    assert all(request.startswith(("file:", "data:", "blob:")) for request in visits.requests)


@pytest.mark.parametrize("what", ["citation", "bibtex"])
def test_citations_are_copied(visits, what):
    page = visits.open(permissions=["clipboard-read", "clipboard-write"])
    page.locator(f"#copy-{what}").click()
    expect(page.locator(f"#{what}-notice")).to_have_text(words.fill("text_copied"))
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == page.text_content(f"#{what}")
    assert version("kvsim") in copied
    assert "Running Out of Cache" in copied


def test_a_report_names_what_is_needed_to_see_the_mistake(visits):
    page = visits.open("?rate=9", permissions=["clipboard-read", "clipboard-write"])
    assert page.locator("#report").is_hidden()
    page.locator("#copy-report").click()
    expect(page.locator("#report-notice")).to_have_text(words.fill("text_copied"))
    report = page.evaluate("navigator.clipboard.readText()")
    assert report == page.text_content("#report")
    known = words_at(rate=9)
    for part in (
        *(version("kvsim"), known["seed"], page.url, page.evaluate("navigator.userAgent")),
        *(known["finding_ttft"], "rate=9 overhead=0", "1280 by 800"),
    ):
        assert part in report


def test_where_copying_is_refused_the_report_can_be_read(visits):
    page = visits.open(ready=False)
    page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', "
        "{ value: { writeText: () => Promise.reject(new Error('refused')) } });"
    )
    visits.go(page)
    page.locator("#copy-report").click()
    expect(page.locator("#report-notice")).to_have_text(words.fill("text_shown"))
    assert version("kvsim") in page.inner_text("#report")
