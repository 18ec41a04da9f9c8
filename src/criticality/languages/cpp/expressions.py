"""Typed expressions in C++, over the functions of ``support/values.hpp``."""

from __future__ import annotations

from decimal import Decimal

from criticality.languages.base.brackets import negated
from criticality.languages.base.expressions.conversions import ExpressionFault
from criticality.languages.base.expressions.nodes import Constant, Operation
from criticality.languages.base.expressions.rendering import Renderer
from criticality.languages.base.forms import Written
from criticality.languages.base.naming import capital
from criticality.languages.cpp.names import ident, owned
from criticality.spec.types import TypeRef


def quoted(text: str) -> str:
    """Return a string literal; what is not ASCII is written byte by byte."""
    made = ""
    for byte in text.encode():
        char = chr(byte)
        made += f"\\{char}" if char in '"\\' else char if " " <= char <= "~" and char != "?" else f"\\{byte:03o}"
    return f'"{made}"'


class CppRenderer(Renderer):
    """Renders expressions of one system."""

    package, title = "criticality.languages.cpp", "C++"
    quoted, ident, field = staticmethod(quoted), staticmethod(ident), staticmethod(ident)
    member = staticmethod(capital)

    def kind(self, type_: TypeRef) -> str:
        return owned(type_)

    def constant(self, node: Constant) -> Written:
        if not isinstance(node.value, Decimal):
            return super().constant(node)
        places = max(0, -int(node.value.as_tuple().exponent))
        if places > 6:
            raise ExpressionFault(f"{node.value} has more than six places")
        return Written(f"Decimal::of({int(node.value.scaleb(places))}, {places})")

    def operation(self, node: Operation, operands: list[Written]) -> Written:
        if node.name == "not":
            return Written(negated(operands[0].text))
        return super().operation(node, operands)
