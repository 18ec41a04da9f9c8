"""The neutral types and names in C++."""

from __future__ import annotations

from criticality.languages.base.data import vocabulary
from criticality.languages.base.naming import filled
from criticality.spec.types import TypeRef

_WORDS = vocabulary("criticality.languages.cpp")
_COPIED: frozenset[str] = frozenset(_WORDS["copied"])
#: Types of ours that the language has no name for, each in a header of the deliverable.
SCALAR_HEADERS: dict[str, str] = _WORDS["scalar_headers"]
_KEYWORDS: frozenset[str] = frozenset(_WORDS["keywords"])
_TAKEN: frozenset[str] = frozenset(_WORDS["taken"])


def usable(name: str) -> bool:
    """Tell whether C++ can use it as the name of a function, a module or a parameter."""
    return name not in _KEYWORDS | _TAKEN


def ident(name: str) -> str:
    """Return a field's name, with an underscore where it is a keyword."""
    return f"{name}_" if name in _KEYWORDS else name


def owned(kind: TypeRef) -> str:
    """Return the type of a value."""
    return filled(_WORDS["types"], kind)


def parameter(kind: TypeRef) -> str:
    """Return the type of a parameter: a copied scalar, or a reference to what cannot be changed."""
    return owned(kind) if kind.name in _COPIED else f"const {owned(kind)}&"
