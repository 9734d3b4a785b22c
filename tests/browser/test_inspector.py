"""One request pointed out, by mouse, finger or arrow keys: where it lies in either cache."""

import pytest
from film_reading import DEFAULTS

from browser.filmed import both, filmed, go_to, open_film, place_of, read_film, wait_for_counts
from browser.visits import PHONE
from kvsim_app import words

TIME_S = 30
OTHER = {"contiguous": "paged", "paged": "contiguous"}


def text(page):
    return page.inner_text("#request-shown")


def table(page):
    rows = page.locator("#block-table tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def view(page, kind):
    return page.locator(f".cache-of-{kind} .cache-view")


@pytest.fixture
def film(read):
    page = read_film(read)
    go_to(page, TIME_S)
    wait_for_counts(page, both(), TIME_S)
    page.locator("#cache-contiguous").scroll_into_view_if_needed()
    return page


def sentences(request, time_s=TIME_S, **given):
    """What the page should say of a request, with the numbers of the simulation."""
    caches = both(**given)
    requests = caches["paged"].timeline.requests
    output = int(requests.output_tokens[request])
    said = [
        words.fill(
            "request_lengths",
            number=words.count(request + 1),
            prompt=words.tokens(int(requests.prompt_tokens[request])),
            output=words.tokens(output),
        )
    ]
    for kind, cache in caches.items():
        place = cache.place(time_s, request)
        if place is None:
            said.append(
                words.fill(f"{kind}_{'waits' if waits(cache, request, time_s) else 'absent'}")
            )
            continue
        reserved = len(place.units) * cache.timeline.allocation.unit_tokens
        said.append(
            words.fill(
                f"{kind}_holds",
                produced=words.count(place.cached_tokens - place.prompt_tokens + 1),
                output=words.count(output),
                tokens=words.tokens(place.cached_tokens),
                reserved=words.tokens(reserved),
                empty=words.tokens(reserved - place.cached_tokens),
                place=words.count(place.units[0]),
                blocks=words.fill(
                    "blocks_one" if len(place.units) == 1 else "blocks",
                    count=words.count(len(place.units)),
                ),
            )
        )
    return " ".join(said)


def waits(cache, request, time_s):
    """Whether it has arrived, and is neither running nor done."""
    q, stays = cache.clock.pass_at(time_s), cache.timeline.stays
    arrived = cache.timeline.requests.arrival_s[request] <= cache.timeline.pass_start_s(q)
    done = (stays.request == request) & ~stays.evicted & (stays.last_pass < q)
    return bool(arrived and not done.any() and cache.place(time_s, request) is None)


def rows(request, time_s=TIME_S, **given):
    """Its whole block table."""
    size = (DEFAULTS | given)["block_size"]
    place = filmed("paged", **given).place(time_s, request)
    return [
        [
            f"{words.count(index * size)} to {words.count(index * size + size - 1)}",
            words.count(unit),
            f"{min(size, place.cached_tokens - index * size)} of {size}",
        ]
        for index, unit in enumerate(place.units)
    ]


def check_shown(page, request, time_s=TIME_S, **given):
    """Text and block table are those of a request."""
    assert text(page) == sentences(request, time_s, **given)
    shown = table(page)
    if filmed("paged", **given).place(time_s, request) is None:
        assert shown == []
        return
    wanted = rows(request, time_s, **given)
    assert shown[0] == ["Positions", "Block", "Filled"]
    if len(wanted) <= 6:
        assert shown[1:] == wanted
    else:
        assert shown[1:] == [*wanted[:3], ["…", "…", "…"], *wanted[-3:]]


@pytest.mark.parametrize("kind", OTHER)
def test_arrow_keys_go_from_request_to_request(film, kind):
    running = [place.request for place in filmed(kind).places(TIME_S)]
    at = 0
    for key, step in (
        ("ArrowRight", 0),
        ("ArrowRight", 1),
        ("ArrowDown", 1),
        ("ArrowUp", -1),
        ("ArrowLeft", -1),
        ("ArrowLeft", -1),
        ("ArrowRight", 1),
    ):
        view(film, kind).press(key)
        at += step
        check_shown(film, running[at % len(running)])


@pytest.mark.parametrize("kind", OTHER)
def test_backwards_they_begin_with_the_newest(film, kind):
    view(film, kind).press("ArrowLeft")
    check_shown(film, filmed(kind).places(TIME_S)[-1].request)


def test_arrow_keys_do_not_scroll_the_page(film):
    view(film, "paged").focus()
    before = film.evaluate("scrollY")
    for _ in range(3):
        film.keyboard.press("ArrowDown")
    film.evaluate("() => new Promise(requestAnimationFrame)")
    assert film.evaluate("scrollY") == before


def test_tab_reaches_both_caches_and_says_what_keys_do(film):
    for kind in OTHER:
        cache = film.get_by_role("application", name=kind.capitalize())
        assert cache.count() == 1
        hint = film.locator(f"#{cache.get_attribute('aria-describedby')}").inner_text()
        assert "Arrow keys" in hint
        assert "Escape" in hint
        cache.focus()
        assert film.evaluate(
            f"document.activeElement.contains(document.querySelector('#cache-{kind}'))"
        )


@pytest.mark.parametrize("kind", OTHER)
def test_the_mouse_points_at_any_of_its_blocks(film, kind):
    cache = filmed(kind)
    shown = set()
    for place in cache.places(TIME_S)[::9]:
        start, stop = max(cache.spans(TIME_S, place.request), key=lambda span: span[1] - span[0])
        film.mouse.move(*place_of(film, kind, (start + stop) // 2))
        # Several tokens share a pixel, and the pointer finds one of them.
        shown.add(text(film))
        near = {sentences(each.request) for each in owners(cache, (start + stop) // 2, 8)}
        assert text(film) in near
    assert len(shown) > 3


def owners(cache, token, around):
    """The places that hold token positions near one."""
    size = cache.timeline.allocation.unit_tokens
    units = {(token + step) // size for step in range(-around, around + 1)}
    return [place for place in cache.places(TIME_S) if units & set(place.units)]


def test_the_empty_rest_of_a_region_is_its_requests_too(film):
    place = filmed("contiguous").places(TIME_S)[7]
    film.mouse.move(*place_of(film, "contiguous", place.units[0] * 8192 + 8000))
    check_shown(film, place.request)


def test_free_memory_is_nobodys(film):
    hint = text(film)
    film.mouse.move(*place_of(film, "paged", 400_000))
    assert text(film) == hint == words.fill("inspect_hint")
    assert table(film) == []


def test_the_mouse_lets_go_where_it_leaves(film):
    place = filmed("contiguous").places(TIME_S)[7]
    film.mouse.move(*place_of(film, "contiguous", place.units[0] * 8192 + 4000))
    check_shown(film, place.request)
    film.mouse.move(5, 5)
    assert text(film) == words.fill("inspect_hint")
    assert table(film) == []


def test_a_click_holds_it(film):
    place = filmed("contiguous").places(TIME_S)[7]
    film.mouse.click(*place_of(film, "contiguous", place.units[0] * 8192 + 4000))
    film.mouse.move(5, 5)
    check_shown(film, place.request)
    film.keyboard.press("ArrowRight")
    check_shown(film, filmed("contiguous").places(TIME_S)[8].request)


@pytest.mark.parametrize("kind", OTHER)
def test_escape_lets_go(film, kind):
    view(film, kind).press("ArrowRight")
    assert text(film) != words.fill("inspect_hint")
    film.keyboard.press("Escape")
    assert text(film) == words.fill("inspect_hint")
    assert table(film) == []


def test_a_tap_points(visits):
    page = open_film(visits, **PHONE)
    go_to(page, TIME_S)
    wait_for_counts(page, both(), TIME_S)
    page.locator("#cache-contiguous").scroll_into_view_if_needed()
    place = filmed("contiguous").places(TIME_S)[7]
    page.touchscreen.tap(*place_of(page, "contiguous", place.units[0] * 8192 + 4000))
    check_shown(page, place.request)


def test_what_is_said_is_announced(film):
    live = film.locator("#request-shown")
    assert live.get_attribute("aria-live") == "polite"
    assert live.inner_text() == words.fill("inspect_hint")


def test_the_block_table_says_whose_it_is(film):
    view(film, "paged").press("ArrowRight")
    request = filmed("paged").places(TIME_S)[0].request
    name = words.fill("block_table", number=words.count(request + 1))
    found = film.get_by_role("table", name=name)
    assert found.get_by_role("columnheader").all_inner_texts() == [
        words.fill(heading) for heading in ("positions", "block", "filled")
    ]
    assert found.get_by_role("rowheader").count() == len(table(film)) - 1


def test_nothing_below_moves_when_a_request_is_pointed_out(film):
    below = "document.getElementById('tables').offsetTop"
    before = film.evaluate(below)
    view(film, "paged").press("ArrowLeft")
    assert len(table(film)) > 1
    assert film.evaluate(below) == before


def test_one_that_waits_in_the_other_cache_says_so(film):
    requests = [place.request for place in filmed("paged").places(TIME_S)]
    newest = requests[-1]
    view(film, "paged").press("ArrowLeft")
    check_shown(film, newest)
    assert words.fill("contiguous_waits") in text(film)


def test_it_is_followed_through_the_film(film):
    """Scrubbed back and forth, also to where it has not yet come or is done."""
    view(film, "paged").press("ArrowRight")
    request = filmed("paged").places(TIME_S)[0].request
    absent = set()
    for time_s in (28, 31, 2, 55, 30):
        go_to(film, time_s)
        check_shown(film, request, time_s)
        absent.add(filmed("paged").place(time_s, request) is None)
    assert absent == {True, False}
    assert words.fill("paged_absent") in sentences(request, 2)


@pytest.mark.parametrize("size", [1, 16, 256])
def test_the_block_table_is_cut_where_it_is_long(read, size):
    page = read_film(read, f"?block={size}")
    go_to(page, TIME_S)
    wait_for_counts(page, both(block_size=size), TIME_S)
    lengths = set()
    for place in filmed("paged", block_size=size).places(TIME_S)[:8]:
        view(page, "paged").press("ArrowRight")
        check_shown(page, place.request, block_size=size)
        lengths.add(len(table(page)))
    assert max(lengths) == 8, "a heading, three rows, a gap, three rows"
    assert (min(lengths) < 8) == (size == 256)


def test_words_are_of_one_number(read):
    """One block is no blocks."""
    page = read_film(read, "?block=256")
    go_to(page, TIME_S)
    places = filmed("paged", block_size=256).places(TIME_S)
    (first, *_) = [index for index, place in enumerate(places) if len(place.units) == 1]
    for _ in range(first + 1):
        view(page, "paged").press("ArrowRight")
    assert len(table(page)) == 2
    assert "in 1 block," in text(page)
