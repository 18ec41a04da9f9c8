"""Reading what others wrote without trusting it: each function returns its kind of value, or its empty one."""

from __future__ import annotations

import unicodedata
from typing import Any, cast


def mapping(value: Any) -> dict[str, Any]:
    """Return a JSON object, or an empty one."""
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def sequence(value: Any) -> list[Any]:
    """Return a JSON array, or an empty one."""
    return cast(list[Any], value) if isinstance(value, list) else []


def text(value: Any) -> str:
    """Return a JSON string, or an empty one."""
    return value if isinstance(value, str) else ""


def count(value: Any) -> int | None:
    """Return a whole number from zero to 2^53-1, or ``None``."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def amount(value: Any) -> float | None:
    """Return a number of USD, from zero to ten thousand, or ``None``."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= 10_000 else None


def one_line(value: str, limit: int = 400) -> str:
    """Return printable characters only, on one line, at most ``limit`` of them."""
    if len(value) <= limit and value.isprintable():
        return value.strip()
    # Cut first: what is cut away need not be looked at.
    line = " ".join("".join(c if c.isprintable() else " " for c in value[: 2 * limit]).split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


def reason_of(fault: BaseException, most: int = 200) -> str:
    """Return what an error says on one line, at most ``most`` characters of it."""
    return " ".join(str(fault).split())[:most]


def harmless(value: str) -> str:
    """Remove the characters that steer a terminal or hide what is said: control (Cc), bidirectional and other
    formatting (Cf), surrogate, private and unassigned ones, and Unicode's own line ends."""
    return "".join(c for c in value if c in "\n\t" or _is_harmless(c))


def _is_harmless(character: str) -> bool:
    return unicodedata.category(character)[0] != "C" and character not in "\u2028\u2029"
