"""What Python's own parser says of a body: names, attributes and modules that reach out of it; nothing runs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from importlib import import_module
from types import ModuleType

from criticality.bodies import BodyUnreadable, Finding
from criticality.languages.python.names import IMPORTABLE, WORDS
from criticality.languages.python.skeleton import body_source

_REACHING: dict[str, list[str]] = WORDS["reaching"]
#: What gives away frames.
_INSIDE = ("__", "gi_", "cr_", "ag_", "tb_", "f_", "co_")


def read(text: str) -> tuple[ast.Module, str]:
    """Return the tree of a text, and that tree as text: each name in one writing, without what Python passes over.

    Raises:
        BodyUnreadable: Python does not parse it.
    """
    try:
        tree = ast.parse(text)
        return tree, ast.unparse(tree)
    except SyntaxError as fault:
        raise BodyUnreadable(f"the body does not parse: {fault.msg} (line {fault.lineno})") from None
    except (ValueError, RecursionError, MemoryError) as fault:
        raise BodyUnreadable(f"the body does not parse: {type(fault).__name__}") from None


def read_body(body: str) -> tuple[ast.Module, str]:
    """Return the tree of a function with this body, and its statements as Python reads them."""
    tree, text = read(f"def body():\n{body_source(body)}")
    return tree, text.partition("\n")[2]


def reaching(tree: ast.AST, parameters: Collection[str] = ()) -> Iterator[Finding]:
    """Yield what reaches outside of a function or inside the language."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and (node.id in _REACHING["outside"] or node.id.startswith("__")):
            yield Finding("security", f"it uses {node.id}, which reaches outside the function")
        elif isinstance(node, ast.Attribute) and node.attr.startswith(_INSIDE):
            yield Finding("security", f"it reads {node.attr}, which reaches inside the language")
        elif isinstance(node, ast.Attribute) and node.attr in _REACHING["members"]:
            yield Finding("security", f"it uses {node.attr}; write it out, or an f-string")
    yield from _modules(tree, parameters)


def _modules(tree: ast.AST, parameters: Collection[str]) -> Iterator[Finding]:
    """Find modules that are used otherwise than as ``module.name``, a public name that is no module."""
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own.update(parameters, (node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)))
    read = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in IMPORTABLE - own:
            module, name = import_module(node.id), read.get(id(node), "")
            there = getattr(module, name, None)
            if not name or name not in getattr(module, "__all__", dir(module)) or isinstance(there, ModuleType):
                yield Finding("security", f"it uses {node.id} otherwise than as {node.id}.name with a public name")
