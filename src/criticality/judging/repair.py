"""Repair of values that do not fit: a clause is solved for one of the names in it, the simplest way first."""

from __future__ import annotations

import ast
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, Protocol, cast

from criticality.judging.domain import Domain, NotEvaluable
from criticality.spec.types import TypeRef, parse_type

_ROUNDS = 6
_Path = tuple[str, ...]


class Simplest(Protocol):
    """Where other values of a type come from."""

    domain: Domain

    def small(self, kind: TypeRef, constraints: tuple[str, ...] = ()) -> list[Any]:
        """Return the simplest values of a type."""
        ...


class Condition:
    """One predicate over names, cut into the parts that must all hold.

    Args:
        functions: callables for the names of functions that it calls.
    """

    def __init__(self, domain: Domain, code: str, functions: Mapping[str, Any] | None = None) -> None:
        self.domain, self.functions = domain, functions or {}
        self.parts = [ast.unparse(part) for part in _conjuncts(ast.parse(code, mode="eval").body)]
        self._trees = {part: ast.parse(part, mode="eval").body for part in self.parts}

    def broken(self, held: Mapping[str, Any]) -> str:
        """Return the first part that does not hold; empty where all do. What cannot be evaluated does not hold."""
        for part in self.parts:
            try:
                if not self.value(part, held):
                    return part
            except NotEvaluable:
                raise
            except Exception:
                return part
        return ""

    def value(self, text: str, held: Mapping[str, Any]) -> Any:
        """Evaluate an expression over the names."""
        return self.domain.evaluate(text, {**self.functions, **held})

    def solutions(self, part: str, held: Mapping[str, Any]) -> Iterator[tuple[_Path, Any]]:
        """Yield values for single places that may make a part hold."""
        yield from self._solved(self._trees[part], held, True)

    def _solved(self, node: ast.expr, held: Mapping[str, Any], wanted: bool) -> Iterator[tuple[_Path, Any]]:
        match node:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                yield from self._solved(inner, held, not wanted)
            case ast.BoolOp(values=values):
                for value in reversed(values):
                    yield from self._solved(value, held, wanted)
            case ast.Compare(left=left, ops=ops, comparators=rights):
                for one, op, other in zip([left, *rights], ops, rights, strict=False):
                    yield from self._compared(one, op, other, held)
                    yield from self._compared(other, _turned(op), one, held)
            case _:
                return

    def _compared(
        self, left: ast.expr, op: ast.cmpop, right: ast.expr, held: Mapping[str, Any]
    ) -> Iterator[tuple[_Path, Any]]:
        try:
            goal = self.value(ast.unparse(right), held)
            match left:
                case ast.BinOp(left=inner, op=ast.Mod(), right=by) if (path := _path(inner)) and path[0] in held:
                    step, now = self.value(ast.unparse(by), held), get(held, path)
                    yield path, now - now % step + goal
                    yield path, now - now % step + goal + step
                case ast.Call(func=ast.Name(id="len"), args=[of]) if (path := _path(of)) and path[0] in held:
                    now = get(held, path)
                    for size in (goal, goal - 1, goal + 1):
                        if 0 <= size <= 400 and len(now):
                            yield path, type(now)((now * (size // len(now) + 1))[:size])
                        elif 0 <= size <= len(now):
                            yield path, now[:size]
                case _ if (path := _path(left)) and path[0] in held:
                    if isinstance(op, ast.In):
                        yield from ((path, item) for item in list(goal)[:6])
                    elif _alike(get(held, path), goal):
                        yield path, goal
                        yield from ((path, goal + d) for d in (-1, 1))
                case _:
                    return
        except Exception:
            return


def _alike(one: Any, other: Any) -> bool:
    """Tell whether two values may stand in the same place: both numbers, both texts, both sequences."""
    return any(isinstance(one, kind) and isinstance(other, kind) for kind in ((int, float, Decimal), str, tuple))


def repaired(
    held: Mapping[str, Any], kinds: Mapping[str, TypeRef], conditions: Sequence[Condition], values: Simplest
) -> dict[str, Any] | None:
    """Return names and values that fulfil all conditions, changed a little; ``None`` where that fails."""
    now = dict(held)
    wrong = _broken(now, conditions)
    for _ in range(_ROUNDS):
        if not wrong:
            return now
        better = _better(now, wrong, kinds, conditions, values)
        if better is None:
            return None
        now, wrong = better
    return None if wrong else now


_Wrong = list[tuple[Condition, str]]


def _broken(held: Mapping[str, Any], conditions: Sequence[Condition]) -> _Wrong:
    return [(condition, part) for condition in conditions if (part := condition.broken(held))]


def _better(
    held: dict[str, Any],
    wrong: _Wrong,
    kinds: Mapping[str, TypeRef],
    conditions: Sequence[Condition],
    values: Simplest,
) -> tuple[dict[str, Any], _Wrong] | None:
    condition, part = wrong[0]
    best: tuple[dict[str, Any], _Wrong] | None = None
    for path, value in _candidates(held, condition, part, kinds, values):
        try:
            changed = put(held, path, value, kinds, values.domain)
        except Exception:
            continue
        left = _broken(changed, conditions)
        if (condition, part) in left:
            continue
        if not left:
            return changed, left
        if best is None or len(left) < len(best[1]):
            best = changed, left
    return best


def _candidates(
    held: Mapping[str, Any], condition: Condition, part: str, kinds: Mapping[str, TypeRef], values: Simplest
) -> Iterator[tuple[_Path, Any]]:
    yield from condition.solutions(part, held)
    paths = {p for node in ast.walk(ast.parse(part)) if (p := _path(node)) and p[0] in held}
    for path in sorted(paths, key=lambda p: (-len(p), p)):
        kind = _kind(path, kinds, values.domain)
        if kind is None:
            continue
        now = get(held, path)
        if isinstance(now, tuple) and len(path) == 1:
            for order in (ordered, _by_last):
                yield path, _greedy(held, path[0], order([*cast("tuple[Any, ...]", now)]), condition, part)
        if isinstance(now, tuple):
            items = list(dict.fromkeys(cast("tuple[Any, ...]", now)))
            for other in (items, ordered(items), ordered(items)[::-1], items[:1], []):
                yield path, tuple(other)
        yield from ((path, value) for value in values.small(kind)[: 8 if condition.functions else 24])


def ordered(items: list[Any]) -> list[Any]:
    """Return items in ascending order, records by their fields; as they are where they have none."""
    try:
        return sorted(items, key=_fields) if items and dataclasses.is_dataclass(items[0]) else sorted(items)
    except TypeError:
        return items


def _by_last(items: list[Any]) -> list[Any]:
    """Return records by their last field: of spans, those that end first come first."""
    try:
        return sorted(items, key=lambda item: _fields(item)[::-1])
    except TypeError:
        return items


def _greedy(
    held: Mapping[str, Any], name: str, items: list[Any], condition: Condition, part: str
) -> tuple[Any, ...]:
    """Return as many items, in order, as fulfil a part together."""
    mended: tuple[Any, ...] = ()
    if condition.functions or len(items) > 400:
        return mended
    for item in items:
        try:
            if condition.value(part, {**held, name: (*mended, item)}):
                mended = (*mended, item)
        except Exception:
            continue
    return mended


def _fields(value: Any) -> Any:
    """Return a record as the tuple of its fields, records and tuples in it too: copies of values are not needed."""
    if dataclasses.is_dataclass(value):
        return tuple(_fields(getattr(value, field.name)) for field in dataclasses.fields(value))
    return tuple(map(_fields, cast("tuple[Any, ...]", value))) if isinstance(value, tuple) else value


def _conjuncts(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for value in node.values:
            yield from _conjuncts(value)
    elif isinstance(node, ast.Compare) and len(node.ops) > 1:
        for left, op, right in zip([node.left, *node.comparators], node.ops, node.comparators, strict=False):
            yield ast.Compare(left, [op], [right])
    else:
        yield node


def _turned(op: ast.cmpop) -> ast.cmpop:
    turned: dict[type[ast.cmpop], type[ast.cmpop]] = {
        ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE,
    }  # fmt: skip
    return turned.get(type(op), type(op))()


def _path(node: ast.AST) -> _Path:
    """Return ``("account", "balance")`` for what reads ``account.balance``; empty for anything else."""
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=value, attr=name) if before := _path(value):
            return (*before, name)
        case _:
            return ()


def get(held: Mapping[str, Any], path: _Path) -> Any:
    """Return what stands at a place."""
    value = held[path[0]]
    for name in path[1:]:
        value = getattr(value, name)
    return value


def apart(domain: Domain, kind: TypeRef, items: Sequence[Any]) -> list[Any]:
    """Return items of a type without records that repeat a unique field of one before them."""
    model = domain.spec.data_models.get(kind.name)
    keys = [f.name for f in model.fields if "unique" in f.constraints] if model else []
    mended: list[Any] = []
    for item in items:
        if not any(getattr(item, key) == getattr(one, key) for key in keys for one in mended):
            mended.append(item)
    return mended


def put(
    held: Mapping[str, Any], path: _Path, value: Any, kinds: Mapping[str, TypeRef], domain: Domain
) -> dict[str, Any]:
    """Return the names with another value at one place, made of the type that belongs there.

    Raises:
        ValueError: the type, or a record around it, does not allow the value.
    """
    kind = _kind(path, kinds, domain)
    if kind is not None and kind.name == "List" and len(apart(domain, kind.args[0], value)) != len(value):
        raise ValueError("two records share what is unique")
    if kind is not None and kind.name in domain.spec.newtypes:
        value = domain.types[kind.name](value)
    for depth in range(len(path) - 1, 0, -1):
        value = dataclasses.replace(get(held, path[:depth]), **{path[depth]: value})
    return {**held, path[0]: value}


def _kind(path: _Path, kinds: Mapping[str, TypeRef], domain: Domain) -> TypeRef | None:
    kind = kinds.get(path[0])
    for name in path[1:]:
        model = domain.spec.data_models.get(kind.name) if kind else None
        kind = next((parse_type(f.type) for f in model.fields if f.name == name), None) if model else None
    return kind
