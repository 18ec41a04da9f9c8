"""The neutral types and names in Go."""

from __future__ import annotations

import re

from criticality.languages.base.data import vocabulary
from criticality.languages.base.naming import camel
from criticality.languages.go.layout import laid_out
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef, parse_type
from criticality.spec.values import root
from llm_runtime.errors import ConfigurationError

_WORDS = vocabulary("criticality.languages.go")
_TYPES: dict[str, str] = _WORDS["types"]
_KEYWORDS: frozenset[str] = frozenset(_WORDS["keywords"])
#: Names that generated code relies on.
_TAKEN: frozenset[str] = frozenset(_WORDS["taken"])
#: Go builds a file with such an ending for one system only, or for tests only.
_ENDING = re.compile(r"_(test|linux|windows|darwin|unix|js|wasm|android|ios|amd64|arm64|arm|386|plan9|aix)\Z")
#: Packages that bodies may use, by the name in the code: computing only.
PACKAGES: dict[str, str] = _WORDS["packages"]
_LONGEST = 4
_TEXT = re.compile(r'"(?:\\.|[^"\\\n])*"|`[^`]*`|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
_QUALIFIED = re.compile(r"(?<![\w.])([a-z][a-z0-9]*)\.[A-Z]")


def usable(name: str) -> bool:
    """Tell whether Go can use it, in its own manner, as the name of a function, a module or a parameter."""
    return name not in _KEYWORDS and not _ENDING.search(name)


def ident(name: str) -> str:
    """Return a parameter, a local name or a field that is not exported: ``held_until`` -> ``heldUntil``."""
    name_in_go = camel(name)
    return f"{name_in_go}_" if name_in_go in _KEYWORDS | _TAKEN else name_in_go


def package(spec: Spec) -> str:
    """Return the package clause: no underscores, as Go has it."""
    name = spec.package.replace("_", "")
    return f"{name}lib" if name in _KEYWORDS | _TAKEN | PACKAGES.keys() else name


def kind(spec: Spec | None, type_: TypeRef, *, prefix: str = "domain.") -> str:
    """Return a type as Go writes it.

    Args:
        prefix: of the names of the domain; empty inside of it.

    Raises:
        ConfigurationError: Go has no set or map with such keys.
    """
    args = [kind(spec, arg, prefix=prefix) for arg in type_.args]
    match type_.name:
        case "Set" | "Map" if spec is not None and not comparable(spec, key := type_.args[0]):
            raise ConfigurationError(f"Go cannot look up a {key}, so it has no {type_}; use a list, or another key")
        case "Tuple" if len(args) > _LONGEST:
            raise ConfigurationError(f"{type_} is longer than {_LONGEST}; give its parts names in a record")
        case "Tuple":
            return f"{prefix}Tuple{len(args)}[{', '.join(args)}]"
        case name:
            return _TYPES.get(name, f"{prefix}{name}").format(*args)


def comparable(spec: Spec, type_: TypeRef) -> bool:
    """Tell whether values can be compared by ``==``, by value, and so be keys."""
    if type_.name in spec.newtypes:
        return comparable(spec, root(spec, type_))
    if type_.name in spec.data_models:
        return all(comparable(spec, parse_type(field.type)) for field in spec.data_models[type_.name].fields)
    if type_.name == "Tuple":
        return all(comparable(spec, arg) for arg in type_.args)
    return type_.name not in ("List", "Set", "Map", "Option", "Bytes", "Date", "Timestamp")


def quoted(text: str) -> str:
    """Return a string literal."""
    parts = (f"\\{c}" if c in '"\\' else c if c.isprintable() else f"\\U{ord(c):08x}" for c in text)
    return f'"{"".join(parts)}"'


def with_imports(head: str, code: str, *, others: dict[str, str] | None = None) -> str:
    """Put the imports that the code needs between a file's head and its code: Go refuses all others.

    Args:
        others: packages besides the standard ones, by the name in the code.
    """
    known = PACKAGES | (others or {})
    used = sorted({known[name] for name in _QUALIFIED.findall(_TEXT.sub('""', code)) if name in known})
    standard = [path for path in used if path in PACKAGES.values() or path == "testing"]
    foreign = [path for path in used if path not in standard]
    groups = ["\n".join(f'\t"{path}"' for path in group) for group in (standard, foreign) if group]
    imports = "import (\n" + "\n\n".join(groups) + "\n)\n\n" if groups else ""
    return f"{head}\n{imports}{laid_out(code)}"
