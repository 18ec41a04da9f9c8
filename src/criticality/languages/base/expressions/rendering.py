"""Typed expressions as a language writes them: one printer, driven by the language's forms."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from criticality.languages.base.expressions.conversions import ExpressionFault
from criticality.languages.base.expressions.nodes import (
    Clause,
    Comprehension,
    Conditional,
    Constant,
    Expression,
    Field,
    Keyed,
    Make,
    Member,
    Operation,
    Quantifier,
    Unwrap,
    Variable,
    Wrap,
)
from criticality.languages.base.forms import Several, Written, chosen, forms
from criticality.languages.base.witnesses import checked
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import constraints_of


class Renderer(ABC):
    """Renders expressions of one system; a language says how it writes names, texts and types."""

    #: The package of the language, and its name for people.
    package: str
    title: str
    #: What stands before names of the domain.
    prefix = ""
    #: How a text is written down, and what a variable and a field are called.
    quoted: Callable[[str], str]
    ident: Callable[[str], str] = staticmethod(str)
    field: Callable[[str], str]
    #: What a member of an enum is called.
    member: Callable[[str], str] = staticmethod(str)

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.forms = forms(self.package)

    @abstractmethod
    def kind(self, type_: TypeRef) -> str:
        """Return a type, as an argument of another where that makes a difference."""

    @contextmanager
    def bound(self, name: str) -> Generator[str]:
        """Return what a name is called inside of what binds it."""
        yield self.ident(name)

    def render(self, node: Expression) -> str:
        """Return the expression.

        Raises:
            ExpressionFault: the language has no such operation.
        """
        return self.write(node).text

    def write(self, node: Expression) -> Written:
        """Return the expression, and how tightly it binds."""
        match node:
            case Constant():
                return self.constant(node)
            case Variable():
                return Written(self.ident(node.name))
            case Field():
                names = ("field_checked", "field") if checked(self.spec, node.record.type.name) else ("field",)
                return self.fill(node.type, names, self.write(node.record), name=self.field(node.name))
            case Member():
                return self.fill(node.type, ("member",), enum=node.type.name, name=self.member(node.name))
            case Make():
                values = [self.write(value) for _, value in node.values]
                names = ("make_checked", "make") if checked(self.spec, node.type.name) else ("make",)
                named = [
                    self.fill(node.type, ("named",), value, name=self.field(name))
                    for (name, _), value in zip(node.values, values, strict=True)
                ]
                return self.fill(node.type, names, all=Several(values), named=Several(named))
            case Wrap():
                names = ("wrap_checked", "wrap") if constraints_of(self.spec, node.type.name) else ("wrap",)
                return self.fill(node.type, names, self.write(node.value))
            case Unwrap():
                return self.fill(node.type, ("unwrap",), self.write(node.value))
            case Operation():
                return self.operation(node, [self.write(operand) for operand in node.operands])
            case Conditional():
                return self.fill(node.type, ("conditional",), *map(self.write, (node.test, node.yes, node.no)))
            case Quantifier():
                return self._quantifier(node)
            case Comprehension():
                return self._comprehension(node)
            case Keyed():
                items = self.write(node.items)
                with self.bound(node.variable) as variable:
                    key, names = self.write(node.key), (f"keyed_{node.name}", "keyed")
                    return self.fill(
                        node.key.type, names, items,
                        name=node.name, variable=variable, kind=self.kind(node.kind), body=key,
                    )  # fmt: skip

    def constant(self, node: Constant) -> Written:
        """Return a value written down."""
        match node.value:
            case None:
                return self.fill(node.type, ("unit" if node.type.name == "Unit" else "none",))
            case bool() as truth:
                return Written(str(truth).lower())
            case str() as text:
                return self.fill(node.type, ("text",), self.quoted(text))
            case number:
                name = "int" if isinstance(number, int) else "float" if isinstance(number, float) else "decimal"
                return self.fill(node.type, (f"negative_{name}", name) if number < 0 else (name,), number)

    def operation(self, node: Operation, operands: list[Written]) -> Written:
        """Return an operation on operands that are written already."""
        first = node.operands[0].type.name if node.operands else ""
        first = "Enum" if first in self.spec.enums else first
        last = node.operands[-1] if node.operands else None
        place = last.value if isinstance(last, Constant) and isinstance(last.value, int) else 0
        pairs = zip(operands[::2], operands[1::2], strict=False)
        return self.fill(
            node.type,
            (f"{node.name}.{len(operands)}", f"{first}.{node.name}", f"to.{node.type.name}.{node.name}", node.name),
            *operands,
            all=Several(operands),
            pairs=Several(self.fill(node.type, ("pair",), *pair) for pair in pairs) if node.name == "map" else "",
            numbered=Several(
                self.fill(node.type, ("numbered",), one, place=number) for number, one in enumerate(operands, 1)
            )
            if "numbered" in self.forms
            else "",
            place=place, after=place + 1, of=f"{node.name} of a {first}",
        )  # fmt: skip

    def fill(self, type_: TypeRef, names: Sequence[str], *operands: Any, of: str = "", **places: Any) -> Written:
        """Return the first form that there is of these names, filled.

        Raises:
            ExpressionFault: there is none, or it has no place for what is more than two.
        """
        form = chosen(self.forms, names)
        if form is not None and names[-1] in ("zip", "range") and len(operands) != 2 and "{all" not in form[1]:
            raise ExpressionFault(f"{self.title} has no {names[-1]} of {len(operands)} values here")
        if form is None:
            raise ExpressionFault(f"{self.title} has no {of or names[-1]} here")
        level, text = form
        if text == "{0}" and isinstance(operands[0], Written):
            return operands[0]
        places |= {"domain": self.prefix, "record": type_.name}
        # Only what a form has a place for: a language may have no name for the type of what it never writes down.
        places |= {name: write(type_) for name, write in self.types().items() if f"{{{name}}}" in text}
        return Written(text.format(*operands, **places), level)

    def types(self) -> dict[str, Callable[[TypeRef], str]]:
        """Return what writes a node's type, and the types that it is made of, by their places."""
        return {"type": self.kind, "inner": lambda type_: ", ".join(map(self.kind, type_.args))}

    def _quantifier(self, node: Quantifier) -> Written:
        name = "all" if node.every else "any"
        return self._through(node.clauses, lambda: self.write(node.condition), (name, name), TypeRef("Bool"))

    def _comprehension(self, node: Comprehension) -> Written:
        if "loop" in self.forms:
            return self._loops(node)
        element, name = node.type.args[0], f"made.{node.type.name}"
        if node.value is not None:
            element = TypeRef("Tuple", node.type.args)
        made = self._through(node.clauses, lambda: self._element(node, ("entry",)), ("flat", "each"), element)
        return self.fill(node.type, (name,), made) if name in self.forms else made

    def _element(self, node: Comprehension, names: Sequence[str]) -> Written:
        element = self.write(node.element)
        if node.value is None:
            return element
        return self.fill(TypeRef("Tuple", node.type.args), names, element, self.write(node.value))

    def _through(
        self, clauses: tuple[Clause, ...], body: Callable[[], Written], names: tuple[str, str], result: TypeRef
    ) -> Written:
        """Loops inside of loops, each a call with a function; the innermost is of the second name."""
        clause, *rest = clauses
        source = self.write(clause.source)
        with self.bound(clause.variable) as name:
            places = {"name": name, "kind": self.kind(clause.kind)}
            conditions = Several(self.write(condition) for condition in clause.conditions)
            if conditions and "where" in self.forms:
                chained = [Several([one]) for one in conditions] if "chained" in self.forms else [conditions]
                for group in chained:
                    source = self.fill(TypeRef("Bool"), ("where",), source, body=format(group, " && "), **places)
            inner = self._through(tuple(rest), body, names, result) if rest else body()
            if conditions and "where" not in self.forms:
                wanted = Several(Written(one.text, 0) for one in conditions)
                inner = self.fill(TypeRef("Bool"), (f"{names[1]}_if",), inner, conditions=wanted)
            if not rest and inner.text == name and "itself" in self.forms:
                return source
            kind = TypeRef("List", (result,)) if rest and names[0] != names[1] else result
            return self.fill(kind, (names[0] if rest else names[1],), source, body=inner, **places)

    def _loops(self, node: Comprehension) -> Written:
        """Return a collection that statements put together."""
        if node.value is None:
            inner = self.fill(node.type, (f"put.{node.type.name}", "put"), self.write(node.element))
        else:
            inner = self.fill(node.type, ("put.Map",), self.write(node.element), self.write(node.value))
        for clause in reversed(node.clauses):
            if clause.conditions:
                wanted = Several(Written(self.render(condition), 0) for condition in clause.conditions)
                inner = self.fill(node.type, ("guard",), inner, conditions=wanted)
            places = {"name": self.ident(clause.variable), "kind": self.kind(clause.kind)}
            inner = self.fill(node.type, ("loop",), self.write(clause.source), body=inner, **places)
        return self.fill(node.type, ("made",), inner)
