"""The cards: predict, move, see; by keyboard and by hand, wherever the controls stand."""

import pytest
from playwright.sync_api import expect
from sampling import fresh_random

from browser.conftest import LOOKING
from browser.expected import CONTROLS, constants, read_at, wait_for_words
from browser.hands import held, put, thumb
from browser.test_accessibility import violations
from browser.visits import Visits
from kvsim_app import words
from kvsim_app.lessons import (
    LESSONS,
    answer,
    asked,
    end_of,
    fields,
    judged,
    seen,
    start_of,
)
from kvsim_app.settings import NAMES, Settings, values

CARDS = {card["name"]: card for card in LESSONS["cards"]}


@pytest.fixture(scope="module")
def shared(browser, plate):
    """One page for all tests that leave its cards as they found them."""
    visits = Visits(browser, plate, LOOKING)
    yield visits.open()
    visits.close()


@pytest.fixture
def page(shared):
    """That page, at the plate's own settings, with no card begun."""
    begun = shared.locator("#cards [data-again]:not([hidden])")
    while begun.count():
        begun.first.click()
    shared.locator("#reset").click()
    return shared


def place(page, card):
    return page.locator(f"#card-{card['name']}")


def settings_at(**position):
    return Settings(**position)


def reading_of(settings):
    return read_at(**{name: getattr(settings, name) for name in NAMES})


def told(card, **position):
    """The right answer, the question and what is to be seen, for controls at a position."""
    settings = settings_at(**position)
    start, end = reading_of(start_of(card, settings)), reading_of(end_of(card, settings))
    known = fields(card, end, start, constants())
    right = answer(card, end, start)
    return right, asked(card, known), seen(card, right, known)


def sentence(card, guess, right, there):
    """What a finished card says."""
    shown = (
        words.fill(f"card_{card['name']}_{guess}") if isinstance(guess, str) else words.count(guess)
    )
    return f"{words.fill(f'card_{judged(card, guess, right)}', guess=shown)} {there}"


def predict(page, card, guess):
    """Choose or write a prediction, and commit to it, with the keyboard alone."""
    first = place(page, card).locator("input").first
    first.focus()
    if "answers" in card:
        page.keyboard.press("Space")
        for _ in range([name for name, _ in card["answers"]].index(guess)):
            page.keyboard.press("ArrowDown")
    else:
        page.keyboard.type(str(guess))
    page.keyboard.press("Enter")


def move_by_keyboard(page, name, value):
    """From where the focus is on to a control, and there to a value."""
    wanted = CONTROLS[name]["id"]
    for _ in range(20):
        if page.evaluate("looking.focused()") == [wanted]:
            break
        page.keyboard.press("Tab")
    assert page.evaluate("looking.focused()") == [wanted]
    if name == "block_overhead":
        page.keyboard.press("Space")
        return
    now = page.evaluate(f"Number(document.getElementById('{wanted}').value)")
    if name == "reservation":
        now = page.evaluate(f"document.getElementById('{wanted}').selectedIndex")
    steps = values(name).index(value) - now
    back, forth = ("ArrowUp", "ArrowDown") if name == "reservation" else ("ArrowLeft", "ArrowRight")
    for _ in range(abs(steps)):
        page.keyboard.press(forth if steps > 0 else back)


@pytest.mark.parametrize("card", CARDS.values(), ids=CARDS)
def test_a_card_is_done_by_keyboard(page, card):
    right, question, there = told(card)
    here = place(page, card)
    expect(here.locator("[data-ask]")).to_have_text(question)
    predict(page, card, right)
    assert here.locator("[data-start]").evaluate("each => each === document.activeElement")
    expect(here.locator(".card-said")).to_contain_text("Your prediction stands. Now set")
    assert here.locator("[type=submit]").is_hidden()
    assert here.locator("input:enabled").count() == 0
    page.keyboard.press("Enter")
    for name, value in card["goal"].items():
        move_by_keyboard(page, name, value)
    expect(here.locator(".card-said")).to_have_text(sentence(card, right, right, there))
    # It is said where the reader is, and only there.
    expect(page.locator("#notice")).to_contain_text(there)
    assert here.locator(".card-said").get_attribute("role") != "status"
    assert page.inner_text("#cards-done") == words.fill("cards_done", done=1, all=len(CARDS))


def test_a_card_is_done_by_dragging(page):
    card = CARDS["longest"]
    right, _, there = told(card)
    here = place(page, card)
    here.locator("input").fill("40")
    here.get_by_role("button", name="Commit").click()
    here.get_by_role("button", name="Take me to the start").click()
    # The slider to be moved has the focus, and so is in sight.
    assert page.evaluate("looking.focused()") == ["max-length"]
    with held(page, *thumb(page, "max_length", 8192)):
        page.mouse.move(*thumb(page, "max_length", 131072))
        page.wait_for_timeout(400)
        assert not here.evaluate("each => each.classList.contains('card-seen')")
        page.mouse.move(*thumb(page, "max_length", 32768))
    expect(here.locator(".card-said")).to_have_text(sentence(card, 40, right, there))


def test_cards_ask_wherever_the_controls_stand(page):
    random = fresh_random()
    for _ in range(4):
        position = {name: random.choice(values(name)).item() for name in NAMES}
        print(position)
        put(page, **position)
        wait_for_words(page, **position)
        for card in CARDS.values():
            _, question, _ = told(card, **position)
            expect(place(page, card).locator("[data-ask]")).to_have_text(question)


