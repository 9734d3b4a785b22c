"""Every control, with the mouse and with the keyboard: the page changes while it is moved."""

import pytest

from browser.expected import CONTROLS, check_page, picture, wait_for_picture, words_at
from browser.hands import held, slider, switch, thumb
from kvsim_app.settings import Settings

# Where each slider is dragged to from its default, what is painted anew at each step, and what is
# never. (A longer maximum cuts no more requests, and so leaves the paged cache as it was.)
DRAGS = {
    "block_size": (
        (32, 64, 256, 1),
        ("capacity-chart", "ttft-chart", "cache-paged"),
        ("cache-contiguous",),
    ),
    "max_length": (
        (16384, 65536, 131072, 1024),
        ("capacity-chart", "ttft-chart", "cache-contiguous"),
        (),
    ),
    "rate": (
        (19, 30, 40, 1),
        ("ttft-chart", "cache-contiguous", "cache-paged"),
        ("capacity-chart",),
    ),
}


@pytest.mark.parametrize("name", DRAGS)
def test_the_page_follows_the_mouse_while_it_drags(page, name):
    places, painted, still = DRAGS[name]
    before = {element: picture(page, element) for element in (*painted, *still)}
    prose = page.inner_text("#reading .text")
    with held(page, *thumb(page, name, Settings.param[name].default)):
        for value in places:
            page.mouse.move(*thumb(page, name, value), steps=3)
            # The button is still down: nothing here waits for the slider to be let go.
            check_page(page, **{name: value})
            for element in painted:
                before[element] = wait_for_picture(page, element, before[element])
        assert page.inner_text("#reading .text") != prose
        for element in still:
            assert picture(page, element) == before[element]


@pytest.mark.parametrize("name", DRAGS)
def test_the_page_follows_the_keyboard(page, name):
    _, painted, _ = DRAGS[name]
    before = {element: picture(page, element) for element in painted}
    steps = {
        "block_size": {"ArrowRight": 32, "ArrowLeft": 16, "End": 256, "Home": 1},
        "max_length": {"ArrowUp": 16384, "ArrowDown": 8192, "End": 131072, "Home": 1024},
        "rate": {"ArrowRight": 19, "ArrowLeft": 18, "End": 40, "Home": 1},
    }[name]
    for key, value in steps.items():
        slider(page, name).press(key)
        check_page(page, **{name: value})
    for element in painted:
        wait_for_picture(page, element, before[element])


def test_the_space_bar_turns_the_switch(page):
    before = picture(page, "ttft-chart")
    switch(page).press("Space")
    check_page(page, block_overhead=3.7)
    before = wait_for_picture(page, "ttft-chart", before)
    assert "3.7 tokens" in page.inner_text("#assumptions-line")
    switch(page).press("Space")
    check_page(page)
    wait_for_picture(page, "ttft-chart", before)


def test_a_click_on_its_words_turns_the_switch(page):
    page.get_by_text(CONTROLS["block_overhead"]["label"], exact=True).click()
    check_page(page, block_overhead=3.7)


def test_reset_goes_back_to_the_plates_settings(page):
    slider(page, "block_size").press("End")
    slider(page, "max_length").press("Home")
    slider(page, "rate").press("End")
    switch(page).press("Space")
    check_page(page, block_size=256, max_length=1024, rate=40, block_overhead=3.7)
    page.get_by_role("button", name="Reset").click()
    check_page(page)
    page.wait_for_function("() => location.search === ''")
    assert page.inner_text("#notice") != ""


def test_controls_have_names_and_say_their_values(page):
    for name, value in (("block_size", 16), ("max_length", 8192), ("rate", 18)):
        assert slider(page, name).get_attribute("aria-valuetext") == words_at()[name]
        assert str(value) in words_at()[name].replace("\u202f", "")
    assert not switch(page).is_checked()
