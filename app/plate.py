"""The plate as a Panel component: what a notebook cell or a Panel app shows."""

from html import escape
from typing import Any

import panel as pn
import param

from . import link
from .assets import inlined_page, parts
from .results import load_results
from .settings import NAMES, Settings

HEIGHT_PX = 960


class Plate(Settings, pn.viewable.Viewer):
    """The whole page in a frame, opened at this object's settings: ``Plate(block_size=64)``.

    The sliders are native inputs within the frame and answer there, with or without a server. In a
    notebook it needs no ``pn.extension()``, and no other host. ``view`` picks what of the page is
    shown, as a link does: ``Plate(view="embed=1&show=workshop&hide=rate&theme=dark")``.

    Raises, when shown, ``ValueError`` if there is no such view, and ``ResultsError`` if a file of
    results is missing, damaged or stale.
    """

    view = param.String(default="", doc="what of the page to show, as a link says it")

    def __panel__(self) -> pn.viewable.Viewable:
        """Return the frame."""
        return pn.pane.HTML(
            self._frame("100%"), sizing_mode="stretch_width", height=HEIGHT_PX, margin=0
        )

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None
    ) -> tuple[dict[str, str], dict[str, Any]]:
        """Return what a notebook shows: the frame itself, which needs nothing around it."""
        return {"text/plain": repr(self), "text/html": self._frame(f"{HEIGHT_PX}px")}, {}

    def _frame(self, height: str) -> str:
        start = Settings(**{name: getattr(self, name) for name in NAMES})
        results = load_results()
        page = inlined_page(results, start, link.read_view(self.view, parts(results)))
        return (
            f'<iframe title="Running Out of Cache" srcdoc="{escape(page, quote=True)}" '
            f'style="width: 100%; height: {height}; border: 0"></iframe>'
        )
