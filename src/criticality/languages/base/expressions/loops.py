"""What goes through collections: comprehensions, quantifiers, and the names that they bind."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TypeAlias

from criticality.languages.base.expressions.conversions import UNKNOWN, ExpressionFault, items_of, operation
from criticality.languages.base.expressions.nodes import (
    BOOL,
    Clause,
    Comprehension,
    Expression,
    Member,
    Quantifier,
    Variable,
)
from criticality.languages.base.expressions.scope import Reader
from criticality.spec.types import TypeRef

Comprehended: TypeAlias = ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.DictComp


def comprehension(reader: Reader, node: Comprehended) -> Expression:
    """Read a list (of a generator too), a set or a map."""

    def element() -> Expression:
        if isinstance(node, ast.DictComp):
            key, value = reader.read(node.key), reader.read(node.value)
            return Comprehension(TypeRef("Map", (key.type, value.type)), (), key, value)
        item = reader.read(node.elt)
        return Comprehension(TypeRef("Set" if isinstance(node, ast.SetComp) else "List", (item.type,)), (), item)

    clauses, whole = _within(reader, node.generators, element)
    assert isinstance(whole, Comprehension)
    return Comprehension(whole.type, clauses, whole.element, whole.value)


def quantified(reader: Reader, node: ast.GeneratorExp | ast.ListComp | ast.SetComp, *, every: bool) -> Expression:
    """``all(... for ...)`` and ``any(... for ...)``."""
    clauses, inner = _within(reader, node.generators, lambda: reader.condition(node.elt))
    return Quantifier(BOOL, every, clauses, inner)


def _within(
    reader: Reader, generators: Sequence[ast.comprehension], inner: Callable[[], Expression]
) -> tuple[tuple[Clause, ...], Expression]:
    """Return the clauses of a comprehension, and what stands inside them."""
    before = dict(reader.names)
    clauses: list[Clause] = []
    for generator in generators:
        source = iterated(reader, generator.iter)
        name, kind = _bind(reader, generator.target, source.type.args[0])
        clauses.append(Clause(name, kind, source, tuple(map(reader.condition, generator.ifs))))
    whole = inner()
    reader.names = before
    return tuple(clauses), whole


def iterated(reader: Reader, node: ast.expr) -> Expression:
    """Return what a loop goes through, as a list whose elements are known."""
    if isinstance(node, ast.Name) and node.id in reader.scope.spec.enums:
        kind = TypeRef(node.id)
        members = (Member(kind, name) for name in reader.scope.spec.enums[node.id])
        return operation("list", TypeRef("List", (kind,)), *members)
    items = reader.convert.listed(reader.read(node))
    if UNKNOWN in items.type.args:
        raise ExpressionFault(f"{ast.unparse(node)!r}: nothing says what its elements are")
    return items


def _bind(reader: Reader, target: ast.expr, kind: TypeRef) -> tuple[str, TypeRef]:
    """Name what a loop goes through; unpacked names stand for items of one variable."""
    if isinstance(target, ast.Name):
        reader.names[target.id] = Variable(kind, target.id)
        return target.id, kind
    if not isinstance(target, ast.Tuple):
        raise ExpressionFault(f"{ast.unparse(target)!r} cannot be a loop's name")
    name = reader.convert.fresh()
    _unpack(reader, target, Variable(kind, name))
    return name, kind


def _unpack(reader: Reader, target: ast.Tuple, value: Expression) -> None:
    if value.type.name != "Tuple" or len(value.type.args) != len(target.elts):
        raise ExpressionFault(f"a {value.type} does not come apart into {len(target.elts)} names")
    for part, item in zip(target.elts, items_of(value), strict=True):
        if isinstance(part, ast.Name):
            reader.names[part.id] = item
        elif isinstance(part, ast.Tuple):
            _unpack(reader, part, item)
        else:
            raise ExpressionFault(f"{ast.unparse(part)!r} cannot be a loop's name")
