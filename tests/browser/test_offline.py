"""The offline file: the whole page in one, wherever it is opened, asking nothing of anybody."""

import pytest
from sampling import fresh_random

from browser.conftest import LOOKING
from browser.expected import check_sources, wait_for_words
from browser.hands import put
from browser.hosting import frame_of, host, lesson
from browser.visits import INSIDE, Visits
from kvsim_app.__main__ import main
from kvsim_app.settings import values

START = {"block_size": 64, "rate": 30, "workload": "sharegpt"}
LINK = "https://elsewhere.example/plate/?block=64&rate=30&work=sharegpt&theme=dark#workshop"
# What a wary site sends: inline scripts and styles, an empty icon, and nothing from anywhere.
STRICT = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:"
MOST_BYTES = 3_000_000


class Apart(Visits):
    """Visits to what is named, with the network cut off: all else is refused, and fails."""

    def __init__(self, browser):
        super().__init__(browser, "http://nowhere.invalid/", LOOKING)
        self.named = set()

    def _allowed(self, url):
        return url.startswith(INSIDE) or url in self.named


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("offline") / "plate.html"
    assert main(["export", str(path), "--settings", LINK]) == 0
    return path


@pytest.fixture
def apart(browser):
    visits = Apart(browser)
    yield visits
    visits.close()


def from_disk(file, page, named):
    named.add(file.as_uri())
    page.goto(file.as_uri())
    return page.main_frame


def in_sandbox(file, page, named):
    """A frame that may run scripts and nothing else: it has no origin."""
    outer = file.with_name("lesson.html")
    outer.write_text(lesson('<iframe sandbox="allow-scripts" src="plate.html" width="1200">'))
    named.update((outer.as_uri(), file.as_uri()))
    page.goto(outer.as_uri())
    return page.frames[1]


def in_srcdoc(file, page, named):
    outer = file.with_name("outer.html")
    outer.write_text(lesson(frame_of(file.read_text("utf-8"), 'sandbox="allow-scripts"')))
    named.add(outer.as_uri())
    page.goto(outer.as_uri())
    return page.frames[1]


@pytest.mark.parametrize("way", [from_disk, in_sandbox, in_srcdoc])
def test_everything_works_and_nothing_is_asked(apart, file, way):
    page = apart.open(ready=False)
    plate = way(file, page, apart.named)
    check_plate(plate)
    assert set(apart.requests) <= apart.named


def test_it_works_under_a_strict_policy(apart, file):
    page = apart.open(ready=False)
    with host(file.read_text("utf-8"), {"Content-Security-Policy": STRICT}) as address:
        apart.named.add(address)
        page.goto(address)
        check_plate(page.main_frame)
    assert apart.requests == [address]


def check_plate(plate):
    """It opens as it was told to, follows its sliders as kvsim says, and plays its film."""
    plate.wait_for_selector("html[data-films]", state="attached")
    assert plate.get_attribute("html", "data-theme") == "dark"
    wait_for_words(plate, **START)
    random = fresh_random()
    for _ in range(2):
        moved = {
            name: random.choice(values(name)).item()
            for name in ("block_size", "max_length", "rate")
        }
        moved["block_overhead"] = random.choice(values("block_overhead")).item()
        moved["workload"] = random.choice(["exponential", "sharegpt"]).item()
        print(moved)
        put(plate, **moved)
        wait_for_words(plate, **moved)
        check_sources(plate, **moved)
    # Settings of which the file has the film.
    put(plate, block_size=16, max_length=8192, rate=20, block_overhead=0.0, workload="exponential")
    wait_for_words(plate, rate=20)
    plate.click("#reset")
    for drawn in ("capacity-chart", "ttft-chart", "cache-contiguous", "cache-paged"):
        plate.wait_for_function("id => looking.colours(id) > 3", arg=drawn)
    plate.fill("#clock", "100")
    plate.wait_for_function(
        "() => document.getElementById('clock-shown').textContent.startsWith('10')"
    )
    plate.click("#play")
    plate.wait_for_function("() => document.getElementById('clock').value > 110")


def test_the_file_is_small(file):
    assert file.stat().st_size < MOST_BYTES
