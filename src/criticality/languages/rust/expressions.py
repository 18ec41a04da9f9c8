"""Typed expressions in Rust: every value is rendered as one's own, so that no test has to think of lifetimes."""

from __future__ import annotations

from collections.abc import Callable

from criticality.languages.base.brackets import negated
from criticality.languages.base.expressions.nodes import Constant, Expression, Field, Operation, Unwrap, Variable
from criticality.languages.base.expressions.rendering import Renderer
from criticality.languages.base.forms import Written
from criticality.languages.base.naming import capital
from criticality.languages.base.witnesses import checked
from criticality.languages.rust.names import ident, is_copied, own, owned
from criticality.spec.types import TypeRef

_COPIES = (".clone()", ".to_string()", ".to_vec()")


def quoted(text: str) -> str:
    """Return a string literal."""
    shown = (f"\\u{{{ord(c):x}}}" if not c.isprintable() else f"\\{c}" if c in '"\\' else c for c in text)
    return f'"{"".join(shown)}"'


class RustRenderer(Renderer):
    """Renders expressions of one system."""

    package, title = "criticality.languages.rust", "Rust"
    quoted, ident, field = staticmethod(quoted), staticmethod(ident), staticmethod(ident)
    member = staticmethod(capital)

    def kind(self, type_: TypeRef) -> str:
        return owned(type_)

    def types(self) -> dict[str, Callable[[TypeRef], str]]:
        def path(type_: TypeRef) -> str:
            """``Vec<i64>`` -> ``Vec::<i64>``."""
            return owned(type_).replace("<", "::<", 1)

        return {**super().types(), "path": path}

    def write(self, node: Expression) -> Written:
        """Return the expression; its value is owned."""
        match node:
            case Variable():
                return Written(ident(node.name) + ("" if is_copied(self.spec, node.type) else ".clone()"))
            case Unwrap():
                return Written(own(self.spec, node.type, f"{self._lent(node.value)}.get()"))
            case Field():
                place = f"{self._lent(node.record)}.{ident(node.name)}"
                if checked(self.spec, node.record.type.name):
                    return Written(own(self.spec, node.type, f"{place}()"))
                moved = is_copied(self.spec, node.type) or not isinstance(node.record, Variable)
                return Written(place if moved else f"{place}.clone()")
            case _:
                return super().write(node)

    def _lent(self, node: Expression) -> str:
        return self.render(node).removesuffix(".clone()")

    def operation(self, node: Operation, operands: list[Written]) -> Written:
        match node.name:
            case "not":
                return Written(negated(operands[0].text))
            case "list" | "set" | "map" if not operands:
                return self.fill(node.type, (f"empty.{node.name}",))
            case "equal" | "less" | "less_equal" if all(
                isinstance(one, Variable | Field | Unwrap | Constant) for one in node.operands
            ):
                # Values that are only looked at need no copies.
                for copied in _COPIES:
                    if all(one.text.endswith(copied) for one in operands):
                        operands = [Written(one.text.removesuffix(copied)) for one in operands]
                        break
                return super().operation(node, operands)
            case _:
                return super().operation(node, operands)
