"""Where no film is kept: a server makes it, and without one the page says what it shows instead."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from film_reading import DEFAULTS, KINDS, film_bytes
from serving import serving

from browser.expected import check_page, words_at
from browser.filmed import (
    END_S,
    both,
    counts_text,
    go_to,
    open_film,
    shown_counts,
    stop_time,
    unanswered,
    wait_for_counts,
    wait_for_films,
    wait_for_observers,
)
from browser.hands import slider, switch
from kvsim_app import words
from kvsim_app.results.files import FILMS
from kvsim_app.settings import choices, values

PLAYER = ("#play", "#step", "#clock", "#speed")


def note(page):
    return page.inner_text("#film-note")


def wait_for_note(page, text):
    page.wait_for_function(
        "text => document.getElementById('film-note').textContent === text", arg=text
    )


def put(page, name, value):
    slider(page, name).fill(str(values(name).index(value)))


def check_player(page, enabled):
    assert {page.locator(control).is_enabled() for control in PLAYER} == {enabled}


def check_still(page, **position):
    """The picture of the minute's end stands there, as the atlas has it; nothing can be played."""
    wanted = words_at(**position)
    for kind in KINDS:
        page.wait_for_function(
            "([id, label]) => document.getElementById(id).getAttribute('aria-label') === label",
            arg=[f"cache-{kind}", wanted[f"drawing_{kind}"]],
        )
        page.wait_for_function("id => looking.colours(id) > 3", arg=f"cache-{kind}")
        assert page.text_content("#cache-finding") == wanted["finding_cache"]
        assert shown_counts(page)[kind] == words.fill(
            "counts", running=wanted[f"{kind}_running"], waiting=wanted[f"{kind}_waiting"]
        )
    check_player(page, False)


@pytest.mark.parametrize(
    ("name", "value"), [("rate", 17), ("rate", 39), ("block_overhead", 3.7)], ids=str
)
def test_with_a_server_every_film_is_there(visits, name, value):
    page = open_film(visits)
    with page.expect_response(lambda response: "/film?" in response.url) as asked:
        if name == "rate":
            put(page, name, value)
        else:
            switch(page).check()
    assert asked.value.status == 200
    settings = DEFAULTS | {name: value}
    assert asked.value.body() == film_bytes(**settings)
    sent = parse_qs(urlsplit(asked.value.url).query)
    assert sent == {choice.key: [choice.spell(settings[each])] for each, choice in choices()}
    caches = both(**{name: value})
    wait_for_note(page, "")
    for time_s in (END_S, 25):
        go_to(page, time_s)
        wait_for_counts(page, caches, time_s)
    check_player(page, True)


def test_what_is_kept_is_asked_of_nobody(visits):
    page = open_film(visits)
    for rate in (20, 40, 1):
        put(page, "rate", rate)
        wait_for_counts(page, both(rate=rate), END_S)
        assert note(page) == ""
    assert not any("/film?" in url for url in visits.requests)


def test_a_slider_in_motion_asks_only_where_it_stops(visits):
    page = visits.open(ready=False)
    stop_time(page, visits)
    for rate in (19, 21, 23, 25, 29):
        put(page, "rate", rate)
        page.clock.run_for(50)
    assert not any("/film?" in url for url in visits.requests)
    with page.expect_response("**/film?*"):
        page.clock.run_for(1000)
    wait_for_note(page, "")
    page.clock.run_for(1000)
    wait_for_counts(page, both(rate=29), END_S)
    asked = [url for url in visits.requests if "/film?" in url]
    assert [parse_qs(urlsplit(url).query)["rate"] for url in asked] == [["29"]]


def test_an_answer_that_comes_too_late_is_not_shown(visits):
    page = open_film(visits)
    late = []
    page.context.route("**/film?*", lambda route: late.append(route))
    with page.expect_request("**/film?*"):
        put(page, "rate", 29)
    put(page, "rate", 4)
    wait_for_counts(page, both(rate=4), END_S)
    with page.expect_response("**/film?*") as answered:
        late[0].continue_()
    answered.value.finished()
    # By then the page has dealt with it: what it does next is done after that.
    page.evaluate("async () => { for (let n = 0; n < 5; n++) await new Promise(setTimeout); }")
    assert shown_counts(page) == {
        kind: counts_text(cache, END_S) for kind, cache in both(rate=4).items()
    }
    assert note(page) == ""


def test_an_answer_that_never_comes_is_asked_for_again(visits):
    page = visits.open(ready=False)
    stop_time(page, visits)
    # The page's own patience is of real time; here it ends at the test's word.
    page.evaluate("""() => void (AbortSignal.timeout = () => {
      const controller = new AbortController();
      window.losePatience = () => controller.abort();
      return controller.signal;
    })""")
    astray = []
    page.context.route("**/film?*", lambda route: astray.append(route))
    with page.expect_request("**/film?*"):
        put(page, "rate", 29)
        page.clock.run_for(1000)
    page.evaluate("losePatience()")
    wait_for_note(
        page,
        unanswered("film_rate", film_rate=words.rate(28)),
    )
    page.context.unroute("**/film?*")
    with page.expect_response("**/film?*"):
        page.clock.run_for(5000)
    wait_for_note(page, "")
    page.clock.run_for(1000)
    wait_for_counts(page, both(rate=29), END_S)
    assert len(astray) == 1