def test_a_card_is_done_wherever_the_controls_stand(page):
    """It names what is still to be set, also what it needs besides its own move."""
    card = CARDS["longest"]
    position = {"reservation": "buddy-pow2", "workload": "sharegpt", "rate": 7}
    put(page, **position)
    wait_for_words(page, **position)
    right, question, there = told(card, **position)
    here = place(page, card)
    expect(here.locator("[data-ask]")).to_have_text(question)
    predict(page, card, 999)
    said = here.locator(".card-said")
    expect(said).to_contain_text(CONTROLS["max_length"]["label"])
    expect(said).to_contain_text(words.shown("reservation", "slots"))
    put(page, max_length=32768)
    expect(said).not_to_contain_text(CONTROLS["max_length"]["label"])
    put(page, reservation="slots")
    expect(said).to_have_text(sentence(card, 999, right, there))
    # What was seen stays when the controls go elsewhere.
    put(page, max_length=1024)
    page.wait_for_timeout(400)
    expect(said).to_have_text(sentence(card, 999, right, there))


def test_the_start_can_be_had_before_predicting(page):
    put(page, rate=33, block_size=2)
    here = place(page, CARDS["queue"])
    here.get_by_role("button", name="Take me to the start").click()
    start = start_of(CARDS["queue"], Settings())
    wait_for_words(page, **{name: getattr(start, name) for name in NAMES})
    expect(here.locator(".card-said")).to_have_text(words.fill("card_at_start"))
    assert here.locator("input:enabled").count() == 1


def test_what_is_no_prediction_is_refused(page):
    here = place(page, CARDS["longest"])
    said = here.locator(".card-said")
    for given in ("", "abc", "-3", "12.5", "0", "1001", "1e3", "<b>9</b>", "９"):
        here.locator("input").fill(given)
        page.keyboard.press("Enter")
        wanted = words.fill("card_no_number", value=given, least=1, most=1000)
        expect(said).to_have_text(wanted if given else words.fill("card_none"))
        assert said.get_attribute("role") == "status"
        assert said.locator("*").count() == 0
        assert here.locator("input").evaluate("each => each === document.activeElement")
        assert here.locator("[type=submit]").is_visible()
    here.locator("input").fill("")


def test_a_choice_must_be_made(page):
    here = place(page, CARDS["blocks"])
    here.get_by_role("button", name="Commit").click()
    expect(here.locator(".card-said")).to_have_text(words.fill("card_none"))


def test_predictions_survive_reloading_until_they_are_taken_back(visits):
    page = visits.open()
    card, other = CARDS["longest"], CARDS["oracle"]
    right, _, there = told(card)
    predict(page, card, right)
    put(page, max_length=32768)
    expect(place(page, card).locator(".card-said")).to_have_text(
        sentence(card, right, right, there)
    )
    predict(page, other, "more")
    page.goto(visits.plate)
    page.wait_for_selector("html[data-ready]", state="attached")
    here = place(page, card)
    assert here.locator(".card-said").inner_text() == sentence(card, right, right, there)
    assert here.locator("input").input_value() == str(right)
    assert place(page, other).locator("input:checked").get_attribute("value") == "more"
    expect(place(page, other).locator(".card-said")).to_contain_text("Now set")
    here.get_by_role("button", name="Start again").click()
    assert here.locator("input").input_value() == ""
    assert here.locator("input").is_enabled()
    assert page.inner_text("#cards-done") == ""
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    assert here.locator("input").is_enabled()


def test_what_else_stands_in_the_sessions_storage_does_no_harm(shared):
    """Asked of the class, for any number of them, and not of a page each."""
    for kept in (
        *("{", "null", "[]", "7", '"x"', '{"longest": 3}', '{"longest": {"guess": 3}}'),
        '{"longest": {"guess": "abc", "seen": "<b>x</b>"}, "oracle": {"guess": "no such"}}',
        '{"longest": {"guess": "9", "seen": {"a": 1}}, "__proto__": {"guess": "1"}}',
    ):
        begun = shared.evaluate(
            """kept => {
              sessionStorage.setItem("a-test", kept);
              const data = JSON.parse(document.getElementById("plate-data").textContent);
              const words = new kvsim.Words(data.words, data.constants);
              const cards = new kvsim.Cards(data.cards, null, words, "a-test", () => {});
              sessionStorage.removeItem("a-test");
              return cards.cards.filter((card) => Object.keys(card.kept).length).length;
            }""",
            kept,
        )
        assert begun == 0, kept
    assert shared.locator("#cards .card-said *").count() == 0
    shared.reload()
    shared.wait_for_selector("html[data-ready]", state="attached")


def test_cards_work_where_nothing_can_be_kept(visits):
    page = visits.open(ready=False)
    page.add_init_script(
        "Object.defineProperty(window, 'sessionStorage', "
        "{ get() { throw new DOMException('denied', 'SecurityError'); } });"
    )
    visits.go(page)
    card = CARDS["longest"]
    right, _, there = told(card)
    predict(page, card, right)
    put(page, max_length=32768)
    expect(place(page, card).locator(".card-said")).to_have_text(
        sentence(card, right, right, there)
    )


def test_axe_finds_nothing_in_cards_begun_and_done(visits):
    page = visits.open(color_scheme="dark")
    predict(page, CARDS["longest"], 9)
    put(page, max_length=32768)
    expect(place(page, CARDS["longest"])).to_have_class("card card-seen")
    predict(page, CARDS["oracle"], "same")
    predict(page, CARDS["queue"], "x")
    page.locator("#questions summary").first.click()
    assert violations(page) == []


def test_on_paper_cards_are_questions(page):
    page.emulate_media(media="print")
    for card in CARDS.values():
        here = place(page, card)
        assert here.locator("[data-ask]").is_visible()
        assert here.locator("input").first.is_visible()
        assert here.get_by_role("button").count() == 0
    page.emulate_media(media="screen")
