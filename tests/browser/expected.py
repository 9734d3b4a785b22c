"""What Python says that the page should show, and whether the page shows it."""

import math
from contextlib import suppress
from functools import cache

import numpy as np
from playwright.sync_api import TimeoutError as Late

from kvsim_app import words
from kvsim_app.atlas import load
from kvsim_app.paths import ATLAS
from kvsim_app.reading import read
from kvsim_app.settings import Settings, choices, values

KINDS = ("contiguous", "paged")
CONTROLS = {
    name: {"label": choice.label, "key": choice.key, "id": name.replace("_", "-")}
    for name, choice in choices()
}
SLIDERS = [name for name in CONTROLS if len(values(name)) > 2]


@cache
def shipped_atlas():
    """The atlas that the page shows."""
    return load(ATLAS)


@cache
def constants():
    """The words that no control changes."""
    atlas = shipped_atlas()
    return words.constant_words(atlas.constants, atlas.axes)


def words_at(**position):
    """The live words at a position; controls left out stand at their defaults."""
    return words.live_words(read(shipped_atlas(), Settings(**position)), constants())


def sources_at(**position):
    """The numbers in the charts' data sources at a position, NaN as None."""
    atlas = shipped_atlas()
    settings = Settings(**position)
    reading = read(atlas, settings)
    at = {name: axis.index(getattr(settings, name)) for name, axis in atlas.axes.items()}
    simulated = {
        "contiguous": (at["max_length"],),
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
        sources[f"chosen_{kind}"] = {"y": [side.ttft_s[1]]}
        sources[f"sustained_{kind}"] = {"x": [min(side.sustained_per_s, rates[-1])]}
    return sources


def _with_gaps(column, shown):
    return [value if there else None for value, there in zip(column.tolist(), shown, strict=True)]


def wait_for_words(page, **position):
    """Wait until the page says what it should at a position, or fail with the difference."""
    wanted = words_at(**position)
    with suppress(Late):  # what is wrong is said below
        page.wait_for_function(
            "wanted => looking.wrongWords(wanted).length === 0", arg=wanted, timeout=10_000
        )
    shown = page.evaluate("looking.words()")
    assert shown == {key: [wanted[key]] * len(shown[key]) for key in shown}


def check_sources(page, **position):
    """The charts hold the atlas's numbers for a position."""
    shown = page.evaluate("looking.sources()")
    for name, columns in sources_at(**position).items():
        assert {column: shown[name][column] for column in columns} == columns, name


def check_shares(page, **position):
    """Each bar of the left chart is filled to the share in use: its thickness is 0.54."""
    reading = read(shipped_atlas(), Settings(**position))
    shown = page.evaluate("looking.sources()")
    for kind, bottom in (("contiguous", 0.58), ("paged", -0.42)):
        share = (shown[f"capacity_{kind}"]["filled"][0] - bottom) / 0.54
        assert math.isclose(share, getattr(reading, kind).share, rel_tol=1e-9), kind


def check_page(page, filmed=None, **position):
    """Words, values beside the sliders, charts and their text alternatives follow a position.

    The caches too, at the end of their film; without a server it can be that of another position.
    """
    wait_for_words(page, **position)
    check_sources(page, **position)
    check_shares(page, **position)
    wanted = words_at(**position)
    for name in SLIDERS:
        control = CONTROLS[name]
        assert page.inner_text(f"#{control['id']}-shown") == wanted[name]
        assert page.get_attribute(f"#{control['id']}", "aria-valuetext") == wanted[name]
    for element, key in (
        ("capacity-chart", "chart_capacity"),
        ("ttft-chart", "chart_ttft"),
    ):
        assert page.get_attribute(f"#{element}", "aria-label") == wanted[key]
    wait_for_drawings(page, filmed or position)


def wait_for_drawings(page, position):
    """Wait until both caches are those of a position: their film follows the sliders."""
    wanted = words_at(**position)
    for kind in KINDS:
        given = [f"cache-{kind}", wanted[f"drawing_{kind}"]]
        with suppress(Late):  # what is wrong is said below
            page.wait_for_function(
                "([id, label]) => document.getElementById(id).ariaLabel === label",
                arg=given,
                timeout=10_000,
            )
        assert page.get_attribute(f"#{given[0]}", "aria-label") == given[1]


def wait_for_picture(page, element, before):
    """Wait until something else is painted in an element than ``before``; return what."""
    page.wait_for_function(
        "([id, before]) => looking.picture(id) !== before", arg=[element, before]
    )
    return picture(page, element)


def picture(page, element):
    """A number for what is painted in an element."""
    return page.evaluate("id => looking.picture(id)", element)
