"""Typed expressions in Go; what the language has no expression for is a function literal that is called at once."""

from __future__ import annotations

from criticality.languages.base.expressions.rendering import Renderer
from criticality.languages.base.naming import capital, pascal
from criticality.languages.go.names import ident, kind, quoted
from criticality.spec.types import TypeRef


class GoRenderer(Renderer):
    """Renders expressions of one system."""

    package, title = "criticality.languages.go", "Go"
    quoted, ident, field = staticmethod(quoted), staticmethod(ident), staticmethod(pascal)
    member, prefix = staticmethod(capital), "domain."

    def kind(self, type_: TypeRef) -> str:
        return kind(self.spec, type_, prefix=self.prefix)


class Inside(GoRenderer):
    """Expressions inside of the package ``domain``."""

    prefix = ""
