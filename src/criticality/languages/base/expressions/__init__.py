"""Invariants and values as typed expressions: read once against the specification, rendered by each language."""

from criticality.languages.base.expressions.nodes import Expression
from criticality.languages.base.expressions.reading import ExpressionFault, Scope, condition, typed

__all__ = ["Expression", "ExpressionFault", "Scope", "condition", "typed"]
