"""The offline file: the whole page with everything inside, which makes no request at all."""

from pathlib import Path

from . import link
from .assets import inlined_page, parts
from .results.container import write_whole
from .results.files import load_results


def export(path: Path, asked: str) -> int:
    """Write the file; return its size in bytes.

    ``asked`` is a link to the page, or the query of one: the settings and the view to open with.
    Raises ``ValueError`` with a sentence if that is not to be had, ``ResultsError`` if the page
    cannot be made, and ``OSError`` if the file cannot be written; an older one then stays.
    """
    results = load_results()
    found = link.read(asked, parts(results))
    page = inlined_page(results, found.settings, found.view_query, sections=found.sections).encode()
    write_whole(path, page)
    return len(page)
