"""The lists: other lengths come with an atlas of their own, and reservations with other words."""

import pytest
from playwright.sync_api import expect

from browser.expected import KINDS, check_page, words_at
from browser.hands import choose, put, slider
from kvsim_app import words
from kvsim_app.results.files import ATLASES
from kvsim_app.settings import values


def atlases_asked_for(visits):
    """The names of the atlases that were fetched, in order."""
    files = (url.rsplit("/", 1)[-1] for url in visits.requests)
    return [name for name in files if name.startswith("atlas-")]


@pytest.mark.parametrize("workload", [each for each in values("workload") if each != "exponential"])
def test_other_lengths_come_with_another_atlas(visits, page, workload):
    assert set(atlases_asked_for(visits)) == {"atlas-exponential.bin"}
    visits.requests.clear()
    choose(page, "workload", workload)
    check_page(page, workload=workload)
    assert atlases_asked_for(visits) == [ATLASES[workload].name]
    assert page.inner_text("#notice") == ""
    assert words.fill(f"workload_{workload}") in page.inner_text("#assumptions-line")
    # Everything else follows in it.
    put(page, rate=8, max_length=32768, block_size=64)
    check_page(page, workload=workload, rate=8, max_length=32768, block_size=64)


def test_what_was_fetched_is_kept(visits, page):
    choose(page, "workload", "sharegpt")
    check_page(page, film=False, workload="sharegpt")
    choose(page, "workload", "exponential")
    check_page(page)
    visits.requests.clear()
    choose(page, "workload", "sharegpt")
    check_page(page, film=False, workload="sharegpt")
    assert atlases_asked_for(visits) == []


def test_a_link_to_other_lengths_fetches_theirs(visits):
    page = visits.open("?work=azure-code&reserve=buddy-max")
    check_page(page, workload="azure-code", reservation="buddy-max")
    assert ATLASES["azure-code"].name in atlases_asked_for(visits)


def test_lengths_that_do_not_arrive_leave_the_others(visits, page):
    put(page, rate=30)
    check_page(page, rate=30)
    page.context.route("**/atlas-sharegpt.bin", lambda route: route.fulfill(status=500))
    choose(page, "workload", "sharegpt")
    expect(page.locator("#notice")).to_have_text(words.fill("workload_failed", reason="HTTP 500"))
    check_page(page, rate=30)
    assert len(visits.complaints) >= 1
    assert all("500" in complaint for complaint in visits.complaints)
    visits.complaints.clear()
    # The address does not keep what could not be shown.
    page.wait_for_function("() => location.search === '?rate=30'")
    # All of it still answers, and asks again when asked again.
    put(page, rate=20)
    check_page(page, rate=20)
    page.context.unroute("**/atlas-sharegpt.bin")
    choose(page, "workload", "sharegpt")
    check_page(page, film=False, rate=20, workload="sharegpt")
    assert page.inner_text("#notice") == ""


def test_damaged_lengths_leave_the_others(page):
    page.context.route("**/atlas-sharegpt.bin", lambda route: route.fulfill(body="no atlas"))
    choose(page, "workload", "sharegpt")
    expect(page.locator("#notice")).to_contain_text("could not be had")
    check_page(page)


def test_the_last_of_several_choices_counts(page):
    """Answers that come late and in another order change nothing."""
    waiting = []
    page.context.route("**/atlas-sharegpt.bin", lambda route: waiting.append(route))
    choose(page, "workload", "sharegpt")
    page.wait_for_timeout(100)
    slider(page, "rate").press("ArrowRight")
    slider(page, "rate").press("ArrowRight")
    choose(page, "workload", "azure-code")
    check_page(page, film=False, workload="azure-code", rate=20)
    assert waiting
    for route in waiting:
        route.continue_()
    page.wait_for_timeout(500)
    check_page(page, film=False, workload="azure-code", rate=20)
    slider(page, "rate").press("End")
    check_page(page, film=False, workload="azure-code", rate=40)


@pytest.mark.parametrize("reservation", values("reservation"))
def test_chart_words_and_drawing_follow_a_reservation(page, reservation):
    if reservation != "slots":
        choose(page, "reservation", reservation)
    check_page(page, reservation=reservation)
    known = words_at(reservation=reservation)
    assert page.text_content("#reservation-note") == known["reservation_note"]
    assert known["reserving"] in page.text_content("#capacity-figure figcaption")
    for kind in KINDS:
        page.wait_for_function("id => looking.colours(id) > 3", arg=f"cache-{kind}")
    # Paged allocation does not know of it.
    assert known["paged_fit"] == words_at()["paged_fit"]
    if not known["reservation_note"]:
        return  # the maximum: as many as slots, or nearly
    assert known["contiguous_fit"] != words_at()["contiguous_fit"]


def test_the_oracle_is_called_one(page):
    note = page.locator("#reservation-note")
    expect(note).to_have_text("")
    choose(page, "reservation", "firstfit-oracle")
    expect(note).to_contain_text("An oracle")
    choose(page, "reservation", "buddy-pow2")
    expect(note).to_contain_text("within a factor of two")
    page.get_by_role("button", name="Reset").click()
    check_page(page)
    expect(note).to_have_text("")


def test_the_keyboard_chooses(page):
    page.locator("#reservation").focus()
    page.keyboard.press("ArrowDown")
    check_page(page, reservation="buddy-max")
    page.keyboard.press("End")
    check_page(page, reservation="firstfit-oracle")


def test_reset_brings_the_plates_own_lengths_back(page):
    put(page, workload="azure-conversation", reservation="buddy-oracle", rate=6)
    check_page(page, film=False, workload="azure-conversation", reservation="buddy-oracle", rate=6)
    page.get_by_role("button", name="Reset").click()
    check_page(page)


def test_where_both_wait_alike_one_label_says_so(page):
    """At one request per second nobody waits for memory."""
    position = {"rate": 1, "max_length": 1024}
    known = words_at(**position)
    assert known["contiguous_ttft"] == known["paged_ttft"]
    put(page, **position)
    check_page(page, **position)
    sources = page.evaluate("looking.sources()")
    labels = [sources[f"chosen_{kind}"]["text"][0] for kind in KINDS]
    assert sorted(labels) == ["", words.fill("point_both", **known)]
