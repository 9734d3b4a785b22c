"""Which model code and constants an atlas was built from."""

import hashlib
import io
import json
import tokenize
from importlib.resources import files
from typing import Any

_SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def fingerprint(constants: dict[str, Any]) -> str:
    """Hash what ``kvsim`` does and the constants that an atlas is computed with.

    Comments and docstrings do not count: rewording one leaves every figure as it is.
    """
    digest = hashlib.sha256(json.dumps(constants, sort_keys=True).encode())
    package = files("kvsim")
    for source in sorted(package.iterdir(), key=lambda entry: entry.name):
        if source.name.endswith(".py"):
            digest.update(_code(source.read_text("utf-8")).encode())
    return digest.hexdigest()


def _code(source: str) -> str:
    """Return the source without comments, docstrings, and white space."""
    kept = []
    statement_starts = True
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        docstring = statement_starts and token.type == tokenize.STRING
        if token.type not in _SILENT and not docstring:
            kept.append("".join(token.string.split()))
        statement_starts = token.type in _SILENT or (statement_starts and docstring)
    # Python 3.12 splits f-strings into several tokens, so tokens are not told apart.
    return "".join(kept)
