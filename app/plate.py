"""The plate as a Panel component: what a notebook cell or a Panel app shows."""

from functools import lru_cache
from html import escape
from typing import Any

import panel as pn

from .assets import inlined_page
from .results import load_results
from .settings import NAMES, Settings


class Plate(Settings, pn.viewable.Viewer):
    """The whole page in a frame, opened at this object's settings: ``Plate(block_size=64)``.

    The sliders are native inputs within the frame and answer there, with or without a server.
    Raises ``ResultsError`` when shown if a file of results is missing, damaged or stale.
    """

    def __panel__(self) -> pn.viewable.Viewable:
        """Return the frame."""
        return pn.pane.HTML(
            _frame(*(getattr(self, name) for name in NAMES)),
            sizing_mode="stretch_width",
            height=960,
            margin=0,
        )


# Megabytes of text, and half a second to make: once for all sessions that start alike.
@lru_cache(maxsize=8)
def _frame(*start: Any) -> str:
    """Return the element that holds the page, opened at the values of ``NAMES``."""
    page = inlined_page(load_results(), Settings(**dict(zip(NAMES, start, strict=True))))
    # Panel copies it for each session; in ASCII a character takes one byte of memory, not two.
    source = escape(page, quote=True).encode("ascii", "xmlcharrefreplace").decode("ascii")
    return (
        f'<iframe title="Running Out of Cache" srcdoc="{source}" '
        'style="width: 100%; height: 100%; border: 0"></iframe>'
    )
