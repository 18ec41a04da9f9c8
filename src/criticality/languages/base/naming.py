"""Names of the specification in the manner of a language: ``is_even`` becomes ``isEven`` or ``IsEven``."""

from __future__ import annotations

import re
from collections.abc import Mapping

from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import every_type, signature_types

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def pascal(name: str) -> str:
    """``is_even`` -> ``IsEven``; ``step_2`` -> ``Step2``."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def camel(name: str) -> str:
    """``is_even`` -> ``isEven``."""
    pascal_name = pascal(name)
    return pascal_name[:1].lower() + pascal_name[1:]


def capital(name: str) -> str:
    """``frozen`` and ``FROZEN`` -> ``Frozen``: for members of an enum."""
    return pascal(name.lower() if name.isupper() else name)


def snake(name: str) -> str:
    """``AccountId`` -> ``account_id``: for names of types."""
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def filled(forms: Mapping[str, str], kind: TypeRef) -> str:
    """Return the form of a type's name, with those of its arguments in their places; the name where it has none."""
    args = [filled(forms, arg) for arg in kind.args]
    return forms.get(kind.name, kind.name).format(*args, all=", ".join(args))


def type_names(spec: Spec) -> set[str]:
    """Return the names of all types that a specification speaks of, in definitions and in signatures."""
    return {name for kind in [*every_type(spec), *signature_types(spec)] for name in kind.names()}


def scalar_files(spec: Spec, files: Mapping[str, str]) -> list[str]:
    """Return which of the files, by the types that they are for, a specification needs."""
    return sorted({files[name] for name in type_names(spec) if name in files})


def words(text: str, names: Mapping[str, str]) -> str:
    """Return a text with every whole word that is among the names replaced."""
    return _WORD.sub(lambda match: names.get(match[0], match[0]), text)
