"""Small wrong versions of a body: tests that none of them breaks have shown nothing (mutation analysis)."""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, cast

from criticality.languages.base.grammar.table import read_table
from criticality.languages.python.names import PACKAGE

_TABLE = read_table(PACKAGE)


def mutants(body: str) -> list[str]:
    """Return every single small change of a body, each once, in the order of the text.

    Changes: comparisons, arithmetic and logic swapped; numbers by one; truth values turned; ``all``/``any`` and
    ``min``/``max`` exchanged; a condition negated; a statement left out.
    """
    tree = ast.parse(textwrap.dedent(body))
    original = ast.unparse(tree)
    texts: list[str] = []
    for index, node in enumerate(ast.walk(tree)):
        for change in _changes(node):
            other = copy.deepcopy(tree)
            target = next(n for i, n in enumerate(ast.walk(other)) if i == index)
            change(target)
            text = ast.unparse(ast.fix_missing_locations(other))
            if text != original and text not in texts:
                texts.append(text)
    return texts


def _changes(node: ast.AST) -> Iterator[Callable[[Any], None]]:
    match node:
        case ast.Compare(ops=[first, *_]) if swapped := _swapped(first):
            yield lambda n: n.ops.__setitem__(0, swapped())
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if swapped := _swapped(op):
            yield lambda n: setattr(n, "op", swapped())
        case ast.Constant(value=bool()):
            yield lambda n: setattr(n, "value", not n.value)
        case ast.Constant(value=int()):
            yield lambda n: setattr(n, "value", n.value + 1)
        case ast.Call(func=ast.Name(id=name)) if name in _TABLE.exchanged:
            yield lambda n: setattr(n.func, "id", _TABLE.exchanged[name])
        case ast.If() | ast.IfExp():
            yield lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
        case _:
            pass
    body: Any = getattr(node, "body", None)
    if isinstance(body, list):
        for place in range(len(cast("list[Any]", body)) - 1):
            yield lambda n, place=place: n.body.__delitem__(place)


def _swapped(sign: ast.AST) -> type[ast.AST] | None:
    return getattr(ast, _TABLE.operators.get(type(sign).__name__, ""), None)
