"""Make the pictures of the page, in static/: ``python tests/picture.py``.

``picture.png`` goes down to the end of the cache drawing: README's, and for paper. ``card.png`` is
the top of the page, of the size that other sites show beside a link.
"""

from browser.launching import launch
from playwright.sync_api import sync_playwright
from serving import serving

from kvsim_app.page import CARD
from kvsim_app.paths import STATIC


def main():
    """Serve the page, and photograph it."""
    with serving() as served, sync_playwright() as playwright:
        browser = launch(playwright)
        page = opened(browser, served.url, {"width": 1280, "height": 800}, scale=1.5)
        drawing = page.locator("#cache-figure").bounding_box()
        height = drawing["y"] + drawing["height"] + 16
        clip = {"x": 0, "y": 0, "width": 1280, "height": height}
        page.screenshot(path=STATIC / "picture.png", clip=clip, full_page=True)
        card = {"width": CARD["width"], "height": CARD["height"]}
        page = opened(browser, served.url, card, scale=1)
        page.screenshot(path=STATIC / "card.png")
        browser.close()
    for name in ("picture.png", "card.png"):
        print(f"{STATIC / name}: {(STATIC / name).stat().st_size:,} bytes")


def opened(browser, url, viewport, scale):
    """Open the page, and wait until all of it is drawn."""
    page = browser.new_page(viewport=viewport, device_scale_factor=scale)
    page.goto(url)
    page.wait_for_selector("html[data-films]", state="attached")
    page.wait_for_function("() => document.getElementById('parts-paged').children.length > 1")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    return page


if __name__ == "__main__":
    main()
