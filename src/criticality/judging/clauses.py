"""What must hold of values: its parts, and for one name the values that may make a part hold."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from criticality.judging.domain import Domain, NotEvaluable

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq,
}  # fmt: skip
#: A bound that a comparison with a constant is: of a number, of a length, and what is added to the constant.
_BOUNDS: dict[type[ast.cmpop], tuple[tuple[str, str, int], ...]] = {
    ast.Lt: (("max", "max_length", -1),), ast.LtE: (("max", "max_length", 0),),
    ast.Gt: (("min", "min_length", 1),), ast.GtE: (("min", "min_length", 0),),
    ast.Eq: (("min", "min_length", 0), ("max", "max_length", 0)),
}  # fmt: skip
#: Functions that mean the same in a body and in a clause.
_COMMON = frozenset({"len", "abs", "sum", "min", "max", "set", "sorted", "any", "all"})
#: A value at a place within another: ``("balance",)`` of an account, nothing for the account itself.
Goal = tuple[tuple[str, ...], Any]


@dataclass(frozen=True, slots=True)
class Part:
    """One of the predicates that must all hold.

    Args:
        names: of values that it speaks of.
        calls: it calls functions of the project.
    """

    text: str
    tree: ast.expr
    names: frozenset[str]
    calls: bool

    def comparisons(self) -> Iterator[tuple[ast.expr, ast.cmpop, ast.expr]]:
        """Yield what is compared in it, each way round."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Compare):
                for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                    yield left, op, right
                    yield right, _TURNED.get(type(op), type(op))(), left


class Condition:
    """One predicate over names, cut into the parts that must all hold.

    Args:
        functions: callables for the names of functions that it calls.
    """

    def __init__(self, domain: Domain, code: str, functions: Mapping[str, Any] | None = None) -> None:
        self.domain, self.functions = domain, functions or {}
        self.parts = [self._part(tree) for tree in _conjuncts(ast.parse(code, mode="eval").body)]

    def _part(self, tree: ast.expr) -> Part:
        read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        bound = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        bound |= {n.arg for n in ast.walk(tree) if isinstance(n, ast.arg)}
        names = read - bound - self.functions.keys() - self.domain.scope.keys()
        return Part(ast.unparse(tree), tree, frozenset(names), bool(read & self.functions.keys()))

    def broken(self, held: Mapping[str, Any]) -> str:
        """Return the first part that does not hold; empty where all do. What cannot be evaluated does not hold."""
        return next((part.text for part in self.parts if not self.holds(part, held)), "")

    def holds(self, part: Part, held: Mapping[str, Any]) -> bool:
        """Tell whether a part holds.

        Raises:
            NotEvaluable: it reads what no value has.
        """
        try:
            return bool(self.value(part.text, held))
        except NotEvaluable:
            raise
        except Exception:
            return False

    def value(self, text: str, held: Mapping[str, Any]) -> Any:
        """Evaluate an expression over the names."""
        return self.domain.evaluate(text, {**self.functions, **held})

    def goals(self, part: Part, name: str, held: Mapping[str, Any], now: Any) -> Iterator[Goal]:
        """Yield places in the value of a name, and what may make a part hold when it stands there.

        Args:
            now: the value that the name has.
        """
        held = {**held, name: now}
        for left, op, right in part.comparisons():
            with suppress(Exception):  # what another name decides is no goal for this one
                yield from self._aimed(left, op, ast.unparse(right), name, held)

    def _aimed(self, left: ast.expr, op: ast.cmpop, right: str, name: str, held: Mapping[str, Any]) -> Iterator[Goal]:
        if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
            path = _path(left.left, name)
            if path is not None:
                was, by = self.value(ast.unparse(left.left), held), self.value(ast.unparse(left.right), held)
                first = was - was % by + self.value(right, held)
                yield from ((path, first + more) for more in (0, by))
            return
        path = _path(left, name)
        if path is None:
            return
        goal = self.value(right, held)
        if isinstance(op, ast.In | ast.NotIn):
            yield from ((path, item) for item in list(goal)[:6])
            return
        yield path, goal
        yield from ((path, goal + more) for more in (1, -1, 7, -7, 0))

    def sizes(self, part: Part, name: str, held: Mapping[str, Any]) -> Iterator[int]:
        """Yield lengths that a part compares the value of a name with."""
        for left, _, right in part.comparisons():
            with suppress(Exception):
                if ast.unparse(left) == f"len({name})" and isinstance(
                    size := self.value(ast.unparse(right), held), int
                ):
                    yield from (size + more for more in (0, 1, -1) if size + more >= 0)

    def bounds(self, name: str) -> Iterator[str]:
        """Yield constraints that comparisons of a name, or of its length, with constants come to."""
        alone = (part for part in self.parts if isinstance(part.tree, ast.Compare) and part.names == frozenset({name}))
        for left, op, right in (compared for part in alone for compared in part.comparisons()):
            which = {name: 0, f"len({name})": 1}.get(ast.unparse(left))
            with suppress(Exception):
                limit = self.value(ast.unparse(right), {})
                if which is not None and isinstance(limit, int):
                    yield from (f"{bound[which]}({limit + bound[2]})" for bound in _BOUNDS.get(type(op), ()))


def branches(code: str, params: Iterable[str]) -> Iterator[str]:
    """Yield the conditions of a Python body that speak of its parameters alone; none where it is no Python."""
    known = frozenset(params)
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        tests: list[ast.expr] = []
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            tests = [node.test]
        elif isinstance(node, ast.BoolOp):
            tests = [node, *node.values]
        for test in tests:
            names = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
            if known & names and not names - known - _COMMON:
                yield ast.unparse(test)
                yield f"not ({ast.unparse(test)})"


def _conjuncts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _conjuncts(value)
    elif isinstance(node, ast.Compare) and len(node.ops) > 1:
        for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            yield ast.Compare(left, [op], [right])
    else:
        yield node


def _path(node: ast.AST, name: str) -> tuple[str, ...] | None:
    """Return ``("owner", "age")`` for what reads ``name.owner.age``; ``None`` for anything else."""
    match node:
        case ast.Name(id=read):
            return () if read == name else None
        case ast.Attribute(value=value, attr=attr):
            before = _path(value, name)
            return None if before is None else (*before, attr)
        case _:
            return None
