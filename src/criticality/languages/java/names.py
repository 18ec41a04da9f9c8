"""The neutral types and names in Java."""

from __future__ import annotations

import re

from criticality.languages.base.data import vocabulary
from criticality.languages.base.naming import camel, pascal
from criticality.languages.base.pages import page
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import every_type, signature_types
from llm_runtime.errors import ConfigurationError

_WORDS = vocabulary("criticality.languages.java")
_GENERICS: dict[str, str] = _WORDS["generics"]
_SCALARS: dict[str, str] = _WORDS["scalars"]
#: What scalars are called as objects, where that is another name.
_BOXED: dict[str, str] = _SCALARS | _WORDS["boxed"]
_KEYWORDS: frozenset[str] = frozenset(_WORDS["keywords"])
#: Methods that every record has, so that no component may have their names.
_OF_OBJECTS: frozenset[str] = frozenset(_WORDS["of_objects"])
#: Types that every generated file imports.
IMPORTED: tuple[str, ...] = tuple(_WORDS["imported"])
#: Names that generated code uses besides.
RESERVED = frozenset({*(path.rpartition(".")[2] for path in IMPORTED), *_WORDS["reserved"]})
_LONGEST = 4


def usable(name: str) -> bool:
    """Tell whether Java can use it, in its own manner, as the name of a function, a module or a parameter."""
    return camel(name) not in _KEYWORDS | _OF_OBJECTS and pascal(name) not in RESERVED


def ident(name: str) -> str:
    """Return a parameter, a field or a local name: ``held_until`` -> ``heldUntil``."""
    name_in_java = camel(name)
    return f"{name_in_java}_" if name_in_java in _KEYWORDS | _OF_OBJECTS else name_in_java


def package(spec: Spec) -> str:
    """Return the package: no underscores, as Java has it."""
    name = spec.package.replace("_", "")
    return f"{name}lib" if name in _KEYWORDS | {"java", "javax"} else name


def kind(type_: TypeRef, *, boxed: bool = False) -> str:
    """Return a type as Java writes it.

    Args:
        boxed: as an object, which a generic type is made of.
    """
    args = [kind(arg, boxed=True) for arg in type_.args]
    match type_.name:
        case "Tuple":
            return f"Tuple{len(args)}<{', '.join(args)}>"
        case "Result":
            return args[0] if boxed else kind(type_.args[0])
        case name if name in _GENERICS:
            return f"{_GENERICS[name]}<{', '.join(args)}>"
        case name:
            return (_BOXED if boxed else _SCALARS).get(name, name)


def require(spec: Spec) -> None:
    """Refuse what Java cannot carry.

    Raises:
        ConfigurationError: a type has a name that is taken, or a tuple is too long.
    """
    taken = sorted(set(spec.named_types()) & RESERVED)
    if taken:
        raise ConfigurationError(f"Java has a {taken[0]} of its own; give the type another name")
    for type_ in [*signature_types(spec), *every_type(spec)]:
        for part in type_.parts():
            if part.name == "Tuple" and not 2 <= len(part.args) <= _LONGEST:
                raise ConfigurationError(f"{part} has no form in Java; give its parts names in a record")


def quoted(text: str) -> str:
    """Return a string literal."""
    # Java reads \u000a before anything else, as the end of the line.
    ends = {"\n": "\\n", "\r": "\\r"}
    parts = (
        ends.get(c) or (f"\\{c}" if c in '"\\' else c if c.isascii() and c.isprintable() else _units(c)) for c in text
    )
    return f'"{"".join(parts)}"'


def _units(char: str) -> str:
    raw = char.encode("utf-16-be")
    return "".join(f"\\u{raw[place]:02x}{raw[place + 1]:02x}" for place in range(0, len(raw), 2))


def java_file(package_name: str, code: str, imports: list[str]) -> str:
    """Return a file with the imports whose last name the code uses."""
    words = set(re.findall(r"\w+", code))
    used = sorted({path for path in imports if path.rpartition(".")[2] in words or path.startswith("static ")})
    static = [path for path in used if path.startswith("static ")]
    groups = [group for group in (static, [path for path in used if path not in static]) if group]
    return page(
        "criticality.languages.java", "file.jinja", {}, {"package": package_name, "groups": groups, "code": code}
    )
