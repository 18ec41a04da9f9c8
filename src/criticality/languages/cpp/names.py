"""The neutral types and names in C++."""

from __future__ import annotations

from criticality.languages.base.naming import pascal
from criticality.spec.types import TypeRef

_SCALARS = {
    "Int": "std::int64_t", "Float": "double", "Decimal": "Decimal", "Text": "std::string", "String": "std::string",
    "Bool": "bool", "Bytes": "std::vector<std::uint8_t>", "UUID": "Uuid", "Date": "Date", "Timestamp": "Timestamp",
    "Unit": "void",
}  # fmt: skip
_COPIED = frozenset({"Int", "Float", "Decimal", "Bool", "Date", "Timestamp", "UUID"})
_GENERICS = {
    "List": "std::vector",
    "Set": "std::set",
    "Map": "std::map",
    "Option": "std::optional",
    "Tuple": "std::tuple",
}
#: Types of ours that the language has no name for, each in a header of the deliverable.
SCALAR_HEADERS = {"Decimal": "decimal", "UUID": "scalars", "Date": "scalars", "Timestamp": "scalars"}
_KEYWORDS = frozenset(
    {
        "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
        "char", "class", "compl", "concept", "const", "consteval", "constexpr", "constinit", "const_cast",
        "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
        "dynamic_cast", "else",
        "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto", "if", "inline", "int",
        "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq",
        "private", "protected", "public", "register", "reinterpret_cast", "requires", "return", "short", "signed",
        "sizeof", "static", "static_assert", "static_cast", "struct", "switch", "template", "this", "throw", "true",
        "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
        "while",
        "xor", "xor_eq", "char8_t", "char16_t", "char32_t", "wchar_t", "main", "std", "linux", "unix",
    }
)  # fmt: skip
_TAKEN = frozenset({"domain", "decimal", "scalars", "values", "support", "near", "generators", "testing", "rc"})

#: Names of types that code would take for something else.
TYPES_TAKEN = frozenset({"Date", "Decimal", "Invalid", "NULL", "EOF", "Timestamp", "Uuid", "TEST"})


def usable(name: str) -> bool:
    """Tell whether C++ can use it as the name of a function, a module or a parameter."""
    return name not in _KEYWORDS | _TAKEN


def ident(name: str) -> str:
    """Return a field's name, with an underscore where it is a keyword."""
    return f"{name}_" if name in _KEYWORDS else name


def member(name: str) -> str:
    """``frozen`` and ``FROZEN`` -> ``Frozen``."""
    return pascal(name.lower() if name.isupper() else name)


def owned(kind: TypeRef) -> str:
    """Return the type of a value."""
    args = [owned(arg) for arg in kind.args]
    if kind.name == "Result":
        return args[0]
    if kind.name in _GENERICS:
        return f"{_GENERICS[kind.name]}<{', '.join(args)}>"
    return _SCALARS.get(kind.name, kind.name)


def parameter(kind: TypeRef) -> str:
    """Return the type of a parameter: a copied scalar, or a reference to what cannot be changed."""
    return owned(kind) if kind.name in _COPIED else f"const {owned(kind)}&"
