"""The neutral types in Python: annotations and the imports that they need."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping

from criticality.languages.base.data import vocabulary
from criticality.languages.base.naming import filled
from criticality.spec.types import TypeRef

PACKAGE = "criticality.languages.python"
WORDS = vocabulary(PACKAGE)
_IMPORTS: dict[str, str] = WORDS["imports"]

#: Standard modules that a module of the system may import: computing only, nothing that reaches outside.
IMPORTABLE: frozenset[str] = frozenset(WORDS["importable"])


def annotation(kind: TypeRef) -> str:
    """Return the type as it is written."""
    return filled(WORDS["types"], kind)


def imports_for(kinds: list[TypeRef]) -> list[str]:
    """Import lines for the standard names in the annotations."""
    words = {word for kind in kinds for word in re.findall(r"\w+", annotation(kind))}
    return sorted(line for name, line in _IMPORTS.items() if name in words)


def used(names: Mapping[str, str], text: str) -> list[str]:
    """Return the import lines of those of the names that stand in a text."""
    return [line for name, line in names.items() if re.search(rf"\b{name}\b", text)]


def usable(name: str) -> bool:
    """Tell whether Python can use it as a name."""
    return name.isidentifier() and not keyword.iskeyword(name)
