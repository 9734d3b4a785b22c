"""The link: it carries the settings, only those that differ, and survives what people do to it."""

import pytest

from browser.expected import CONTROLS, SLIDERS, check_page, words_at
from browser.hands import held, put, slider, switch, thumb
from kvsim_app.settings import values

MOVES = [
    ("block_size", 1, "?block=1"),
    ("block_size", 256, "?block=256"),
    ("max_length", 1024, "?maxlen=1024"),
    ("max_length", 131072, "?maxlen=131072"),
    ("rate", 40, "?rate=40"),
    ("rate", 7, "?rate=7"),
    ("workload", "sharegpt", "?work=sharegpt"),
    ("workload", "azure-conversation", "?work=azure-conversation"),
    ("workload", "azure-code", "?work=azure-code"),
    *(
        ("reservation", name, f"?reserve={name}")
        for name in values("reservation")
        if name != "slots"
    ),
]


def wait_for_address(page, search):
    """Wait until the address carries these settings, in whatever order."""
    page.wait_for_function(
        """wanted => {
          const sorted = (search) => search.slice(1).split("&").sort().join("&");
          return sorted(location.search) === sorted(wanted);
        }""",
        arg=search,
    )


@pytest.mark.parametrize(("name", "value", "search"), MOVES)
def test_a_control_goes_into_the_link_and_comes_back(read, name, value, search):
    page = read()
    put(page, **{name: value})
    wait_for_address(page, search)
    other = read(search)
    check_page(other, **{name: value})
    assert other.inner_text("#notice") == ""
    if name in SLIDERS:
        assert slider(other, name).input_value() == str(values(name).index(value))


def test_the_switch_goes_into_the_link_and_comes_back(read):
    page = read()
    switch(page).check()
    wait_for_address(page, "?overhead=3.7")
    other = read("?overhead=3.7")
    check_page(other, block_overhead=3.7)
    assert switch(other).is_checked()
    assert other.inner_text("#notice") == ""


def test_everything_at_once(read):
    page = read()
    put(page, block_size=2)
    put(page, max_length=2048)
    put(page, rate=33)
    switch(page).check()
    put(page, workload="azure-code", reservation="firstfit-pow2")
    address = "?block=2&maxlen=2048&rate=33&overhead=3.7&work=azure-code&reserve=firstfit-pow2"
    wait_for_address(page, address)
    other = read(address)
    check_page(
        other,
        block_size=2,
        max_length=2048,
        rate=33,
        block_overhead=3.7,
        workload="azure-code",
        reservation="firstfit-pow2",
    )


def test_what_is_back_at_its_default_leaves_the_link(page):
    put(page, rate=33)
    put(page, block_size=8)
    wait_for_address(page, "?block=8&rate=33")
    put(page, rate=18)
    wait_for_address(page, "?block=8")
    put(page, block_size=16)
    wait_for_address(page, "")


def test_moving_adds_nothing_to_the_history(page):
    before = page.evaluate("history.length")
    with held(page, *thumb(page, "rate", 18)):
        for rate in range(19, 41):
            page.mouse.move(*thumb(page, "rate", rate))
    wait_for_address(page, "?rate=40")
    put(page, block_size=4)
    wait_for_address(page, "?block=4&rate=40")
    assert page.evaluate("history.length") == before


def test_reloading_keeps_the_settings(visits, page):
    put(page, rate=33)
    wait_for_address(page, "?rate=33")
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    check_page(page, rate=33)


def test_an_anchor_stays_in_the_address(visits):
    page = visits.open("?rate=30#reading")
    put(page, rate=31)
    wait_for_address(page, "?rate=31")
    assert page.evaluate("location.hash") == "#reading"


