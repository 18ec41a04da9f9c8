"""Chooses versions of packages that go together."""

from trove.errors import TroveError, Unresolvable
from trove.explain import why
from trove.index import parse
from trove.resolve import resolve

__all__ = ["TroveError", "Unresolvable", "parse", "resolve", "why"]
