"""Which model code and constants a stored result was computed from."""

import ast
import hashlib
import io
import json
import tokenize
from collections.abc import Iterator
from importlib.resources import files
from typing import Any

ATLAS_ROOTS = ("capacity", "curve")  # what the atlas is made with; the rest is what they import
_SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


def fingerprint(constants: dict[str, Any], roots: tuple[str, ...] = ATLAS_ROOTS) -> str:
    """Hash what the simulation does and the constants that a result is computed with.

    ``roots`` are the modules of ``kvsim`` that compute it: by default, those of the atlas. Comments
    and docstrings do not count, nor modules that these have no use for: changing one leaves every
    figure as it is.
    """
    digest = hashlib.sha256(json.dumps(constants, sort_keys=True).encode())
    for name in sorted(_closure(roots)):
        digest.update(f"{name}\n{_code(_source(name))}\n".encode())
    return digest.hexdigest()


def _source(module: str) -> str:
    return files("kvsim").joinpath(f"{module}.py").read_text("utf-8")


def _closure(roots: tuple[str, ...]) -> set[str]:
    """Return the modules of ``kvsim`` that some of them import, and these themselves."""
    found: set[str] = set()
    ahead = list(roots)
    while ahead:
        module = ahead.pop()
        if module not in found:
            found.add(module)
            ahead.extend(_imports(module))
    return found


def _imports(module: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(_source(module))):
        if isinstance(node, ast.ImportFrom) and node.module == "kvsim":
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kvsim."):
            yield str(node.module).removeprefix("kvsim.")


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
