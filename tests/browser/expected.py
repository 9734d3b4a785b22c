"""What Python says that the page should show, and whether the page shows it."""

import math
from contextlib import suppress
from functools import cache

import numpy as np
from playwright.sync_api import TimeoutError as Late

from browser.visits import PATIENCE_MS
from kvsim_app import words
from kvsim_app.reading import read
from kvsim_app.results.atlas import load
from kvsim_app.results.files import ATLASES
from kvsim_app.settings import Settings, choices, values

KINDS = ("contiguous", "paged")
CONTROLS = {
    name: {"label": choice.label, "key": choice.key, "id": name.replace("_", "-")}
    for name, choice in choices()
}
SLIDERS = [name for name, choice in choices() if choice.kind == "range"]
SELECTS = [name for name, choice in choices() if choice.kind == "select"]
DRAWINGS = {f"cache-{kind}": f"drawing_{kind}" for kind in KINDS}


@cache
def shipped_atlas(workload="exponential"):
    """The atlas that the page shows for a workload."""
    return load(ATLASES[workload])


@cache
def constants():
    """The words that no control changes."""
    atlas = shipped_atlas()
    return words.constant_words(atlas.constants, atlas.axes)


def read_at(**position):
    """The reading of a position; controls left out stand at their defaults."""
    settings = Settings(**position)
    return read(shipped_atlas(settings.workload), settings)


def words_at(**position):
    """The live words at a position; controls left out stand at their defaults."""
    return words.live_words(read_at(**position), constants())


def sources_at(**position):
    """The numbers in the charts' data sources at a position, NaN as None."""
    settings = Settings(**position)
    atlas = shipped_atlas(settings.workload)
    reading = read(atlas, settings)
    known = words_at(**position)
    at = {name: axis.index(getattr(settings, name)) for name, axis in atlas.axes.items()}
    simulated = {
        "contiguous": (at["reservation"], at["max_length"]),
        "paged": (at["block_overhead"], at["block_size"], at["max_length"]),
    }
    rates = atlas.axes["rate"]
    sources = {"chosen_rate": {"x": [settings.rate]}}
    for kind in KINDS:
        side = getattr(reading, kind)
        low, median, high = atlas.arrays[f"{kind}_ttft"][simulated[kind]].T.astype(float)
        steady = np.array(rates) <= side.sustained_per_s
        # The dashed part begins where the solid one ends.
        growing = np.append(~steady[1:], ~steady[-1])
        sources[f"ttft_{kind}"] = {
            "rate": rates,
            "low": low.tolist(),
            "high": high.tolist(),
            "steady": _with_gaps(median, steady),
            "growing": _with_gaps(median, growing),
        }
        sources[f"capacity_{kind}"] = {"requests": [side.requests]}
        sources[f"capacity_label_{kind}"] = {"text": [words.fill(f"bar_{kind}", **known)]}
        sources[f"chosen_{kind}"] = {"y": [side.ttft_s[1]], "text": [_point(kind, reading, known)]}
        beyond = "_beyond" if side.sustained_per_s > rates[-1] else ""
        sources[f"sustained_{kind}"] = {
            "x": [min(side.sustained_per_s, rates[-1])],
            "text": [words.fill(f"sustains{beyond}_{kind}", **known)],
        }
    return sources


def _point(kind, reading, known):
    """The label of a point; where both read alike the lower one has one for both."""
    if known["contiguous_ttft"] != known["paged_ttft"]:
        return words.fill(f"point_{kind}", **known)
    higher = reading.contiguous.ttft_s[1] >= reading.paged.ttft_s[1]
    if kind == ("contiguous" if higher else "paged"):
        return ""
    return words.fill("point_both", **known)


def _with_gaps(column, shown):
    return [value if there else None for value, there in zip(column.tolist(), shown, strict=True)]


def wait_for_words(page, **position):
    """Wait until the page says what it should at a position, or fail with the difference."""
    wanted = words_at(**position)
    with suppress(Late):  # what is wrong is said below
        page.wait_for_function(
            "wanted => looking.wrongWords(wanted).length === 0", arg=wanted, timeout=PATIENCE_MS
        )
    shown = page.evaluate("looking.words()")
    assert shown == {key: [wanted[key]] * len(shown[key]) for key in shown}


def wait_for_film(page, **position):
    """Wait until the film of a position is shown at the end of its minute.

    Then what is said of it is what the atlas says. A server may have to make it first; until the
    films have come the picture says the same, and after that the nearest one is shown, with a note.
    """
    wanted = words_at(**position)
    labels = {element: wanted[key] for element, key in DRAWINGS.items()}
    # A sentence may follow, where free memory lies in holes.
    holes = f"{wanted['finding_cache']} {words.fill('holes')}"
    with suppress(Late):
        page.wait_for_function(
            """([labels, findings]) =>
              "films" in document.documentElement.dataset &&
              document.getElementById("film-note").textContent === "" &&
              findings.includes(document.getElementById("cache-finding").textContent) &&
              Object.entries(labels).every(
                ([id, label]) => document.getElementById(id).getAttribute("aria-label") === label)
            """,
            arg=[labels, [wanted["finding_cache"], holes]],
            timeout=PATIENCE_MS,
        )
    shown = page.text_content("#cache-finding")
    assert shown in (wanted["finding_cache"], holes)
    assert page.text_content("#film-note") == ""
    assert {each: page.get_attribute(f"#{each}", "aria-label") for each in labels} == labels


def check_sources(page, **position):
    """The charts hold the atlas's numbers for a position."""
    shown = page.evaluate("looking.sources()")
    for name, columns in sources_at(**position).items():
        assert {column: shown[name][column] for column in columns} == columns, name


def check_shares(page, **position):
    """Each bar of the left chart is filled to the share in use: its thickness is 0.54."""
    reading = read_at(**position)
    shown = page.evaluate("looking.sources()")
    for kind, bottom in (("contiguous", 0.58), ("paged", -0.42)):
        share = (shown[f"capacity_{kind}"]["filled"][0] - bottom) / 0.54
        assert math.isclose(share, getattr(reading, kind).share, rel_tol=1e-9), kind


def check_page(page, *, film=True, **position):
    """Words, values beside the sliders, charts and their text alternatives follow a position.

    So does the film, unless none of these settings can be had.
    """
    wait_for_words(page, **position)
    # Other settings may have the same words: charts are drawn with the next frame.
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    check_sources(page, **position)
    check_shares(page, **position)
    wanted = words_at(**position)
    for name in SLIDERS:
        control = CONTROLS[name]
        assert page.inner_text(f"#{control['id']}-shown") == wanted[name]
        assert page.get_attribute(f"#{control['id']}", "aria-valuetext") == wanted[name]
    for name in SELECTS:
        value = position.get(name, Settings.param[name].default)
        selected = page.evaluate(
            "id => document.getElementById(id).selectedIndex", CONTROLS[name]["id"]
        )
        assert values(name)[selected] == value
    for element, key in (("capacity-chart", "chart_capacity"), ("ttft-chart", "chart_ttft")):
        assert page.get_attribute(f"#{element}", "aria-label") == wanted[key]
    if film:
        wait_for_film(page, **position)


def wait_for_picture(page, element, before):
    """Wait until something else is painted in an element than ``before``; return what."""
    page.wait_for_function(
        "([id, before]) => looking.picture(id) !== before", arg=[element, before]
    )
    return picture(page, element)


def picture(page, element):
    """A number for what is painted in an element."""
    return page.evaluate("id => looking.picture(id)", element)
