"""The neutral types in Python: annotations and the imports that they need."""

from __future__ import annotations

import keyword
from collections.abc import Iterable

from criticality.spec.types import TypeRef

_SCALARS = {
    "Int": "int", "Float": "float", "Decimal": "Decimal", "Text": "str", "String": "str", "Bool": "bool",
    "Bytes": "bytes", "UUID": "UUID", "Date": "date", "Timestamp": "datetime", "Unit": "None",
}  # fmt: skip
_IMPORTS = {
    "Decimal": "from decimal import Decimal",
    "UUID": "from uuid import UUID",
    "date": "from datetime import date",
    "datetime": "from datetime import datetime",
    "Mapping": "from collections.abc import Mapping",
}

#: Standard modules that a module of the system may import: computing only, nothing that reaches outside.
IMPORTABLE = frozenset(
    {
        "bisect", "collections", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib",
        "heapq", "itertools", "json", "math", "operator", "re", "statistics", "string", "textwrap", "unicodedata",
        "uuid",
    }
)  # fmt: skip


def annotation(kind: TypeRef) -> str:
    """Return the annotation: values are immutable throughout, so a list is a tuple and a set is frozen."""
    args = [annotation(arg) for arg in kind.args]
    match kind.name:
        case "List":
            return f"tuple[{args[0]}, ...]"
        case "Set":
            return f"frozenset[{args[0]}]"
        case "Option":
            return f"{args[0]} | None"
        case "Map":
            return f"Mapping[{args[0]}, {args[1]}]"
        case "Tuple":
            return f"tuple[{', '.join(args)}]"
        case "Result":
            return args[0]
        case name:
            return _SCALARS.get(name, name)


def imports_for(kinds: Iterable[TypeRef]) -> list[str]:
    """Import lines for the standard names in the annotations."""
    text = " ".join(annotation(kind) for kind in kinds)
    words = set(text.replace("[", " ").replace("]", " ").replace(",", " ").split())
    return sorted(line for name, line in _IMPORTS.items() if name in words)


def usable(name: str) -> bool:
    """Tell whether Python can use it as a name."""
    return name.isidentifier() and not keyword.iskeyword(name)