SCRIPT = "<img src=x onerror=window.ran=1>"
# The address, what the notice must name, and the settings that are applied all the same.
BAD_LINKS = {
    "not a number": ("?rate=abc&block=8", ["rate=abc"], {"block_size": 8}),
    "words": ("?maxlen=very long&rate=30", ["maxlen=very long"], {"rate": 30}),
    "empty": ("?rate=&block=8", ["rate="], {"block_size": 8}),
    "only a space": ("?block=%20&rate=9", ["block="], {"rate": 9}),
    "too large": ("?rate=41&block=8", ["rate=41", "1 to 40"], {"block_size": 8}),
    "too small": ("?rate=0", ["rate=0"], {}),
    "negative": ("?rate=-5&maxlen=1024", ["rate=-5"], {"max_length": 1024}),
    "between": ("?block=3", ["block=3", "1, 2, 4, 8"], {}),
    "fraction": ("?rate=2.5", ["rate=2.5"], {}),
    "no such overhead": ("?overhead=1&rate=5", ["overhead=1"], {"rate": 5}),
    "NaN": ("?rate=NaN", ["rate=NaN"], {}),
    "infinite": ("?maxlen=Infinity", ["maxlen=Infinity"], {}),
    "hexadecimal": ("?rate=0x10", ["rate=0x10"], {}),
    "unknown key": ("?colour=red&rate=30", ["colour"], {"rate": 30}),
    "key of another case": ("?Rate=30&block=8", ["Rate"], {"block_size": 8}),
    "property of objects": ("?__proto__=1&constructor=2&rate=30", ["__proto__"], {"rate": 30}),
    "repeated": (
        "?rate=20&rate=30&block=8",
        ["rate", "more than once"],
        {"rate": 20, "block_size": 8},
    ),
    "percent garbage": ("?rate=%zz&block=8", ["rate=%zz"], {"block_size": 8}),
    "half a character": ("?rate=%E0%A4&block=8", ["rate="], {"block_size": 8}),
    "template": ("?rate={shown}&block=8", ["rate={shown}"], {"block_size": 8}),
    "replacement pattern": ("?rate=$%26$1", ["rate=$&$1"], {}),
    "script in a value": (f"?rate={SCRIPT}&block=8", [f"rate={SCRIPT}"], {"block_size": 8}),
    "script in a key": (f"?{SCRIPT}=1&block=8", ["<img"], {"block_size": 8}),
    "closing script": (
        "?rate=</script><script>ran=1</script>&block=8",
        ["</script>"],
        {"block_size": 8},
    ),
    "repeated, the first one bad": ("?rate=x&rate=30&block=8", ["rate=x"], {"block_size": 8}),
    "no such workload": ("?work=alpaca&rate=30", ["work=alpaca", "azure-code"], {"rate": 30}),
    "a workload of another case": ("?work=ShareGPT", ["work=ShareGPT"], {}),
    "a workload's number": ("?work=1&rate=30", ["work=1"], {"rate": 30}),
    "no workload": ("?work=&rate=30", ["work="], {"rate": 30}),
    "property of objects as a workload": ("?work=constructor", ["work=constructor"], {}),
    "no such reservation": (
        "?reserve=slab&work=sharegpt",
        ["reserve=slab"],
        {"workload": "sharegpt"},
    ),
    "script as a reservation": (f"?reserve={SCRIPT}", [f"reserve={SCRIPT}"], {}),
    "nearly tracking": ("?utm=1&gclid2=x&block=8", ["utm", "gclid2"], {"block_size": 8}),
    "several": ("?rate=x&block=y&maxlen=1024", ["rate=x", "block=y"], {"max_length": 1024}),
}


@pytest.mark.parametrize("what", BAD_LINKS)
def test_a_bad_link_is_named_and_the_rest_applied(read, what):
    address, named, applied = BAD_LINKS[what]
    page = read(address)
    notice = page.locator("#notice")
    for words in named:
        assert words in notice.inner_text()
    assert notice.get_attribute("role") == "status"
    # Nothing of it has become an element, or has run.
    assert notice.locator("*").count() == 0
    assert page.evaluate("window.ran") is None
    check_page(page, **applied)


@pytest.mark.parametrize("rate", ["30", "%2030", "30.0", "+30"])
def test_what_can_be_understood_is_not_complained_about(read, rate):
    page = read(f"?rate={rate}")
    check_page(page, rate=30)
    assert page.inner_text("#notice") == ""


