"""The plate as a Panel component: in a Panel page, opened at an object's settings."""

import sys

import pytest
from serving import serving

from browser.expected import wait_for_words
from browser.hands import choose, slider
from kvsim_app import words
from kvsim_app.settings import values

LESSON = """
import panel as pn
from kvsim_app.plate import Plate

plate = Plate(
    block_size=64, max_length=4096, workload="sharegpt", reservation="buddy-pow2", rate=8
)
server = pn.serve(plate, port=0, show=False, start=False)
print(f"http://localhost:{server.port}/", flush=True)
server.run_until_shutdown()
"""


def check_frame(page, **position):
    """The plate within stands at a position, and answers."""
    page.frame_locator("iframe").locator("html[data-ready]").wait_for(state="attached")
    (plate,) = page.frames[1:]
    wait_for_words(plate, **position)
    for name in ("block_size", "max_length"):
        wanted = values(name).index(position.get(name, {"block_size": 16}.get(name, 8192)))
        assert slider(plate, name).input_value() == str(wanted)
    slider(plate, "rate").press("End")
    slider(plate, "block_size").press("Home")
    wait_for_words(plate, **{**position, "rate": 40, "block_size": 1})
    drawn = ["capacity-chart", "ttft-chart", "cache-paged"]
    if "reservation" in position:
        # Nobody makes the film of it here, and the page says so.
        assert plate.inner_text("#film-note") == words.fill("film_blank")
    else:
        drawn.append("cache-contiguous")
    for chart in drawn:
        assert plate.evaluate("id => looking.colours(id)", chart) > 3


def open_panel(visits, address):
    """Panel's own page around the plate asks its server for what it needs."""
    visits.hosts.add(address.split("/")[2])
    page = visits.open(ready=False)
    page.goto(address)
    page.locator("iframe").wait_for()
    return page


def test_an_object_with_settings_shows_the_plate_at_them(visits):
    with serving([sys.executable, "-c", LESSON]) as served:
        page = open_panel(visits, served.url)
        check_frame(
            page,
            block_size=64,
            max_length=4096,
            workload="sharegpt",
            reservation="buddy-pow2",
            rate=8,
        )
        # What it does not bring along cannot be chosen; its own and the plate's can.
        (plate,) = page.frames[1:]
        offered = plate.eval_on_selector_all(
            "#workload option", "options => options.map(({ disabled }) => !disabled)"
        )
        assert dict(zip(values("workload"), offered, strict=True)) == {
            **dict.fromkeys(values("workload"), False),
            "exponential": True,
            "sharegpt": True,
        }
        choose(plate, "workload", "exponential")
        wait_for_words(plate, block_size=1, max_length=4096, reservation="buddy-pow2", rate=40)
        page.close()


def test_the_served_component_stands_at_the_plates_settings(visits):
    page = open_panel(visits, visits.plate + "panel")
    check_frame(page)


def test_a_setting_that_is_not_offered_is_refused():
    from kvsim_app.plate import Plate

    with pytest.raises(ValueError, match="block_size"):
        Plate(block_size=17)
