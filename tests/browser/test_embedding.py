"""The plate in other people's pages: the line that puts it there, and the height it announces."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from browser.expected import wait_for_words
from browser.hands import put
from browser.hosting import host, lesson
from kvsim_app.paths import TEMPLATES

README = Path(__file__).parents[2] / "README.md"
SNIPPET = (TEMPLATES / "host-snippet.html").read_text("utf-8")
# Of an iframe, Canvas keeps these in whatever a teacher writes (canvas_sanitize.rb); Moodle keeps
# all that a teacher writes into a page or an activity's description.
KEPT = {
    *("src", "width", "height", "name", "align", "frameborder", "scrolling", "sandbox"),
    *("allowfullscreen", "title", "style", "class", "id", "role", "lang", "dir"),
}
LISTENING = """<script>
  const heard = [];
  addEventListener("message", ({ data }) => heard.push(data));
</script>"""


class Frame(HTMLParser):
    """The one element of a line, with its attributes."""

    def __init__(self, line):
        super().__init__()
        self.attributes = {}
        self.feed(line)

    def handle_starttag(self, tag, attributes):
        assert tag == "iframe"
        self.attributes = dict(attributes)


@pytest.fixture(scope="module")
def author(browser, plate):
    """The page of somebody who wants the plate in a page of their own."""
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"{plate}?rate=30&block=64")
    page.wait_for_selector("html[data-ready]", state="attached")
    yield page
    context.close()


def test_the_line_has_these_settings_and_only_what_platforms_keep(author, plate):
    frame = Frame(author.inner_text("#embed-line")).attributes
    assert set(frame) <= KEPT
    assert frame["title"]
    assert frame["src"] == f"{plate}?block=64&rate=30&embed=1&show=workshop"


def test_a_section_comes_with_the_line_when_its_controls_have_been_moved(visits, plate):
    page = visits.open()
    page.get_by_role("slider", name="Samples of each prompt").press("End")
    query = "?samples=8&embed=1&show=workshop,sharing"
    assert Frame(page.inner_text("#embed-line")).attributes["src"] == plate + query
    page.get_by_role("button", name="Reset").click()
    assert Frame(page.inner_text("#embed-line")).attributes["src"].endswith("show=workshop")
    # In a frame the line is for what the frame shows.
    visits.go(page, query)
    assert Frame(page.inner_text("#embed-line")).attributes["src"] == plate + query
    visits.go(page, "?rate=30&embed=1")
    assert Frame(page.inner_text("#embed-line")).attributes["src"] == plate + "?rate=30&embed=1"


def test_parts_controls_and_theme_can_be_chosen_for_it(author, plate):
    author.locator("#embed-parts").get_by_label("Workshop").uncheck()
    author.get_by_label("The cache, drawn to scale").check()
    author.get_by_label("The tables", exact=True).check()
    author.locator("#embed-hidden").get_by_label("without request rate").check()
    author.get_by_label("Theme").select_option("dark")
    src = Frame(author.inner_text("#embed-line")).attributes["src"]
    assert src == f"{plate}?block=64&rate=30&embed=1&show=cache,tables&hide=rate&theme=dark"
    offered = author.eval_on_selector_all("#embed-parts input", "all => all.map((x) => x.value)")
    assert {"workshop", "charts", "cache", "tables"} <= set(offered)
    assert not {"essay", "terms"} & set(offered)


def test_the_button_copies_it(author):
    author.get_by_role("button", name="Embed", exact=True).click()
    author.wait_for_function("() => document.getElementById('notice').textContent !== ''")
    assert "has been copied" in author.inner_text("#notice")
    assert author.evaluate("navigator.clipboard.readText()") == author.inner_text("#embed-line")


def test_the_page_shows_the_script_that_is_tested_here(author):
    assert author.text_content("#host-snippet").strip() == SNIPPET.strip()
    assert len(SNIPPET.strip().splitlines()) <= 15
    assert SNIPPET.strip() in README.read_text("utf-8")


def test_the_frame_becomes_as_high_as_the_plate(visits, author):
    """From another origin, with the line and the script as the page gives them."""
    line = re.sub("&?(show|hide|theme)=[a-z,]+", "", author.inner_text("#embed-line"))
    with host(lesson(f"{LISTENING}{line}{SNIPPET}")) as address:
        visits.hosts.add(address.split("/")[2])
        page = visits.open(ready=False)
        page.goto(address)
        page.frame_locator("iframe").locator("html[data-films]").wait_for(state="attached")
        plate = page.frames[1]
        wait_for_words(plate, rate=30, block_size=64)
        whole = fitted(page, plate)
        assert whole > 600
        plate.get_by_text("The numbers as tables").click()
        page.wait_for_function("whole => heard.at(-2).height > whole", arg=whole)
        assert fitted(page, plate) > whole + 100
        plate.get_by_text("The numbers as tables").click()
        page.wait_for_function("whole => heard.at(-2).height <= whole + 1", arg=whole)
        assert abs(fitted(page, plate) - whole) <= 1
        # A narrow frame is a long one.
        page.set_viewport_size({"width": 420, "height": 800})
        page.wait_for_function("whole => heard.at(-2).height > whole + 200", arg=whole)
        fitted(page, plate)
        # Its own message, and Canvas's as the text that all its versions read.
        own, canvas = page.evaluate("[heard.at(-2), JSON.parse(heard.at(-1))]")
        assert own == {"kvsim": "height", "height": own["height"]}
        assert canvas == {"subject": "lti.frameResize", "height": own["height"]}
        # The way out of the frame leads to these settings.
        put(plate, rate=31)
        wait_for_words(plate, rate=31, block_size=64)
        whole_plate = plate.get_by_role("link", name="Open the whole plate")
        assert whole_plate.get_attribute("href") == f"{visits.plate}?block=64&rate=31"
        assert not plate.get_by_role("button", name="Embed", exact=True).is_visible()


def fitted(page, plate):
    """Wait until the frame is as high as the plate; then nothing is left to scroll. Its height."""
    page.wait_for_function(
        "() => document.querySelector('iframe').clientHeight === heard.at(-2)?.height"
    )
    plate.wait_for_function(
        "() => document.documentElement.scrollHeight <= document.documentElement.clientHeight"
    )
    return page.evaluate("document.querySelector('iframe').clientHeight")


def test_the_script_heeds_nobody_else(visits):
    """A message that no frame of the page has sent changes nothing, and neither does nonsense."""
    with host(lesson(f'<iframe srcdoc="" height="200"></iframe>{SNIPPET}')) as address:
        visits.hosts.add(address.split("/")[2])
        page = visits.open(ready=False)
        page.goto(address)
        page.evaluate(
            """() => {
              const frame = document.querySelector("iframe");
              postMessage({ kvsim: "height", height: 900 }, "*");
              const { parent } = frame.contentWindow;
              for (const data of [null, "text", { kvsim: "height", height: "<b>" },
                                  { kvsim: "height", height: -5 }, { height: 900 }]) {
                frame.contentWindow.eval("data => parent.postMessage(data, '*')")(data);
              }
              return new Promise((done) => setTimeout(done, 50));
            }"""
        )
        assert page.evaluate("document.querySelector('iframe').clientHeight") == 200
