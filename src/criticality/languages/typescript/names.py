"""The neutral types and names in TypeScript.

Whole numbers are ``number``: what lists, lengths and people use; every newtype of them checks that its value is a
safe integer. Decimals are ``Decimal`` of decimal.js. All values are immutable.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from criticality.languages.base.data import vocabulary
from criticality.languages.base.naming import camel, filled
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import root
from llm_runtime.errors import ConfigurationError

_WORDS = vocabulary("criticality.languages.typescript")
_SCALARS: dict[str, str] = _WORDS["scalars"]
#: What JavaScript compares by value.
_COMPARED = _SCALARS.keys() - {"Decimal", "Timestamp", "Bytes"}
#: Words of the language, and names that generated files use themselves.
_TAKEN: frozenset[str] = frozenset(_WORDS["taken"])
_ARRAY = re.compile(r"\bReadonlyArray<(\w+)>")
_SNAKE = re.compile(r"""('[^']*'|"[^"]*")|\b[a-z][a-z0-9]*(?:_[a-z0-9]+)+\b""")


def identifier(name: str) -> str:
    """Return a name in camel case: ``is_even`` is ``isEven``; words of the language get an underscore."""
    written = camel(name)
    return f"{written}_" if written in _TAKEN else written


def in_words(clause: str) -> str:
    """Return a clause with names as they stand in the code; texts in quotes stay, and so do claims' ids."""
    if clause.startswith(("CLAIM_REF:", "PURITY:")):
        return clause
    return _SNAKE.sub(lambda match: match[1] or camel(match[0]), clause)


def annotation(kind: TypeRef) -> str:
    """Return the type as it is written."""
    # An array of what is one word is written shorter.
    return _ARRAY.sub(r"readonly \1[]", filled(_WORDS["generics"] | _SCALARS, kind))


def result(kind: TypeRef) -> str:
    """Return what a function is written to return."""
    return "void" if kind.name == "Unit" else annotation(kind)


def require_comparable(spec: Spec, kind: TypeRef) -> None:
    """Refuse sets and maps that JavaScript would compare by identity.

    Raises:
        ConfigurationError: elements of a set or keys of a map are no scalars.
    """
    scalar = root(spec, kind)
    if scalar.name in ("Set", "Map") and root(spec, scalar.args[0]).name not in _COMPARED | spec.enums.keys():
        raise ConfigurationError(
            f"{kind}: TypeScript tells {scalar.args[0]} apart by identity; use numbers, texts, enums or a List"
        )
    for arg in scalar.args:
        require_comparable(spec, arg)


def imports(text: str, names: Iterable[str], path: str) -> list[str]:
    """Return an import line for those of the names that a text uses; none where it uses none."""
    used = sorted(set(names) & set(re.findall(r"[A-Za-z_$][A-Za-z0-9_$]*", text)))
    return [f'import {{ {", ".join(used)} }} from "{path}";'] if used else []
