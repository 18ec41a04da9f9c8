"""From the text of a predicate to a typed expression: names resolved, types inferred, conversions written out."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from decimal import Decimal
from typing import cast

from criticality.languages.base.expressions import calls, loops
from criticality.languages.base.expressions.conversions import UNKNOWN, Conversions, ExpressionFault, normal, operation
from criticality.languages.base.expressions.nodes import (
    BOOL,
    DECIMAL,
    FLOAT,
    INT,
    TEXT,
    Conditional,
    Constant,
    Expression,
    Field,
    Member,
    OperationName,
    Variable,
    walk,
)
from criticality.languages.base.expressions.scope import Scope
from criticality.spec.types import TypeRef, parse_type
from llm_runtime.rewording import instead

__all__ = ["ExpressionFault", "Scope", "condition", "typed"]

_KINDS: dict[type, TypeRef] = {bool: BOOL, int: INT, str: TEXT}
_ORDERED = ("Int", "Decimal", "Float", "Text", "Date", "Timestamp", "Tuple", "List")
_ARITHMETIC: dict[type[ast.operator], OperationName] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "modulo", ast.Pow: "power",
}  # fmt: skip
_SETS: dict[type[ast.operator], OperationName] = {
    ast.BitAnd: "intersection", ast.BitOr: "union", ast.Sub: "difference",
}  # fmt: skip


def typed(code: str, scope: Scope, wanted: TypeRef | None = None) -> Expression:
    """Return the typed expression of a text in the language of predicates, without ``implies`` and ``old``.

    Args:
        wanted: the type that it must have or become.

    Raises:
        ExpressionFault: it is outside what typed languages render.
    """
    reader = ExpressionReader(scope)
    kind = normal(wanted) if wanted is not None else None
    expression = reader.read(_parsed(code), kind)
    return _known(code, reader.convert.to(expression, kind) if kind is not None else expression)


def condition(code: str, scope: Scope) -> Expression:
    """Return the typed expression of a condition, of type Bool.

    Raises:
        ExpressionFault: it is outside what typed languages render.
    """
    return _known(code, ExpressionReader(scope).condition(_parsed(code)))


def _known(code: str, expression: Expression) -> Expression:
    """Return the expression, whose every part has a type."""
    if any(UNKNOWN in node.type.parts() for node in walk(expression)):
        raise ExpressionFault(f"{code!r}: nothing says what its elements are")
    return expression


def _parsed(code: str) -> ast.expr:
    with instead(ExpressionFault(f"{code!r} is no expression"), SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse(code, mode="eval").body


class ExpressionReader:
    """Reads the expressions of one scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.convert = Conversions(scope.spec)
        self.names: dict[str, Expression] = {
            name: Variable(normal(kind), name) for name, kind in scope.variables.items()
        }

    def condition(self, node: ast.expr) -> Expression:
        """Whatever counts as true or false."""
        return self.convert.truth(self.read(node))

    def plain(self, node: ast.expr, wanted: TypeRef | None = None) -> Expression:
        """Read a value to compute with."""
        return self.convert.plain(self.read(node, wanted))

    def read(self, node: ast.expr, wanted: TypeRef | None = None) -> Expression:
        """Any expression; ``wanted`` helps where the text alone does not say."""
        match node:
            case ast.Constant():
                return self._constant(node, wanted)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return calls.call(self, node, wanted)
            case ast.BoolOp():
                name: OperationName = "and" if isinstance(node.op, ast.And) else "or"
                return operation(name, BOOL, *map(self.condition, node.values))
            case ast.UnaryOp():
                return self._unary(node)
            case ast.BinOp():
                return self._binary(node, wanted)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                yes, no = self._pair(node.body, node.orelse, wanted)
                return Conditional(yes.type, self.condition(node.test), yes, no)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Tuple() | ast.List() | ast.Set():
                return self._display(node, wanted)
            case ast.Dict():
                return self._map(node, wanted)
            case ast.GeneratorExp() | ast.ListComp() | ast.SetComp() | ast.DictComp():
                return loops.comprehension(self, node)
            case _:
                raise ExpressionFault(f"{ast.unparse(node)!r} is outside what typed languages render")

    def _constant(self, node: ast.Constant, wanted: TypeRef | None) -> Expression:
        match node.value:
            case None:
                if wanted is not None and wanted.name in ("Option", "Unit"):
                    return Constant(wanted, None)
                return Constant(TypeRef("Option", (UNKNOWN,)), None)
            case bool() | int() | str() as value:
                return Constant(_KINDS[type(value)], value)
            case float() as value:
                root = self.convert.root(wanted) if wanted is not None else None
                return Constant(DECIMAL, Decimal(str(value))) if root == DECIMAL else Constant(FLOAT, value)
            case _:
                raise ExpressionFault(f"{node.value!r} is no constant of the type language")

    def _name(self, node: ast.Name) -> Expression:
        value = self.names.get(node.id)
        if value is None:
            raise ExpressionFault(f"{node.id} is no value here")
        return value

    def _attribute(self, node: ast.Attribute) -> Expression:
        if isinstance(node.value, ast.Name) and node.value.id in self.scope.spec.enums:
            owner = node.value.id
            member = next((m for m in self.scope.spec.enums[owner] if node.attr in (m, m.upper())), None)
            if member is None:
                raise ExpressionFault(f"{owner} has no member {node.attr}")
            return Member(TypeRef(owner), member)
        value = self.plain(node.value)
        if value.type.name in self.scope.spec.enums and node.attr == "value":
            return operation("enum_text", TEXT, value)
        model = self.scope.spec.data_models.get(value.type.name)
        field = next((f for f in model.fields if f.name == node.attr), None) if model else None
        if field is None:
            raise ExpressionFault(f"a {value.type} has no {node.attr}")
        return Field(normal(parse_type(field.type)), value, field.name)

    def _unary(self, node: ast.UnaryOp) -> Expression:
        if isinstance(node.op, ast.Not):
            return operation("not", BOOL, self.condition(node.operand))
        value = self.number(node.operand)
        if not isinstance(node.op, ast.USub):
            return value
        if isinstance(value, Constant) and not isinstance(value.value, bool | str | None):
            return Constant(value.type, -value.value)
        return operation("negate", value.type, value)

    def number(self, node: ast.expr) -> Expression:
        """Read a value that can be computed with; a truth value is 0 or 1."""
        value = self.plain(node)
        if value.type == BOOL:
            return Conditional(INT, value, Constant(INT, 1), Constant(INT, 0))
        if value.type.name not in ("Int", "Decimal", "Float"):
            raise ExpressionFault(f"{ast.unparse(node)!r} is a {value.type}, no number")
        return value

    def _binary(self, node: ast.BinOp, wanted: TypeRef | None) -> Expression:
        left, right = self._pair(node.left, node.right, self.convert.root(wanted) if wanted else None)
        left, right = self.convert.plain(left), self.convert.plain(right)
        kind = left.type
        if kind.name in ("List", "Text") and isinstance(node.op, ast.Add):
            return operation("concat", kind, left, right)
        if kind.name == "Set" and type(node.op) in _SETS:
            return operation(_SETS[type(node.op)], kind, left, right)
        name = _ARITHMETIC.get(type(node.op))
        if name is None or kind.name not in ("Int", "Decimal", "Float", "Bool"):
            raise ExpressionFault(f"{ast.unparse(node)!r}: not an operation on {kind}")
        if kind == BOOL:
            left, right = self.number(node.left), self.number(node.right)
            kind = INT
        if name == "divide" and kind == INT:
            raise ExpressionFault(f"{ast.unparse(node)!r}: whole numbers are divided by //")
        return operation(name, kind, left, right)

    def _pair(self, first: ast.expr, second: ast.expr, wanted: TypeRef | None = None) -> tuple[Expression, Expression]:
        """Two values as one type; each helps to understand the other."""
        left, right = self.read(first, wanted), self.read(second, wanted)
        if UNKNOWN in left.type.parts() or isinstance(first, ast.Tuple | ast.Constant):
            left = self.read(first, right.type)
        if UNKNOWN in right.type.parts() or isinstance(second, ast.Tuple | ast.Constant):
            right = self.read(second, left.type)
        kind = self.convert.common(left.type, right.type)
        return self.convert.to(left, kind), self.convert.to(right, kind)

    def _comparison(self, node: ast.Compare) -> Expression:
        values = [node.left, *node.comparators]
        pairs = zip(values, values[1:], node.ops, strict=False)
        comparisons = [self._compared(left, right, op) for left, right, op in pairs]
        return comparisons[0] if len(comparisons) == 1 else operation("and", BOOL, *comparisons)

    def _compared(self, left: ast.expr, right: ast.expr, op: ast.cmpop) -> Expression:
        match op:
            case ast.In() | ast.NotIn():
                contained = self._contains(left, right)
                return contained if isinstance(op, ast.In) else operation("not", BOOL, contained)
            case ast.Eq() | ast.Is():
                return self._equal(left, right)
            case ast.NotEq() | ast.IsNot():
                return operation("not", BOOL, self._equal(left, right))
            case _:
                first, second = self._pair(left, right)
                first, second = self.convert.plain(first), self.convert.plain(second)
        strict = isinstance(op, ast.Lt | ast.Gt)
        if isinstance(op, ast.Gt | ast.GtE):
            first, second = second, first
        if first.type.name == "Set":
            inside = operation("subset", BOOL, first, second)
            same = operation("equal", BOOL, first, second)
            return operation("and", BOOL, inside, operation("not", BOOL, same)) if strict else inside
        if first.type.name not in _ORDERED:
            raise ExpressionFault(f"values of {first.type} have no order")
        return operation("less" if strict else "less_equal", BOOL, first, second)

    def _equal(self, left: ast.expr, right: ast.expr) -> Expression:
        for nothing, other in ((right, left), (left, right)):
            if isinstance(nothing, ast.Constant) and nothing.value is None:
                value = self.read(other)
                if value.type.name != "Option":
                    raise ExpressionFault(f"{ast.unparse(other)!r} is a {value.type}, which is never None")
                return operation("not", BOOL, operation("is_some", BOOL, value))
        first, second = self._pair(left, right)
        if first.type.name != "Option":
            first, second = self.convert.plain(first), self.convert.plain(second)
        return operation("equal", BOOL, first, second)

    def _contains(self, item: ast.expr, container: ast.expr) -> Expression:
        holder = self.plain(container)
        if holder.type.name == "Tuple":
            holder = self.convert.listed(holder)
        if holder.type.name == "Text":
            return operation("contains", BOOL, holder, self.convert.to(self.read(item), TEXT))
        if holder.type.name not in ("List", "Set", "Map"):
            raise ExpressionFault(f"nothing is in a {holder.type}")
        value = self.read(item, holder.type.args[0])
        kind = self.convert.common(holder.type.args[0], value.type)
        whole = TypeRef(holder.type.name, (kind, *holder.type.args[1:]))
        return operation("contains", BOOL, self.convert.to(holder, whole), self.convert.to(value, kind))

    def _subscript(self, node: ast.Subscript) -> Expression:
        value = self.plain(node.value)
        if value.type.name == "Map":
            key = self.convert.to(self.read(node.slice), value.type.args[0])
            return operation("lookup", value.type.args[1], value, key)
        if value.type.name == "Tuple":
            place = node.slice.value if isinstance(node.slice, ast.Constant) else None
            if not isinstance(place, int) or not 0 <= place < len(value.type.args):
                raise ExpressionFault(f"{ast.unparse(node)!r}: the item of a tuple is a constant from 0 on")
            return operation("item", value.type.args[place], value, Constant(INT, place))
        if value.type.name not in ("List", "Text"):
            raise ExpressionFault(f"{ast.unparse(node)!r}: a {value.type} has no positions")
        if isinstance(node.slice, ast.Slice):
            if node.slice.step is not None:
                raise ExpressionFault(f"{ast.unparse(node)!r}: a slice with a step; use a comprehension")
            start = self._place(node.slice.lower, value) if node.slice.lower else Constant(INT, 0)
            stop = self._place(node.slice.upper, value) if node.slice.upper else operation("length", INT, value)
            return operation("slice", value.type, value, start, stop)
        kind = value.type.args[0] if value.type.name == "List" else TEXT
        return operation("index", kind, value, self._place(node.slice, value))

    def _place(self, node: ast.expr, value: Expression) -> Expression:
        """Read a position from the beginning; a negative constant counts from the end."""
        place = self.number(node)
        if isinstance(place, Constant) and isinstance(place.value, int) and place.value < 0:
            return operation("subtract", INT, operation("length", INT, value), Constant(INT, -place.value))
        return self.convert.to(place, INT)

    def _display(self, node: ast.Tuple | ast.List | ast.Set, wanted: TypeRef | None) -> Expression:
        root = self.convert.root(wanted) if wanted is not None else None
        if any(isinstance(part, ast.Starred) for part in node.elts):
            return self._chained(node.elts, root)
        if isinstance(node, ast.Tuple) and node.elts and (root is None or root.name != "List"):
            inner = root.args if root is not None and len(root.args) == len(node.elts) else (None,) * len(node.elts)
            parts = tuple(self.read(part, kind) for part, kind in zip(node.elts, inner, strict=True))
            return operation("tuple", TypeRef("Tuple", tuple(part.type for part in parts)), *parts)
        name = "set" if isinstance(node, ast.Set) else "list"
        item_type = root.args[0] if root is not None and root.name in ("List", "Set") else None
        values = self.alike(node.elts, item_type)
        kind = values[0].type if values else item_type or UNKNOWN
        return operation(name, TypeRef(name.capitalize(), (kind,)), *values)

    def _chained(self, parts: Sequence[ast.expr], wanted: TypeRef | None) -> Expression:
        """Read ``[*a, b]`` as ``a + [b]``."""
        lists = [
            self.convert.listed(self.read(part.value, wanted))
            if isinstance(part, ast.Starred)
            else self._display(ast.List([part], ast.Load()), wanted)
            for part in parts
        ]
        kind = lists[0].type
        for other in lists[1:]:
            kind = self.convert.common(kind, other.type)
        return operation("concat", kind, *(self.convert.to(part, kind) for part in lists))

    def alike(self, nodes: Sequence[ast.expr], wanted: TypeRef | None = None) -> list[Expression]:
        """Several values as one type."""
        values = [self.read(node, wanted) for node in nodes]
        kind = wanted or (values[0].type if values else UNKNOWN)
        for value in values:
            kind = self.convert.common(kind, value.type)
        return [self.convert.to(value, kind) for value in values]

    def _map(self, node: ast.Dict, wanted: TypeRef | None) -> Expression:
        root = self.convert.root(wanted) if wanted is not None else None
        types = root.args if root is not None and root.name == "Map" else (None, None)
        if any(key is None for key in node.keys):
            raise ExpressionFault(f"{ast.unparse(node)!r}: write every key")
        keys = self.alike(cast("list[ast.expr]", node.keys), types[0])
        values = self.alike(node.values, types[1])
        kinds = (keys[0].type, values[0].type) if keys else (types[0] or UNKNOWN, types[1] or UNKNOWN)
        parts = (part for pair in zip(keys, values, strict=True) for part in pair)
        return operation("map", TypeRef("Map", kinds), *parts)
