"""Types that meet: what two have in common, and how a value of one becomes a value of the other."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from itertools import count

from criticality.languages.base.expressions.nodes import (
    BOOL,
    INT,
    Clause,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    Operation,
    OperationName,
    Unwrap,
    Variable,
    Wrap,
)
from criticality.spec.predicates import PredicateFault
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type

NUMBERS = ("Int", "Decimal", "Float")
#: Element of an empty display, until something says what it is.
UNKNOWN = TypeRef("?")


class ExpressionFault(PredicateFault):
    """An expression that a typed language cannot render; one line says why."""


def operation(name: OperationName, kind: TypeRef, *operands: Expression) -> Operation:
    """Return an operation on these operands."""
    return Operation(kind, name, operands)


def items_of(value: Expression) -> Iterator[Operation]:
    """Return the items of a tuple, each as an expression."""
    return (operation("item", kind, value, Constant(INT, n)) for n, kind in enumerate(value.type.args))


def normal(kind: TypeRef) -> TypeRef:
    """One name for each type: ``String`` is ``Text``."""
    return TypeRef("Text" if kind.name == "String" else kind.name, tuple(map(normal, kind.args)))


class Conversions:
    """Conversions among the types of one specification; names that they bind are ``each_1`` and so on."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self._names: Iterator[int] = count(1)

    def fresh(self) -> str:
        """Return a name that no expression of a person has."""
        return f"each_{next(self._names)}"

    def root(self, kind: TypeRef) -> TypeRef:
        """Return what a type comes down to through newtypes."""
        while kind.name in self.spec.newtypes:
            kind = normal(parse_type(self.spec.newtypes[kind.name].base))
        return kind

    def plain(self, value: Expression) -> Expression:
        """Return a value to compute with: out of its option and its newtype."""
        if value.type.name == "Option":
            return self.plain(operation("get", value.type.args[0], value))
        root = self.root(value.type)
        return value if root == value.type else Unwrap(root, value)

    def truth(self, value: Expression) -> Expression:
        """Tell whether a value counts as true."""
        if value.type.name == "Option":
            return operation("is_some", BOOL, value)
        value = self.plain(value)
        if value.type == BOOL:
            return value
        if value.type.name in ("List", "Set", "Map", "Text", "Bytes"):
            return operation("less", BOOL, Constant(INT, 0), operation("length", INT, value))
        if value.type.name in NUMBERS:
            return operation("not", BOOL, operation("equal", BOOL, value, self.to(Constant(INT, 0), value.type)))
        raise ExpressionFault(f"a {value.type} is neither true nor false; write a comparison")

    def common(self, left: TypeRef, right: TypeRef) -> TypeRef:
        """Return the type that both become before they are compared.

        Raises:
            ExpressionFault: there is none.
        """
        if left == right:
            return left
        if UNKNOWN in (left, right):
            return right if left == UNKNOWN else left
        if "Option" in (left.name, right.name):
            inner = [kind.args[0] if kind.name == "Option" else kind for kind in (left, right)]
            return TypeRef("Option", (self.common(*inner),))
        first, second = self.root(left), self.root(right)
        if first.name in NUMBERS and second.name in NUMBERS:
            names = {first.name, second.name}
            if names != {"Decimal", "Float"}:
                return next(TypeRef(name) for name in ("Float", "Decimal", "Int") if name in names)
        if first.name == second.name and len(first.args) == len(second.args):
            return TypeRef(first.name, tuple(self.common(a, b) for a, b in zip(first.args, second.args, strict=True)))
        raise ExpressionFault(f"{left} and {right} have nothing in common")

    def to(self, value: Expression, wanted: TypeRef) -> Expression:
        """Return the value as one of the wanted type.

        Raises:
            ExpressionFault: it cannot be.
        """
        if value.type == wanted:
            return value
        if wanted.name == "Option":
            if value.type.name != "Option":
                return operation("some", wanted, self.to(value, wanted.args[0]))
            if isinstance(value, Constant):
                return Constant(wanted, None)
            some = operation("some", wanted, self.to(operation("get", value.type.args[0], value), wanted.args[0]))
            return Conditional(wanted, operation("is_some", BOOL, value), some, Constant(wanted, None))
        value = self.plain(value)
        root = self.root(wanted)
        if wanted != root:
            return Wrap(wanted, self.to(value, root))
        if value.type == wanted:
            return value
        return self._across(value, wanted)

    def _across(self, value: Expression, wanted: TypeRef) -> Expression:
        """From one root type to another."""
        match value.type.name, wanted.name:
            case "Int", "Decimal" | "Float" if isinstance(value, Constant):
                assert isinstance(value.value, int)
                return Constant(wanted, Decimal(value.value) if wanted.name == "Decimal" else float(value.value))
            case "Int", "Decimal":
                return operation("to_decimal", wanted, value)
            case "Int", "Float":
                return operation("to_float", wanted, value)
            case "Tuple", "List" if isinstance(value, Operation) and value.name == "tuple":
                return operation("list", wanted, *(self.to(part, wanted.args[0]) for part in value.operands))
            case ("List", "List") | ("Set", "Set"):
                return self._each(value, wanted)
            case "Map", "Map":
                return self._each_entry(value, wanted)
            case "Tuple", "Tuple" if len(value.type.args) == len(wanted.args):
                parts = (self.to(item, kind) for item, kind in zip(items_of(value), wanted.args, strict=True))
                return operation("tuple", wanted, *parts)
            case _:
                raise ExpressionFault(f"a {value.type} stands where a {wanted} is wanted")

    def _each(self, value: Expression, wanted: TypeRef) -> Expression:
        if isinstance(value, Operation) and value.name in ("list", "set"):
            return operation(value.name, wanted, *(self.to(part, wanted.args[0]) for part in value.operands))
        kind, name = value.type.args[0], self.fresh()
        clause = Clause(name, kind, self.listed(value), ())
        return Comprehension(wanted, (clause,), self.to(Variable(kind, name), wanted.args[0]))

    def _each_entry(self, value: Expression, wanted: TypeRef) -> Expression:
        if isinstance(value, Operation) and value.name == "map":
            parts = (self.to(part, wanted.args[n % 2]) for n, part in enumerate(value.operands))
            return operation("map", wanted, *parts)
        kind, name = TypeRef("Tuple", value.type.args), self.fresh()
        source = operation("entries", TypeRef("List", (kind,)), value)
        items = items_of(Variable(kind, name))
        key, held = (self.to(item, arg) for item, arg in zip(items, wanted.args, strict=True))
        return Comprehension(wanted, (Clause(name, kind, source, ()),), key, held)

    def listed(self, value: Expression) -> Expression:
        """Return what a loop goes through, as a list."""
        value = self.plain(value)
        match value.type.name:
            case "List":
                return value
            case "Set":
                return operation("to_list", TypeRef("List", value.type.args), value)
            case "Map":
                return operation("keys", TypeRef("List", value.type.args[:1]), value)
            case "Text":
                return operation("characters", TypeRef("List", (value.type,)), value)
            case "Tuple" if len(set(value.type.args)) == 1:
                return operation("list", TypeRef("List", value.type.args[:1]), *items_of(value))
            case _:
                raise ExpressionFault(f"nothing goes through a {value.type}")
