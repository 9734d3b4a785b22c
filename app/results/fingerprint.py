"""Which model code and constants a file of results was computed with."""

import ast
import hashlib
import json
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

# Their presets do not count: the one in use is among the constants.
_PRESETS = ("hardware", "model")


def fingerprint(constants: dict[str, Any], modules: tuple[str, ...]) -> str:
    """Hash constants and what ``modules`` of ``kvsim`` do, with all that they import from it.

    A module of one of its packages is named like ``paper.sharing``.

    Comments, docstrings and layout do not count: changing them leaves every figure as it is. The
    same code has the same fingerprint under every version of Python.
    """
    digest = hashlib.sha256(json.dumps(constants, sort_keys=True).encode())
    for module in sorted(_closure(modules)):
        digest.update(f"{module} {_meaning(_tree(module))}\n".encode())
    for table in sorted(files("kvsim").joinpath("data").iterdir(), key=lambda each: each.name):
        digest.update(table.read_bytes())
    return digest.hexdigest()


def _file(module: str) -> Traversable:
    return files("kvsim").joinpath(f"{module.replace('.', '/')}.py")


def _tree(module: str) -> ast.Module:
    tree = ast.parse(_file(module).read_text("utf-8"))
    if module in _PRESETS:
        tree.body = [each for each in tree.body if not isinstance(each, ast.Assign)]
    return tree


def _closure(modules: tuple[str, ...]) -> set[str]:
    """Return modules of ``kvsim``, and all that they import from it."""
    found: set[str] = set()
    ahead = list(modules)
    while ahead:
        module = ahead.pop()
        if module not in found:
            found.add(module)
            ahead.extend(_imports(_tree(module)))
    return found


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom):
            continue
        top, *package = (node.module or "").split(".")
        if top == "kvsim":
            # What is imported is a module itself, or something in one.
            for alias in node.names:
                module = ".".join((*package, alias.name))
                yield module if _file(module).is_file() else ".".join(package)


def _meaning(node: object) -> object:
    """Write a syntax tree without docstrings, and without what some versions leave empty."""
    if isinstance(node, list):
        return [_meaning(each) for each in node if not _is_text(each)]
    if not isinstance(node, ast.AST):
        return repr(node)
    fields = ((name, value) for name, value in ast.iter_fields(node) if value not in (None, []))
    return type(node).__name__, [(name, _meaning(value)) for name, value in fields]


def _is_text(node: object) -> bool:
    """Whether a statement is a string that nobody uses: a docstring."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
