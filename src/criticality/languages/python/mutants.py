"""Small wrong versions of a body: tests that none of them breaks have shown nothing (mutation analysis)."""

from __future__ import annotations

import ast
import copy
import textwrap
from collections.abc import Callable, Iterator
from typing import Any, cast

_SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Add, ast.And: ast.Or, ast.Or: ast.And, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_CALLS = {"all": "any", "any": "all", "min": "max", "max": "min", "sorted": "list"}


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
    if isinstance(node, ast.Compare) and type(node.ops[0]) in _SWAPS:
        yield lambda n: n.ops.__setitem__(0, _SWAPS[type(n.ops[0])]())
    elif isinstance(node, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(node.op) in _SWAPS:
        yield lambda n: setattr(n, "op", _SWAPS[type(n.op)]())
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield lambda n: setattr(n, "value", not n.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield lambda n: setattr(n, "value", n.value + 1)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _CALLS:
        yield lambda n: setattr(n.func, "id", _CALLS[n.func.id])
    elif isinstance(node, ast.If | ast.IfExp):
        yield lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
    body: Any = getattr(node, "body", None)
    if isinstance(body, list):
        for place in range(len(cast("list[Any]", body)) - 1):
            yield lambda n, place=place: n.body.__delitem__(place)
