"""What is drawn of a film: every owner at its address, full bars, a mark for each who waits."""

import math

import numpy as np
import pytest
from film_reading import KINDS

from browser.expected import picture
from browser.filmed import (
    EDGE_PX,
    END_S,
    GAP_PX,
    LEAST_BLOCK_PX,
    both,
    filmed,
    geometry,
    go_to,
    open_film,
    read_film,
    shown_counts,
    wait_for_counts,
)
from kvsim_app import words
from kvsim_app.allocations import SERVER

MARK_PX = 3
OPAQUE = 0xFF


def strip_of(page, kind):
    """The drawing's pixels in order of address, and how many tokens each stands for."""
    columns, lines, line, scale = geometry(page, kind)
    colours, lengths = page.evaluate(
        "([id, line, pitch]) => looking.strip(id, line, pitch)",
        [f"cache-{kind}", line, line + round(GAP_PX * scale)],
    )
    strip = np.repeat(np.array(colours), lengths)
    assert len(strip) == columns * line * lines
    return strip, SERVER.capacity_tokens / len(strip)


def choose(page, kind, steps):
    """Point out a running request from the keyboard."""
    view = page.locator(f".cache-of-{kind} .cache-view")
    for _ in range(steps):
        view.press("ArrowRight")


def inked(page, kind):
    """Which pixels have the colour of a request that is pointed out."""
    strip, per_pixel = strip_of(page, kind)
    ink = page.evaluate("looking.pixelOf('ink')")
    return set(np.flatnonzero(strip == ink).tolist()), per_pixel


def pixels_of(spans, per_pixel, edged):
    """Pixels that such token positions fill, and those that they touch at all."""
    filled, touched = set(), set()
    for start, stop in spans:
        edge = min(EDGE_PX * per_pixel, stop - start) if edged else 0
        first, last = (start + edge) / per_pixel, stop / per_pixel
        filled |= set(range(math.ceil(first + 1e-6), math.floor(last - 1e-6)))
        touched |= set(range(math.floor(first - 1e-6), math.ceil(last + 1e-6)))
    return filled, touched


@pytest.mark.parametrize(
    ("chosen_in", "given"),
    [
        ("contiguous", {}),
        ("contiguous", {"max_length": 1024, "rate": 40}),
        ("contiguous", {"max_length": 131072, "rate": 30}),
        ("paged", {}),
        ("paged", {"block_size": 1, "rate": 40}),
        ("paged", {"block_size": 256, "rate": 40}),
    ],
    ids=str,
)
def test_a_request_is_drawn_at_its_addresses_and_nowhere_else(read, chosen_in, given):
    check_drawn(read_film(read, address(given)), chosen_in, given)


def test_on_a_finer_screen_in_the_dark_too(visits):
    page = open_film(visits, color_scheme="dark", device_scale_factor=2)
    check_drawn(page, "paged", {})


def check_drawn(page, chosen_in, given):
    go_to(page, 42)
    caches = both(**given)
    wait_for_counts(page, caches, 42)
    choose(page, chosen_in, 3)
    request = caches[chosen_in].places(42)[2].request
    assert page.inner_text("#request-shown").startswith(f"Request {words.count(request + 1)}:")
    for kind, cache in caches.items():
        here, per_pixel = inked(page, kind)
        if cache.place(42, request) is None:
            assert here == set(), kind
            continue
        edged = kind == "paged" and given.get("block_size", 16) / per_pixel >= LEAST_BLOCK_PX
        filled, touched = pixels_of(cache.spans(42, request), per_pixel, edged)
        assert filled <= here <= touched, kind
    # Something of it is wide enough to be seen whole.
    assert len(inked(page, chosen_in)[0]) > 20


def address(given):
    keys = {"block_size": "block", "max_length": "maxlen", "rate": "rate"}
    return "?" + "&".join(f"{keys[name]}={value}" for name, value in given.items())


@pytest.mark.parametrize(("size", "edges"), [(256, True), (16, False)])
def test_blocks_show_their_edges_where_there_is_room(read, size, edges):
    page = read_film(read, f"?block={size}&rate=40")
    wait_for_counts(page, both(block_size=size, rate=40), END_S)
    strip, per_pixel = strip_of(page, "paged")
    light = page.evaluate("looking.pixelOf('paged-empty')")
    places = filmed("paged", block_size=size, rate=40).places(END_S)
    # Without last blocks, which may be hardly begun.
    starts = np.array([unit * size for place in places for unit in place.units[:-1]])
    found = strip[np.ceil(starts / per_pixel).astype(int)] == light
    assert len(found) > 500
    assert found.all() if edges else not found.any()


