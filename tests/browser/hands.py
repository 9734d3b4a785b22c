"""A reader's hands: mouse and fingers on the controls."""

from contextlib import contextmanager

from browser.expected import CONTROLS, SELECTS
from kvsim_app.settings import values

THUMB_PX = 26  # the style sheet's


def slider(page, name):
    """The slider of a control, found as a screen reader finds it."""
    return page.get_by_role("slider", name=CONTROLS[name]["label"], exact=True)


def switch(page):
    """The one switch, found as a screen reader finds it."""
    return page.get_by_role("checkbox", name=CONTROLS["block_overhead"]["label"], exact=True)


def choose(page, name, value):
    """Choose from a list, found as a screen reader finds it."""
    box = page.get_by_role("combobox", name=CONTROLS[name]["label"], exact=True)
    box.select_option(index=values(name).index(value))


def put(page, **position):
    """Put controls at values: as the keyboard would, one after the other."""
    for name, value in position.items():
        if name == "block_overhead":
            switch(page).set_checked(bool(value))
        elif name in SELECTS:
            choose(page, name, value)
        else:
            slider(page, name).fill(str(values(name).index(value)))


def thumb(page, name, value):
    """Where the thumb of a slider is when it stands at a value."""
    box = slider(page, name).bounding_box()
    places = values(name)
    share = places.index(value) / (len(places) - 1)
    return (
        box["x"] + THUMB_PX / 2 + share * (box["width"] - THUMB_PX),
        box["y"] + box["height"] / 2,
    )


@contextmanager
def held(page, x, y):
    """The mouse button, held down from a place on until the block ends."""
    page.mouse.move(x, y)
    page.mouse.down()
    yield
    page.mouse.up()


class Finger:
    """One finger on a touch screen."""

    def __init__(self, page):
        self.devtools = page.context.new_cdp_session(page)

    def down(self, x, y):
        """Touch a place."""
        self._send("touchStart", {"x": x, "y": y})

    def move(self, x, y):
        """Move to a place without leaving the screen."""
        self._send("touchMove", {"x": x, "y": y})

    def up(self):
        """Leave the screen."""
        self._send("touchEnd")

    def _send(self, kind, *points):
        self.devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": list(points)})


def middle(box):
    """The middle of a bounding box."""
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