@pytest.mark.parametrize(
    "extra",
    [
        *("utm_source=list&utm_medium=mail&utm_campaign=spring", "fbclid=IwAR0", "gclid=Cj0"),
        "rate=30",
        "block=16&block=16",
    ],
)
def test_what_others_put_there_or_say_twice_is_nobodys_business(read, extra):
    page = read(f"?rate=30&{extra}")
    check_page(page, rate=30)
    assert page.inner_text("#notice") == ""


def test_a_repeated_bad_value_is_complained_about_once(read):
    page = read("?rate=x&rate=30&rate=31")
    check_page(page)
    assert "more than once" not in page.inner_text("#notice")


def test_a_bad_switch_is_said_in_its_own_words(read):
    notice = read("?overhead=1").locator("#notice")
    assert "stays at off" in notice.inner_text()


def test_a_notice_goes_with_the_next_move(read):
    page = read("?rate=abc&colour=red")
    assert "rate=abc" in page.inner_text("#notice")
    put(page, block_size=8)
    check_page(page, block_size=8)
    assert page.inner_text("#notice") == ""
    page.get_by_role("button", name="Reset").click()
    assert page.inner_text("#notice") != ""
    put(page, rate=20)
    check_page(page, rate=20)
    assert page.inner_text("#notice") == ""


@pytest.mark.parametrize(
    "address",
    [
        "?rate=" + "9" * 5000 + "&block=8",
        "?" + "k" * 5000 + "=1&block=8",
        "?block=8&" + "&".join(f"key{n}=1" for n in range(200)),
    ],
    ids=["long value", "long key", "many keys"],
)
def test_a_long_bad_link_does_not_push_the_page_away(read, address):
    page = read(address)
    check_page(page, block_size=8)
    notice = page.locator("#notice")
    assert notice.inner_text() != ""
    assert notice.bounding_box()["height"] < 150
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_what_no_setting_is_leaves_the_link_with_the_next_move(read):
    page = read("?rate=abc&colour=red")
    put(page, block_size=8)
    wait_for_address(page, "?block=8")


def test_the_link_can_be_copied(visits):
    page = visits.open()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    put(page, rate=30)
    switch(page).check()
    page.get_by_role("button", name="Copy link").click()
    notice = page.locator("#notice")
    page.wait_for_function("() => document.getElementById('notice').textContent !== ''")
    assert "has been copied" in notice.inner_text()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(visits.plate + "?")
    assert set(copied.split("?")[1].split("&")) == {"rate=30", "overhead=3.7"}
    assert page.url == copied


def test_where_copying_is_forbidden_the_page_says_where_the_link_is(visits):
    page = visits.open()
    devtools = page.context.new_cdp_session(page)
    context = devtools.send("Target.getTargetInfo")["targetInfo"]["browserContextId"]
    devtools.send(
        "Browser.setPermission",
        {
            "permission": {"name": "clipboard-write"},
            "setting": "denied",
            "browserContextId": context,
        },
    )
    put(page, rate=30)
    page.get_by_role("button", name="Copy link").click()
    page.wait_for_function("() => document.getElementById('notice').textContent !== ''")
    assert "address bar" in page.inner_text("#notice")
    # The address is there at once, not only when the slider's delay is over.
    assert page.url == visits.plate + "?rate=30"


def test_a_page_of_ones_own_gets_the_line_with_these_settings(visits):
    page = visits.open("?rate=30")
    assert f'src="{visits.plate}?rate=30&embed=1&show=workshop"' in page.inner_text("#embed-line")
    slider(page, "rate").press("End")
    check_page(page, rate=40)
    assert f'src="{visits.plate}?rate=40&embed=1&show=workshop"' in page.inner_text("#embed-line")


def test_every_key_is_in_the_table_of_moves():
    tried = {search[1:].split("=")[0] for _, _, search in MOVES} | {"overhead"}
    assert tried == {control["key"] for control in CONTROLS.values()}
    assert words_at()["rate"] != words_at(rate=40)["rate"]