def test_a_window_that_changes_its_size_asks_for_no_film_again(visits):
    page = visits.open(ready=False)
    stop_time(page, visits)
    put(page, "rate", 29)
    for width in (900, 1100, 700):
        page.clock.run_for(60)
        page.set_viewport_size({"width": width, "height": 700})
        wait_for_observers(page)
    with page.expect_response("**/film?*"):
        page.clock.run_for(150)
    wait_for_note(page, "")
    assert sum("/film?" in url for url in visits.requests) == 1


@pytest.fixture
def orphan(visits):
    """The page with its films, and no server any more."""
    with serving() as served:
        visits.hosts.add(served.url.split("/")[2])
        page = visits.open(ready=False)
        visits.go(page, served.url)
        wait_for_films(page)
        served.stop()
    yield page
    # The browser itself says that the film could not be had; nothing else may be said.
    assert all("/film?" in complaint for complaint in visits.complaints), visits.complaints
    visits.complaints.clear()


def test_without_a_server_the_nearest_rate_is_shown_and_said(orphan):
    for rate, nearest in ((17, 16), (39, 38), (3, 2)):
        with orphan.expect_event("requestfailed", lambda request: "/film?" in request.url):
            put(orphan, "rate", rate)
        wait_for_counts(orphan, both(rate=nearest), END_S)
        assert note(orphan) == unanswered("film_rate", film_rate=words.rate(nearest))
        # All but the drawing says what the slider says.
        wrong = orphan.evaluate("wanted => looking.wrongWords(wanted)", words_at(rate=rate))
        assert set(wrong) <= {"finding_cache"}
        go_to(orphan, 33.3)
        wait_for_counts(orphan, both(rate=nearest), 33.3)
        go_to(orphan, END_S)
    put(orphan, "rate", 18)
    wait_for_counts(orphan, both(), END_S)
    assert note(orphan) == ""


def test_without_a_server_no_film_is_shown_with_the_charge(orphan):
    go_to(orphan, 30)
    with orphan.expect_event("requestfailed", lambda request: "/film?" in request.url):
        switch(orphan).check()
    check_still(orphan, block_overhead=3.7)
    assert note(orphan) == unanswered("film_missing")
    assert orphan.inner_text("#clock-shown").startswith("60")
    put(orphan, "max_length", 2048)
    check_still(orphan, block_overhead=3.7, max_length=2048)
    switch(orphan).uncheck()
    wait_for_counts(orphan, both(max_length=2048), END_S)
    assert note(orphan) == ""
    check_player(orphan, True)


DAMAGES = {
    "missing": {"status": 404},
    "empty": {"body": b""},
    "text": {"body": b"<!doctype html><p>Sorry."},
    "cut": {"body": FILMS.read_bytes()[:100_000]},
    "of another kind": {"body": b"\x78\x9c\xab\xae\xe5\x02\x00\x01\x7d\x00\x80"},
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_films_that_cannot_be_read_are_said_and_all_else_works(visits, damage):
    page = visits.open(ready=False)
    page.context.route("**/films.bin", lambda route: route.fulfill(**DAMAGES[damage]))
    visits.go(page)
    wait_for_films(page)
    if "status" in DAMAGES[damage]:  # which the browser itself complains about
        assert [complaint for complaint in visits.complaints if "404" not in complaint] == []
        visits.complaints.clear()
    notice = page.inner_text("#notice")
    assert re.fullmatch(r"The films could not be read \(.+\), so .*\.", notice)
    assert "on its way" not in note(page), "it will never come"
    check_page(page, film=False)
    check_still(page)
    put(page, "rate", 30)
    put(page, "block_size", 256)
    check_page(page, film=False, rate=30, block_size=256)
    check_still(page, rate=30, block_size=256)
    assert "on its way" not in note(page), "it will never come"
    page.get_by_role("button", name="Reset").click()
    check_page(page, film=False)


def test_until_the_films_have_come_the_minutes_end_is_shown(visits):
    page = visits.open(ready=False)
    waiting = []
    page.context.route("**/films.bin", lambda route: waiting.append(route))
    visits.go(page)
    assert note(page) == words.fill("film_loading")
    check_page(page, film=False)
    check_still(page)
    put(page, "rate", 30)
    check_page(page, film=False, rate=30)
    check_still(page, rate=30)
    for route in waiting:
        route.continue_()
    wait_for_films(page)
    wait_for_note(page, "")
    wait_for_counts(page, both(rate=30), END_S)
    check_player(page, True)


def test_the_film_begins_where_the_still_picture_was(visits):
    """It is of the same run: the drawing says the same before and after."""
    page = open_film(visits)
    check_page(page)
    check_player(page, True)


def test_the_kept_settings_that_are_nearest(workbench):
    """Exact where they are kept; another rate only, and none with a charge."""
    nearest = workbench.evaluate(
        """async settings => {
          const data = JSON.parse(document.getElementById("plate-data").textContent);
          const films = await kvsim.openFilms(await kvsim.bytesAt(data.files.films));
          return settings.map((each) => films.nearest(each));
        }""",
        [DEFAULTS | {"rate": rate} for rate in values("rate")]
        + [DEFAULTS | {"block_overhead": 3.7}],
    )
    *by_rate, charged = nearest
    assert charged is None
    for rate, found in zip(values("rate"), by_rate, strict=True):
        assert {**found, "rate": rate} == DEFAULTS | {"rate": rate}
        assert abs(found["rate"] - rate) <= (rate % 2 and rate > 1)
