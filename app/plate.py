"""The plate as a Panel component: what a notebook cell or a Panel app shows."""

from html import escape

import panel as pn

from .assets import inlined_page
from .atlas import load
from .paths import ATLAS
from .settings import Settings


class Plate(Settings, pn.viewable.Viewer):
    """The whole page in a frame, opened at this object's settings: ``Plate(block_size=64)``.

    The sliders are native inputs within the frame and answer there, with or without a server.
    Raises ``AtlasError`` or ``PaperError`` when shown if a file of results is missing or damaged.
    """

    def __panel__(self) -> pn.viewable.Viewable:
        """Return the frame."""
        start = Settings(**{name: getattr(self, name) for name in Settings.param if name != "name"})
        page = escape(inlined_page(load(ATLAS), start), quote=True)
        return pn.pane.HTML(
            f'<iframe title="Running Out of Cache" srcdoc="{page}" '
            'style="width: 100%; height: 100%; border: 0"></iframe>',
            sizing_mode="stretch_width",
            height=960,
            margin=0,
        )
