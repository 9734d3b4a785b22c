"""The plate as a Panel component: what a notebook cell or a Panel app shows."""

from html import escape

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
        start = Settings(**{name: getattr(self, name) for name in NAMES})
        page = escape(inlined_page(load_results(), start), quote=True)
        return pn.pane.HTML(
            f'<iframe title="Running Out of Cache" srcdoc="{page}" '
            'style="width: 100%; height: 100%; border: 0"></iframe>',
            sizing_mode="stretch_width",
            height=960,
            margin=0,
        )
