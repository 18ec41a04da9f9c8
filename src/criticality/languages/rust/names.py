"""The neutral types and names in Rust: what owns a value, what borrows it, and what is simply copied."""

from __future__ import annotations

from criticality.languages.base.data import vocabulary
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import reached, root

_WORDS = vocabulary("criticality.languages.rust")
_SCALARS: dict[str, str] = _WORDS["scalars"]
_COPIED: frozenset[str] = frozenset(_WORDS["copied"])
_GENERICS: dict[str, str] = _WORDS["generics"]
#: Types of ours that the language has no name for, each in a module of the deliverable.
SCALAR_MODULES: dict[str, str] = _WORDS["scalar_modules"]
_KEYWORDS: frozenset[str] = frozenset(_WORDS["keywords"])
_TAKEN: frozenset[str] = frozenset(_WORDS["taken"])
_MODULES: frozenset[str] = frozenset(_WORDS["modules"])


def usable(name: str) -> bool:
    """Tell whether Rust can use it as the name of a function, a module or a parameter."""
    return name not in _KEYWORDS | _TAKEN | _MODULES


def ident(name: str) -> str:
    """Return a field's name, raw where it is a keyword."""
    return f"r#{name}" if name in _KEYWORDS else name


def owned(kind: TypeRef) -> str:
    """Return the type of a value that is one's own."""
    args = [owned(arg) for arg in kind.args]
    match kind.name:
        case "Tuple":
            return f"({', '.join(args)}{',' if len(args) == 1 else ''})"
        case "Result":
            return args[0]
        case name if name in _GENERICS:
            return f"{_GENERICS[name]}<{', '.join(args)}>"
        case name:
            return _SCALARS.get(name, name)


def is_copied(spec: Spec, kind: TypeRef) -> bool:
    """Tell whether a value is passed as it is, without a reference."""
    if kind.name in spec.newtypes:
        return is_copied(spec, root(spec, kind))
    if kind.name in ("Option", "Tuple"):
        return all(is_copied(spec, arg) for arg in kind.args)
    return kind.name in _COPIED or kind.name in spec.enums


def is_lent(kind: TypeRef) -> bool:
    """Tell whether a parameter is a reference: all but scalars are, so a signature needs no types to be read."""
    if kind.name in ("Option", "Tuple"):
        return any(is_lent(arg) for arg in kind.args)
    return kind.name not in _COPIED


def parameter(kind: TypeRef) -> str:
    """Return the type of a parameter: a copied scalar, or what is lent."""
    return _reference(kind) if is_lent(kind) else owned(kind)


def borrowed(spec: Spec, kind: TypeRef) -> str:
    """Return the type of what a value shows of itself: copied, or lent."""
    return owned(kind) if is_copied(spec, kind) else _reference(kind)


def _reference(kind: TypeRef) -> str:
    form: str = _WORDS["lent"].get(kind.name, "&{whole}")
    return form.format(*map(owned, kind.args), whole=owned(kind))


def own(spec: Spec, kind: TypeRef, lent: str) -> str:
    """Return what was lent as ``borrowed`` has it, as a value of one's own."""
    return lent if is_copied(spec, kind) else lent + _WORDS["owning"].get(kind.name, ".clone()")


def has_float(spec: Spec, kind: TypeRef) -> bool:
    """Tell whether a value holds a floating point number, which has no total order."""
    names = reached(spec, kind.names())
    parts = [spec.newtypes[name].base for name in names if name in spec.newtypes]
    parts += [f.type for name in names if name in spec.data_models for f in spec.data_models[name].fields]
    return any("Float" in part.names() for part in (kind, *map(parse_type, parts)))