def test_every_token_position_has_the_colour_of_its_use(visits):
    """The whole contiguous cache, region by region."""
    page = open_film(visits, "?rate=40", device_scale_factor=2)
    go_to(page, 42)
    cache = filmed("contiguous", rate=40)
    wait_for_counts(page, both(rate=40), 42)
    strip, per_pixel = strip_of(page, "contiguous")
    names = ("contiguous", "contiguous-tint", "contiguous-soft", "contiguous-empty", "free")
    colours = {name: page.evaluate("name => looking.pixelOf(name)", name) for name in names}
    uses = []
    for place in cache.places(42):
        start = place.units[0] * 8192
        output = int(cache.timeline.requests.output_tokens[place.request])
        length = start + place.prompt_tokens + output
        cached = start + place.cached_tokens
        tone = "contiguous-tint" if place.request % 2 else "contiguous"
        uses += [(tone, start, cached), ("contiguous-soft", cached, length)]
        # Hatched: the paper between, and strokes in the tint.
        uses.append((("contiguous-empty", "contiguous-tint"), length, start + 8192))
    uses.append(("free", 52 * 8192, SERVER.capacity_tokens))
    for use, start, stop in uses:
        filled, _ = pixels_of([(start, stop)], per_pixel, edged=False)
        allowed = {colours[name] for name in ([use] if isinstance(use, str) else use)}
        assert set(np.unique(strip[sorted(filled)]).tolist()) <= allowed, (use, start, stop)
    assert sum(stop - start for _, start, stop in uses) == SERVER.capacity_tokens


@pytest.mark.parametrize("size", [1, 256])
@pytest.mark.parametrize("length", [1024, 131072])
def test_all_of_it_is_drawn_at_the_sliders_ends(read, size, length):
    given = {"block_size": size, "max_length": length, "rate": 40}
    page = read_film(read, address(given))
    before = {kind: picture(page, f"cache-{kind}") for kind in KINDS}
    go_to(page, 20)
    wait_for_counts(page, both(**given), 20)
    for kind in KINDS:
        assert picture(page, f"cache-{kind}") != before[kind]
        strip, _ = strip_of(page, kind)
        assert np.all(strip >> 24 == OPAQUE), "a pixel that nothing was drawn in"


@pytest.mark.parametrize(
    ("given", "time_s"),
    [({}, 30), ({}, END_S), ({"rate": 40}, 12.5), ({"max_length": 131072}, 40), ({"rate": 2}, 0)],
    ids=str,
)
def test_a_bars_segments_are_as_wide_as_its_parts(read, given, time_s):
    page = read_film(read, address(given))
    go_to(page, time_s)
    caches = both(**given)
    for kind, cache in caches.items():
        whole = page.locator(f"#parts-{kind}").bounding_box()
        segments = [each.bounding_box() for each in page.locator(f"#parts-{kind} > i").all()]
        q = cache.clock.pass_at(time_s)
        shares = [0, 1] if q is None else cache.shares(time_s)
        assert len(segments) == len(shares), kind
        left = whole["x"]
        for segment, share in zip(segments, shares, strict=True):
            assert abs(segment["x"] - left) < 0.1, "a gap"
            assert abs(segment["width"] - share * whole["width"]) < 0.1
            left += segment["width"]
        assert abs(left - whole["x"] - whole["width"]) < 0.1, "the bar is not full"
        key = page.locator(f"#key-{kind} li").all_inner_texts()
        assert len(key) == len(shares)
        for text, share in zip(key, shares, strict=True):
            assert text.endswith(words.percent(share)), (text, share)


@pytest.mark.parametrize(
    ("given", "time_s"),
    [({}, 30), ({}, 5), ({"max_length": 131072, "rate": 40}, END_S), ({"rate": 40}, END_S)],
    ids=str,
)
def test_who_waits_is_counted_and_has_a_mark(read, given, time_s):
    page = read_film(read, address(given))
    go_to(page, time_s)
    caches = both(**given)
    wait_for_counts(page, caches, time_s)
    for kind, cache in caches.items():
        queue = page.locator(f"#queue-{kind}")
        row = queue.locator("..").bounding_box()
        width = page.evaluate("id => document.getElementById(id).offsetWidth", f"queue-{kind}")
        waiting = cache.waiting(time_s)
        assert abs(width - min(MARK_PX * waiting, row["width"])) < 1, (kind, waiting)
        assert shown_counts(page)[kind].endswith(f"waiting {words.count(waiting)}")


def test_some_of_these_queues_are_empty_and_some_too_long():
    waiting = [filmed("contiguous").waiting(30), filmed("paged").waiting(30)]
    assert waiting[0] > 50
    assert waiting[1] == 0
    assert filmed("contiguous", max_length=131072, rate=40).waiting(END_S) > 1000


def test_the_words_beside_it_state_what_is_drawn(read):
    page = read_film(read)
    go_to(page, 30)
    for kind, cache in both().items():
        tokens, *empty, free = cache.shares(30)
        label = page.get_attribute(f"#cache-{kind}", "aria-label")
        for text in (label, page.inner_text("#cache-finding")):
            assert words.percent(tokens) in text
            assert words.percent(sum(empty)) in text
        assert words.percent(free) in page.inner_text("#cache-finding")
    assert "30\u202fs" in page.inner_text("#cache-finding")
