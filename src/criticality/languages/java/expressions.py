"""Typed expressions in Java. Names that an expression binds are made new, since no lambda may hide a variable."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from itertools import count

from criticality.languages.base.expressions.rendering import Renderer
from criticality.languages.java.names import ident, kind, quoted
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef


class JavaRenderer(Renderer):
    """Renders expressions of one system."""

    package, title = "criticality.languages.java", "Java"
    quoted, field, member = staticmethod(quoted), staticmethod(ident), staticmethod(str.upper)

    def __init__(self, spec: Spec) -> None:
        super().__init__(spec)
        self._names: dict[str, str] = {}
        self._numbers = count(1)

    def ident(self, name: str) -> str:
        return self._names.get(name) or ident(name)

    def kind(self, type_: TypeRef) -> str:
        return kind(type_, boxed=True)

    @contextmanager
    def bound(self, name: str) -> Generator[str]:
        before = dict(self._names)
        self._names[name] = f"{ident(name)}{next(self._numbers)}"
        yield self._names[name]
        self._names = before
