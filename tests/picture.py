"""Make static/picture.png, README's picture of the page: ``python tests/picture.py``."""

from pathlib import Path

from browser.launching import launch
from playwright.sync_api import sync_playwright
from serving import serving

PICTURE = Path(__file__).resolve().parent.parent / "static" / "picture.png"


def main():
    """Serve the page, and photograph it down to the end of the cache drawing."""
    with serving() as served, sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 1280, "height": 800}, device_scale_factor=1.5)
        page.goto(served.url)
        page.wait_for_selector("html[data-films]", state="attached")
        page.wait_for_function("document.getElementById('parts-paged').children.length > 1")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        drawing = page.locator("#cache-figure").bounding_box()
        height = drawing["y"] + drawing["height"] + 16
        page.screenshot(
            path=PICTURE, clip={"x": 0, "y": 0, "width": 1280, "height": height}, full_page=True
        )
        browser.close()
    print(f"{PICTURE}: {PICTURE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
