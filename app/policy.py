"""What a page lets a browser do: the content security policies that it is sent with.

Scripts run from the page's own address, or if their hash is named; nothing is evaluated
(no ``unsafe-eval``). Styles may be inline: Bokeh puts style sheets into the shadow trees of its
figures, and writes sizes into ``style`` attributes. ``frame-ancestors`` is not named, so that any
page may hold this one in a frame.
"""

import base64
import hashlib
from collections.abc import Iterable

_ALWAYS = "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'"
# A picture to take away is drawn from data, and kept in memory until it is.
_PICTURES = "data: blob:"


def served(inline: Iterable[str]) -> str:
    """Return the policy of a page whose files are on its own server.

    ``inline`` are the scripts that stand in the page itself.
    """
    return (
        f"{_ALWAYS} 'self'; script-src 'self' {_hashes(inline)}; connect-src 'self'; "
        f"img-src 'self' {_PICTURES}"
    )


def inlined(scripts: Iterable[str]) -> str:
    """Return the policy of a page that has everything inside: no request may be made at all."""
    return f"{_ALWAYS}; script-src {_hashes(scripts)}; img-src {_PICTURES}"


def _hashes(scripts: Iterable[str]) -> str:
    digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
    return " ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)
