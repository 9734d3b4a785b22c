"""Printing: two pages of the settings on the screen, or all of the page as usual."""

import io

import pytest
from pypdf import PdfReader

from browser.conftest import LOOKING
from browser.expected import wait_for_film, words_at
from browser.hands import put
from browser.visits import PHONE, Visits
from kvsim_app import words
from kvsim_app.lessons import LESSONS

POSITIONS = (
    {},
    {"block_size": 256, "max_length": 131072, "rate": 40, "block_overhead": 3.7},
    {"workload": "azure-conversation", "reservation": "buddy-pow2", "rate": 12},
)


@pytest.fixture(scope="module")
def page(browser, plate):
    visits = Visits(browser, plate, LOOKING)
    page = visits.open()
    page.evaluate("window.print = () => (window.printed = document.documentElement.className)")
    yield page
    visits.close()


def printed(page, **options):
    """The pages of the PDF that is printed now, as texts without spaces of any kind."""
    document = PdfReader(io.BytesIO(page.pdf(print_background=True, **options)))
    return ["".join(each.extract_text().split()) for each in document.pages]


def spaceless(text):
    return "".join(text.split())


def handout(page, **options):
    """The pages that the button prints; a test's browser has no dialog to print with."""
    page.get_by_role("button", name="Print handout").click()
    assert page.evaluate("window.printed") == "handout"
    pages = printed(page, **options)
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("document.documentElement.className") == ""
    return pages


@pytest.mark.parametrize(
    ("paper", "position"), [*zip(("A4", "Letter", "Letter"), POSITIONS, strict=True)]
)
def test_the_handout_has_two_pages_with_the_present_numbers(page, paper, position):
    page.locator("#reset").click()
    put(page, **position)
    wait_for_film(page, **position)
    known = words_at(**position)
    pages = handout(page, format=paper)
    assert len(pages) == 2
    both = "".join(pages)
    for key in (
        *("finding_capacity", "finding_ttft", "assumptions", "fit_ratio", "contiguous_fit"),
        *("paged_fit", "paged_ttft", "contiguous_sustained_value", "block_size", "rate"),
    ):
        assert spaceless(known[key]) in both, key
    for sentence in (page.inner_text("#cache-finding"), page.inner_text(".lede")):
        assert spaceless(sentence) in both
    for card in LESSONS["cards"]:
        assert spaceless(words.fill(f"card_{card['name']}_title")).lower() in both.lower()
    assert spaceless(page.url) in both
    # What is for the screen, and what is for other occasions, is not on it.
    for other in ("Kilburn", "BibTeX", "Copylink", "TAKEMETOTHESTART", "NEXTEVENT"):
        assert other.lower() not in both.lower()


def test_a_phones_handout_has_two_pages_too(visits):
    page = visits.open("?rate=9", **PHONE)
    page.evaluate("window.print = () => (window.printed = document.documentElement.className)")
    wait_for_film(page, rate=9)
    pages = handout(page, format="A4")
    assert len(pages) == 2
    assert spaceless(words_at(rate=9)["finding_ttft"]) in "".join(pages)


def test_printing_as_usual_prints_the_whole_page(page):
    page.locator("#reset").click()
    wait_for_film(page)
    pages = printed(page, format="A4")
    assert 6 <= len(pages) <= 22
    everything = "".join(pages)
    for part in ("Kilburn", "Thelengthnobodyknows", "Questionsforaclass", "MITlicence"):
        assert part in everything
    # The answers are folded: on paper the questions are questions.
    assert "Divideandrounddown" not in everything
    assert "Printhandout".lower() not in everything.lower()
