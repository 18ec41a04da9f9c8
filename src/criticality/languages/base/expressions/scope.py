"""What an expression may name, and what reads the parts that stand inside a call or a loop."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Protocol

from criticality.languages.base.expressions.conversions import Conversions
from criticality.languages.base.expressions.nodes import Expression
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from llm_runtime.structs import Struct


class Scope(Struct):
    """What an invariant may name: the types of a specification and a record's fields."""

    spec: Spec
    variables: Mapping[str, TypeRef]


class Reader(Protocol):
    """Reads the expressions of one scope."""

    scope: Scope
    convert: Conversions
    names: dict[str, Expression]

    def read(self, node: ast.expr, wanted: TypeRef | None = None) -> Expression:
        """Read any expression; ``wanted`` helps where the text alone does not say."""
        ...

    def plain(self, node: ast.expr, wanted: TypeRef | None = None) -> Expression:
        """Read a value to compute with."""
        ...

    def condition(self, node: ast.expr) -> Expression:
        """Read whatever counts as true or false."""
        ...

    def number(self, node: ast.expr) -> Expression:
        """Read a value that can be computed with; a truth value is 0 or 1."""
        ...

    def alike(self, nodes: Sequence[ast.expr], wanted: TypeRef | None = None) -> list[Expression]:
        """Read several values as one type."""
        ...
