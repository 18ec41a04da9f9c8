"""What must hold of values: its parts, and for one name the values that may make a part hold."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice, product
from typing import Any

from criticality.judging.domain import Domain, NotEvaluable
from criticality.spec.predicates import BUILTINS, free_names
from llm_runtime.structs import Struct

_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE, ast.Eq: ast.Eq,
}  # fmt: skip
#: A bound that a comparison with a constant is: of a number, of a length, and what is added to the constant.
_BOUNDS: dict[type[ast.cmpop], tuple[tuple[str, str, int], ...]] = {
    ast.Lt: (("max", "max_length", -1),), ast.LtE: (("max", "max_length", 0),),
    ast.Gt: (("min", "min_length", 1),), ast.GtE: (("min", "min_length", 0),),
    ast.Eq: (("min", "min_length", 0), ("max", "max_length", 0)),
}  # fmt: skip
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip
#: Ways of one expression to come to true or false that are looked at, and where something else is within it.
_WAYS, _PATHS = 12, 3
#: A value at a place within another: ``("balance",)`` of an account, nothing for the account itself.
Goal = tuple[tuple[str, ...], Any]
#: One comparison, and the words of both its sides.
Compared = tuple[ast.expr, ast.cmpop, str, str]


class Part(Struct):
    """One of the predicates that must all hold.

    Args:
        names: of values that it speaks of.
        calls: it calls functions of the project.
        compared: what is compared in it, each way round.
    """

    text: str
    tree: ast.expr
    names: frozenset[str]
    calls: bool
    compared: tuple[Compared, ...]


class Condition:
    """One predicate over names, cut into the parts that must all hold.

    Args:
        functions: callables for the names of functions that it calls.
        own: names of values, though something else is called so too.
    """

    def __init__(
        self, domain: Domain, code: str, functions: Mapping[str, Any] | None = None, own: Iterable[str] = ()
    ) -> None:
        self.domain, self.functions, self._own = domain, functions or {}, frozenset(own)
        self.parts = [self._part(tree) for tree in _conjuncts(ast.parse(code, mode="eval").body)]

    def _part(self, tree: ast.expr) -> Part:
        read = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        names = free_names(tree) - (self.functions.keys() | self.domain.scope.keys() - self._own)
        calls = bool(read & self.functions.keys())
        return Part(ast.unparse(tree), tree, frozenset(names), calls, tuple(_compared(tree)))

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
        for one in part.compared:
            with suppress(Exception):  # what another name decides is no goal for this one
                yield from self._aimed(one, name, held)

    def _aimed(self, one: Compared, name: str, held: Mapping[str, Any]) -> Iterator[Goal]:
        left, op, _, second = one
        if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Mod):
            path = _path(left.left, name)
            if path is not None:
                was, by = self.value(ast.unparse(left.left), held), self.value(ast.unparse(left.right), held)
                first = was - was % by + self.value(second, held)
                yield from ((path, first + more) for more in (0, by))
            return
        path = _path(left, name)
        if path is None:
            return
        goal = self.value(second, held)
        if isinstance(op, ast.In | ast.NotIn):
            yield from ((path, item) for item in list(goal)[:6])
            return
        yield path, goal
        yield from ((path, goal + more) for more in (1, -1, 7, -7, 0))

    def gaps(self, part: Part, name: str, held: Mapping[str, Any], now: Any) -> Iterator[Any]:
        """Yield by how much sides of a part differ that are to be alike."""
        for _, op, first, second in part.compared if name in part.names else ():
            with suppress(Exception):
                gap = self.value(second, held := {**held, name: now}) - self.value(first, held)
                if gap:
                    yield from (gap + more for more in ((0,) if isinstance(op, ast.Eq) else (0, 1, -1)))

    def sizes(self, part: Part, name: str, held: Mapping[str, Any]) -> Iterator[int]:
        """Yield lengths that a part compares the value of a name with."""
        for _, _, first, second in part.compared:
            with suppress(Exception):
                if first == f"len({name})" and isinstance(size := self.value(second, held), int):
                    yield from (size + more for more in (0, 1, -1) if size + more >= 0)

    def bounds(self, name: str) -> Iterator[str]:
        """Yield constraints that comparisons of a name, or of its length, with constants come to."""
        alone = (part for part in self.parts if isinstance(part.tree, ast.Compare) and part.names == frozenset({name}))
        for _, op, first, second in (compared for part in alone for compared in part.compared):
            which = {name: 0, f"len({name})": 1}.get(first)
            with suppress(Exception):
                limit = self.value(second, {})
                if which is not None and isinstance(limit, int):
                    yield from (f"{bound[which]}({limit + bound[2]})" for bound in _BOUNDS.get(type(op), ()))


def _compared(tree: ast.expr) -> Iterator[Compared]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
                first, second = ast.unparse(left), ast.unparse(right)
                yield left, op, first, second
                if not isinstance(op, ast.In | ast.NotIn):
                    yield right, _TURNED.get(type(op), type(op))(), second, first


def branches(code: str, params: Iterable[str]) -> Iterator[str]:
    """Yield what decides in a clause or a Python body, each way to come to true and to false; none of other code.

    It speaks of the parameters alone, and holds no ``or``.
    """
    known = frozenset(params)
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError):
        return
    within = _within(tree, known)
    for node in ast.walk(tree):
        tests: list[ast.expr] = []
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            tests = [node.test]
        elif isinstance(node, ast.BoolOp):
            tests = [node, *node.values]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("any", "all"):
            tests = [node]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("min", "max") and len(node.args) == 2:
            tests = [ast.Compare(node.args[0], [ast.Gt()], [node.args[1]])]
        elif isinstance(node, ast.Compare):
            tests = [one for one in (node.left, *node.comparators) if isinstance(one, ast.Compare)]
        for test in tests:
            if _speaks(test, known):
                ways = islice(chain(_ways(test, truth=True), _ways(test, truth=False)), _WAYS)
                for path, way in product(within[test] if test in within else within[node], ways):
                    yield " and ".join(f"({ast.unparse(part)})" for part in (*path, *way))


def _within(tree: ast.AST, known: frozenset[str]) -> dict[ast.AST, list[list[ast.expr]]]:
    """Return by node what is true of the parameters where it is come to, each way that this may be."""
    within = defaultdict[ast.AST, list[list[ast.expr]]](lambda: [[]])
    for node in ast.walk(tree):
        parts: list[tuple[ast.expr, Any, bool]] = []
        if isinstance(node, ast.If | ast.IfExp):
            parts = [(node.test, node.body, True), (node.test, node.orelse, False)]
        elif isinstance(node, ast.BoolOp):
            parts = [(node.values[0], node.values[1:], isinstance(node.op, ast.And))]
        for test, others, truth in parts if parts and _speaks(parts[0][0], known) else ():
            ways = _ways(test, truth=truth)[:_PATHS]
            for inner in ast.walk(ast.Module(others, [])):
                within[inner] = [[*path, *way] for path in within[inner] for way in ways][:_WAYS]
    return within


def _speaks(test: ast.expr, known: frozenset[str]) -> bool:
    """Tell whether an expression speaks of parameters, and of nothing else."""
    names = [n for n in ast.walk(test) if isinstance(n, ast.Name)]
    read = {n.id for n in names} - {n.id for n in names if isinstance(n.ctx, ast.Store)}
    return bool(known & read) and not read - known - BUILTINS


def _ways(node: ast.expr, *, truth: bool) -> list[list[ast.expr]]:
    """Return what must hold together so that an expression is true, or false: one list for each way."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=inner):
            return _ways(inner, truth=not truth)
        case ast.BoolOp(op=op, values=values):
            each = [_ways(value, truth=truth) for value in values]
            if isinstance(op, ast.And) == truth:
                return [list(chain(*parts)) for parts in islice(product(*each), _WAYS)]
            others = [_ways(value, truth=not truth)[0] for value in values]  # each alone, then where it decides alone
            deciding = [[*ways[0], *chain(*others[:at], *others[at + 1 :])] for at, ways in enumerate(each)]
            return [*chain(*each), *deciding][:_WAYS]
        case ast.Call(func=ast.Name(id="any" | "all" as word), args=[ast.GeneratorExp() as items]) if not truth:
            ways = _ways(items.elt, truth=False)
            item = ways[0][0] if [len(way) for way in ways] == [1] else ast.UnaryOp(ast.Not(), items.elt)
            other = ast.GeneratorExp(item, items.generators)
            return [[ast.Call(ast.Name({"any": "all", "all": "any"}[word], ast.Load()), [other], [])]]
        case ast.Compare(left=left, ops=[op], comparators=[right]) if not truth and type(op) in _OPPOSITE:
            return [[ast.Compare(left, [_OPPOSITE[type(op)]()], [right])]]
        case _:
            return [[node if truth else ast.UnaryOp(ast.Not(), node)]]


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
