"""Finds a browser that starts: Playwright's own Chromium, or one that the machine has.

Run as a script it says which one, or, with exit status 1, why there is none.
"""

import os
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

ON_THE_PATH = (
    "chromium",
    "chromium-headless-shell",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    r"C:\Program Files\Google\Chrome\Application\chrome.exe",
    r"C:\Program Files (x86)\Google\Chrome\Application\chrome.exe",
)
# The browser itself asks no host for anything, so that what is asked for is the page's doing.
QUIET = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


def executables():
    """None, which is Playwright's own, and then every browser that the machine has."""
    found = [shutil.which(name) for name in ON_THE_PATH]
    found += [place for place in ELSEWHERE if Path(place).exists()]
    return [None, *dict.fromkeys(path for path in found if path)]


def launch(playwright):
    """Start the first browser that does; raise with each one's reason if none does."""
    # Chromium refuses to sandbox pages for root.
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    arguments = [*QUIET, "--no-sandbox"] if root else [*QUIET]
    reasons = []
    for path in executables():
        try:
            return playwright.chromium.launch(executable_path=path, args=arguments)
        except Error as error:
            reasons.append(f"{path or 'Playwright’s own Chromium'}: {error.message.strip()}")
    raise RuntimeError("No browser starts.\n\n" + "\n\n".join(reasons))


def main():
    """Start a browser, open an empty page in it, and say which one it is."""
    with sync_playwright() as playwright:
        try:
            browser = launch(playwright)
            browser.new_page().close()
        except (RuntimeError, Error) as error:
            print(error, file=sys.stderr)
            return 1
        print(f"Chromium {browser.version}")
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
