"""Cards, presets and questions: their data are of this page, and what they say is so."""

import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from page_text import Page
from sampling import fresh_random

from kvsim_app import words
from kvsim_app.assets import (
    LINKED,
    TEACHER,
    inlined_page,
    linked_page,
    teachers_page,
)
from kvsim_app.languages import ENGLISH
from kvsim_app.lessons import (
    LESSONS,
    answer,
    asked,
    described_cards,
    described_presets,
    end_of,
    fields,
    judged,
    measure,
    query,
    seen,
    start_of,
)
from kvsim_app.reading import read
from kvsim_app.results.files import load_results
from kvsim_app.settings import NAMES, WORKLOADS, Settings, choices, values

CARDS = {card["name"]: card for card in LESSONS["cards"]}
PRESETS = {preset["name"]: preset for preset in LESSONS["presets"]}
ADDRESSES = {path: f"assets/{path.name}" for path in LINKED}


@pytest.fixture(scope="module")
def results():
    return load_results()


@pytest.fixture(scope="module")
def look(results):
    return lambda settings: read(results.atlases[settings.workload], settings)


@pytest.fixture(scope="module")
def constants(results):
    atlas = results.atlases["exponential"]
    return words.constant_words(atlas.constants, atlas.axes)


def random_settings(random):
    return Settings(**{name: random.choice(values(name)).item() for name in NAMES})


def test_there_are_four_to_six_cards():
    assert 4 <= len(CARDS) == len(LESSONS["cards"]) <= 6


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_a_card_moves_what_the_page_offers(card):
    assert card["goal"].keys() == card["start"].keys()
    assert not card["goal"].keys() & card["keep"].keys()
    for name, value in [*card["start"].items(), *card["goal"].items(), *card["keep"].items()]:
        assert value in values(name), (name, value)
    assert start_of(card, Settings()) is not None
    bounds = [below for _, below in card.get("answers", [("", None)])]
    assert bounds[-1] is None
    assert bounds[:-1] == sorted(bounds[:-1])
    for name, _ in card.get("answers", ()):
        assert words.fill(f"card_{card['name']}_{name}")
        assert f"card_{card['name']}_seen_{name}" in ENGLISH


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_a_card_asks_and_answers_wherever_the_controls_stand(card, look, constants):
    random = fresh_random()
    for _ in range(60):
        settings = random_settings(random)
        print({name: getattr(settings, name) for name in NAMES})
        start, end = look(start_of(card, settings)), look(end_of(card, settings))
        known = fields(card, end, start, constants)
        right = answer(card, end, start)
        for text in (asked(card, known), seen(card, right, known)):
            assert not re.search(r"[{}]|None|nan|undefined", text), text
        if "answers" not in card:
            # Whoever predicts rightly must be able to write it down.
            assert card["least"] <= right <= card["most"]
        # The controls that a card says nothing about stay where they are.
        for name in set(NAMES) - {*card["goal"], *card["keep"]}:
            assert getattr(end.settings, name) == getattr(settings, name)


def test_the_cards_answers_at_the_plates_own_settings(look, constants):
    """The argument of the plate: if one of these turns, the text around it is wrong."""
    right = {}
    for name, card in CARDS.items():
        start, end = look(start_of(card, Settings())), look(end_of(card, Settings()))
        right[name] = answer(card, end, start)
    reading = look(Settings(max_length=32768))
    assert right.pop("longest") == reading.contiguous.requests
    assert right.pop("queue") == look(Settings(rate=30)).contiguous.waiting
    assert right == {"oracle": "fewer", "blocks": "most", "limit": "keeps", "charge": "less"}
    described = {card["name"]: card for card in described_cards(look, Settings(), constants)}
    assert list(described) == list(CARDS)
    assert described["longest"]["right"] == words.count(reading.contiguous.requests)
    assert words.count(reading.contiguous.requests) in described["longest"]["seen"]
    assert described["charge"]["right"] == words.fill("card_charge_less")


@pytest.mark.parametrize(
    ("guess", "right", "verdict"),
    [
        (13, 13, "right"),
        (12, 13, "close"),
        (15, 13, "off"),
        (0, 0, "right"),
        (1, 0, "off"),
        (110, 100, "close"),
        (111, 100, "off"),
        ("fewer", "fewer", "right"),
        ("more", "fewer", "off"),
    ],
)
def test_a_prediction_is_judged(guess, right, verdict):
    assert judged(CARDS["longest"], guess, right) == verdict


def holds(claim, reading):
    value = measure(claim["measure"], reading)
    return claim.get("least", value) <= value <= claim.get("most", value)


