"""The page in somebody else's page: in a frame of another origin, also a sandboxed one."""

import pytest

from browser.expected import wait_for_words
from browser.hands import held, thumb
from browser.hosting import host, lesson
from kvsim_app.settings import values


@pytest.mark.parametrize(
    "sandbox", ["", 'sandbox="allow-scripts allow-same-origin"', 'sandbox="allow-scripts"']
)
def test_the_page_works_in_a_frame(visits, sandbox):
    page = visits.open(ready=False)
    html = lesson(
        f'<iframe {sandbox} src="{visits.plate}?rate=30" width="1200" height="780"></iframe>'
    )
    with host(html) as address:
        visits.hosts.add(address.split("/")[2])
        page.goto(address)
        frame = page.frame_locator("iframe")
        frame.locator("html[data-ready]").wait_for(state="attached")
        plate = page.frames[1]
        history = page.evaluate("history.length")
        wait_for_words(plate, rate=30)
        slider = plate.get_by_role("slider", name="Request rate")
        slider.fill(str(values("rate").index(12)))
        wait_for_words(plate, rate=12)
        with held(page, *thumb(plate, "block_size", 16)):
            page.mouse.move(*thumb(plate, "block_size", 64), steps=3)
            wait_for_words(plate, rate=12, block_size=64)
        if sandbox != 'sandbox="allow-scripts"':  # without an origin it may not change its address
            plate.wait_for_function("() => location.search.includes('block=64')")
        for chart in ("capacity-chart", "ttft-chart", "cache-contiguous", "cache-paged"):
            assert plate.evaluate("id => looking.colours(id)", chart) > 3
        # Neither the address nor the history of the page around it is touched.
        assert page.url == address
        assert page.evaluate("history.length") == history
