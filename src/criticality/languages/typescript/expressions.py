"""Typed expressions as TypeScript; operations that JavaScript lacks stand in ``by-value.ts``, imported as ``$``."""

from __future__ import annotations

import json

from criticality.languages.base.expressions.nodes import Operation
from criticality.languages.base.expressions.rendering import Renderer
from criticality.languages.base.forms import Written
from criticality.languages.base.naming import camel
from criticality.languages.typescript.names import annotation, identifier
from criticality.spec.types import TypeRef

_EQUAL = 3
#: Types whose values are the same where ``===`` says so.
_IDENTICAL = frozenset({"Int", "Float", "Text", "Bool", "UUID", "Date"})


def quoted(text: str) -> str:
    """Return a text as a literal."""
    return json.dumps(text, ensure_ascii=True)


class TypeScriptRenderer(Renderer):
    """Renders expressions of one system."""

    package, title = "criticality.languages.typescript", "TypeScript"
    quoted, ident, field = staticmethod(quoted), staticmethod(identifier), staticmethod(camel)

    def kind(self, type_: TypeRef) -> str:
        return annotation(type_)

    def operation(self, node: Operation, operands: list[Written]) -> Written:
        match node.name:
            case "not":
                return self._not(node, operands)
            case "list" if not operands:
                return self.fill(node.type, ("empty.list",))
            case "contains" if node.operands[0].type.name == "List" and node.operands[1].type.name in _IDENTICAL:
                return self.fill(node.type, ("List.includes",), *operands)
            case _:
                return super().operation(node, operands)

    def _not(self, node: Operation, operands: list[Written]) -> Written:
        (inner,), (text,) = node.operands, operands
        if isinstance(inner, Operation) and inner.name == "not":
            return self.write(inner.operands[0])
        if isinstance(inner, Operation) and inner.name == "is_some":
            return Written(f"{self.write(inner.operands[0]):4} === undefined", _EQUAL)
        if text.level == _EQUAL:
            equals = text.text.count(" === ")
            return Written(text.text.replace(" === ", " !== ", 1) if equals == 1 else f"!({text})", _EQUAL)
        return super().operation(node, operands)
