"""Two ways to write data down: JSON for people and prompts, TOML for artifacts; both stable to the byte."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def pretty(data: Any) -> str:
    """JSON with two columns of indentation, in the order of the data."""
    return json.dumps(data, indent=2, ensure_ascii=False)


def toml(data: dict[str, Any]) -> str:
    """TOML; what is ``None`` is left out, as TOML has no word for it."""
    import tomlkit  # of the extra ``code``, which looking back at a finished build does not need

    return tomlkit.dumps(_without_none(data))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _without_none(v) for k, v in value.items() if v is not None}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return [_without_none(v) for v in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def digest(text: str) -> str:
    """SHA-256 in hex, the first 16 characters."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
