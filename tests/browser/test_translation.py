"""A further language is a word file and templates: nothing that is read comes from elsewhere."""

import re

import pytest
from made_up_language import NAME, made_up_language

from browser.conftest import LOOKING
from browser.visits import Visits
from kvsim_app.assets import STYLES, inlined_page, teachers_page
from kvsim_app.link import VIEW_KEYS
from kvsim_app.results.files import load_results
from kvsim_app.sections.controls import every_choice
from kvsim_app.settings import Settings, choices, values

# Names of things; what is for machines; what a link says in any language.
NO_PROSE = (
    r"https?://\S+|file://\S+|kvsim\S*|Llama 3 8B|BF16|H100 SXM|A100 SXM 40 GB|vLLM|Mozilla.*"
    r"|\w+=\S*|OPT-\w+|LLaMA-\w+|ShareGPT|Alpaca"
    r"|PNG|SVG|CSV|“[^”]*”|"
) + ", ".join([*(choice.key for _, choice in every_choice()), *VIEW_KEYS])
# Nor is this, or what a server says of another server, which it says in English.
READ = """() => {
  const CODE = "script, style, noscript, #bibtex, #embed, #host-snippet, #your-server";
  const texts = [];
  const add = (where, text) => text && text.trim() && texts.push([where, text.trim()]);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!node.parentElement.closest(CODE))
      add(node.parentElement.id || node.parentElement.className, node.textContent);
  }
  for (const element of document.body.querySelectorAll("*:not(#your-server *)")) {
    for (const name of ["aria-label", "aria-valuetext", "title", "alt", "placeholder"])
      add(`${element.id} ${name}`, element.getAttribute(name));
  }
  for (const each of window.Bokeh?.documents ?? []) {
    for (const model of each._all_models.values()) {
      add("axis", model.axis_label);
      if (model.data?.text) add(model.name, [...model.data.text].join(" "));
    }
  }
  return texts;
}"""


def english_left(page):
    """Where letters stand that the made-up language has not, and what they are."""
    return [
        f"{where}: {text}"
        for where, text in page.evaluate(READ)
        if re.search("[A-Za-z]{2,}", re.sub(NO_PROSE, "", text))
    ]


@pytest.fixture(scope="module")
def language(tmp_path_factory):
    return made_up_language(tmp_path_factory.mktemp("language"))


@pytest.fixture(scope="module")
def page(browser, plate, language, tmp_path_factory):
    """The page in the made-up language, as one file."""
    place = tmp_path_factory.mktemp("page") / "plate.html"
    place.write_text(inlined_page(load_results(), Settings(), language=language), "utf-8")
    visits = Visits(browser, plate, LOOKING)
    visits.hosts.add("")
    page = visits.open(ready=False)
    page.goto(f"{place.as_uri()}?rate=x&colour=red&block=3")
    page.wait_for_selector("html[data-films]", state="attached")
    yield page
    visits.close()


def test_no_english_is_left_as_the_page_opens(page):
    assert page.get_attribute("html", "lang") == NAME
    assert "block=3" in page.inner_text("#notice")
    assert page.inner_text("#rate-shown")
    assert english_left(page) == []


def test_numbers_are_written_in_its_way(page):
    assert "15,6" in page.inner_text("#readouts")
    assert "14,5" in page.inner_text("#readouts")
    assert "." not in page.inner_text("#readouts")


def test_no_english_comes_up_as_the_page_is_used(page):
    rates = values("rate")
    for rate in (12, 40):
        page.locator("#rate").fill(str(rates.index(rate)))
        page.wait_for_function("rate => looking.words().rate[0].startsWith(rate)", arg=str(rate))
        assert english_left(page) == []
    for name, choice in choices():
        if choice.kind == "select" and name != "workload":
            for value in choice.objects:
                page.locator(f"#{name.replace('_', '-')}").select_option(
                    index=choice.objects.index(value)
                )
                page.wait_for_timeout(50)
                assert english_left(page) == [], value
    page.locator("#block-overhead").check()
    page.locator("#card-longest input").fill("abc")
    page.locator("#card-longest [type=submit]").click()
    assert english_left(page) == []
    page.locator("#card-longest input").fill("13")
    page.locator("#card-longest [type=submit]").click()
    assert english_left(page) == []
    page.locator("#card-longest [data-start]").click()
    page.locator("#max-length").fill(str(values("max_length").index(32768)))
    page.locator("#card-longest.card-seen").wait_for()
    assert english_left(page) == []
    page.locator("#step").click()
    page.locator("#play").click()
    page.locator("#play").click()
    page.locator("[data-take=ttft][data-kind=csv]").click()
    page.wait_for_function("() => document.querySelector('#ttft-figure .take-said').textContent")
    for button in ("#copy-link", "#copy-report", "#copy-bibtex", "#reset"):
        page.locator(button).click()
        assert english_left(page) == [], button


def test_the_teachers_page_is_of_the_language(page, language, tmp_path):
    addresses = dict.fromkeys(STYLES, "data:text/css,")
    place = tmp_path / "teacher.html"
    place.write_text(teachers_page(load_results(), addresses, language), "utf-8")
    other = page.context.new_page()
    other.goto(place.as_uri())
    assert other.locator("#presets a").count() > 5
    assert english_left(other) == []
    other.close()
