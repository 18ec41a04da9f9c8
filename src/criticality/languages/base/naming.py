"""Names of the specification in the manner of a language: ``is_even`` becomes ``isEven`` or ``IsEven``."""

from __future__ import annotations

import re
from collections.abc import Mapping

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def pascal(name: str) -> str:
    """``is_even`` -> ``IsEven``; ``step_2`` -> ``Step2``."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def camel(name: str) -> str:
    """``is_even`` -> ``isEven``."""
    found = pascal(name)
    return found[:1].lower() + found[1:]


def snake(name: str) -> str:
    """``AccountId`` -> ``account_id``: for names of types."""
    return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


def words(text: str, names: Mapping[str, str]) -> str:
    """Return a text with every whole word that is among the names replaced."""
    return _WORD.sub(lambda found: names.get(found[0], found[0]), text)