@pytest.mark.parametrize("preset", PRESETS.values(), ids=PRESETS)
def test_a_preset_shows_what_its_text_claims(preset, look):
    reading = look(Settings(**preset["settings"]))
    assert preset["claims"]
    for claim in preset["claims"]:
        assert claim.keys() > {"measure"}, "a claim that excludes nothing"
        assert holds(claim, reading), claim
    # And it is a claim: not all of it is so wherever the controls stand.
    others = [look(Settings(**other["settings"])) for other in PRESETS.values()]
    assert not all(holds(claim, other) for other in others for claim in preset["claims"])


def test_a_presets_link_is_its_settings(look, constants):
    described = described_presets(look, constants, WORKLOADS)
    assert [each["name"] for each in described] == list(PRESETS)
    keys = {choice.key: (name, choice) for name, choice in choices()}
    for each in described:
        given = parse_qs(urlsplit(each["query"]).query)
        read_back = {}
        for key, (text,) in given.items():
            name, choice = keys[key]
            (read_back[name],) = [v for v in choice.objects if choice.spell(v) == text]
        assert read_back == PRESETS[each["name"]]["settings"]
    assert query(Settings()) == "?"


def test_a_page_offers_no_preset_that_it_has_not(look, constants):
    offered = described_presets(look, constants, ["exponential"])
    assert 0 < len(offered) < len(PRESETS)
    assert not any("work=" in each["query"] for each in offered)


@pytest.fixture(scope="module")
def teachers(results):
    return Page(teachers_page(results, ADDRESSES))


def test_the_teachers_page_says_what_the_presets_and_cards_show(teachers, look, constants):
    for each in described_presets(look, constants, WORKLOADS):
        link = teachers.one("a", id=f"preset-{each['name']}")
        assert link["href"] == f"./{each['query']}#workshop"
        assert link.text == each["text"]
    answers = teachers.one(id="card-answers").text
    for card in described_cards(look, Settings(), constants):
        assert card["seen"] in answers
        assert card["right"] in answers
    queries = {each["query"] for each in described_presets(look, constants, WORKLOADS)}
    for link in teachers.all("a", data_settings=...):
        assert link["data-settings"] in queries
    # A preset that is named in the text is one: else the macro gives no link.
    assert len(teachers.all("a", data_settings=...)) == len(PRESETS) + 6


def test_answers_are_folded_on_the_page_and_open_on_the_teachers(results, teachers):
    page = Page(linked_page(results, ADDRESSES))
    for where, unfolded in ((page, False), (teachers, True)):
        questions = [e for e in where.all("details") if "questions" in e.within]
        assert 5 <= len(questions) <= 10
        assert all(("open" in e.attributes) == unfolded for e in questions)
        assert all(len(e.text) > 80 for e in questions)
    assert page.all(id="teacher") == []
    assert page.one("a", id="to-teacher")["href"] == TEACHER


def test_a_page_with_everything_inside_holds_the_teachers_too(results):
    page = Page(inlined_page(results, Settings()))
    assert page.one(id="teacher").text
    assert page.one("a", id="to-teacher")["href"] == "#teacher"
    links = page.all("a", data_settings=...)
    assert links
    for link in links:
        assert link["href"] == f"{link['data-settings']}#workshop"


def test_no_number_of_a_question_is_typed_in(results, look):
    """With other results, the numbers in questions, cards and presets are others."""

    def text(some):
        pages = (Page(linked_page(some, ADDRESSES)), Page(teachers_page(some, ADDRESSES)))
        parts = [page.one(id=part).text for page in pages for part in ("questions",)]
        return "\n".join([*parts, pages[0].one(id="cards").text, pages[1].one(id="teacher").text])

    atlases = {
        workload: replace(
            atlas,
            arrays={
                name: (array * 0.43).astype(array.dtype)
                if name.split("_", 1)[-1] in ("requests", "share", "sustained", "waiting", "ttft")
                else array
                for name, array in atlas.arrays.items()
            },
        )
        for workload, atlas in results.atlases.items()
    }
    others = text(replace(results, atlases=atlases))
    said = text(results)
    for position in (
        *({}, {"max_length": 32768}, {"max_length": 2048}, {"rate": 30}, {"block_size": 256}),
        *({"reservation": "firstfit-oracle"}, {"block_size": 1, "block_overhead": 3.7}),
    ):
        reading = look(Settings(**position))
        for side in (reading.contiguous, reading.paged):
            for number in (
                words.count(side.requests),
                words.percent(side.share),
                words.rate(words.fixed(side.sustained_per_s, 1)),
            ):
                whole = rf"(?<![\d.\u202f]){re.escape(number)}(?![\d.\u202f]*\d)"
                if len(number) > 2 and re.search(whole, said):
                    assert not re.search(whole, others), (position, number)
