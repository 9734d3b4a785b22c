"""The plate as a Panel component: what a notebook cell or a Panel app shows."""

from functools import lru_cache
from html import escape
from typing import Any

import panel as pn
import param

from . import link
from .assets import inlined_page, parts
from .results.files import load_results
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
        start = (getattr(self, name) for name in NAMES)
        return (
            f'<iframe title="Running Out of Cache" srcdoc="{_source(self.view, *start)}" '
            f'style="width: 100%; height: {height}; border: 0"></iframe>'
        )


# Megabytes of text, and half a second to make: once for all sessions that start alike.
@lru_cache(maxsize=8)
def _source(view: str, *start: Any) -> str:
    """Return the page, opened at the values of ``NAMES``, as the attribute of a frame."""
    results = load_results()
    settings = Settings(**dict(zip(NAMES, start, strict=True)))
    page = inlined_page(results, settings, link.read_view(view, parts(results)))
    # Panel copies it for each session; in ASCII a character takes one byte of memory, not two.
    return escape(page, quote=True).encode("ascii", "xmlcharrefreplace").decode("ascii")
