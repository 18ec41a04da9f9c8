"""Canonical JSON (RFC 8785): the one byte form that is hashed, chained and signed."""

from __future__ import annotations

import json
from typing import Any, cast

_SAFE = 2**53 - 1


def canonical_json(value: Any) -> bytes:
    """Serialise JSON-compatible data to its canonical bytes.

    Data without floats, with ASCII keys, has the same canonical form as the standard library's sorted compact
    form, which is seven times faster; everything else goes through :mod:`rfc8785`. A property test holds the
    two equal.

    Raises:
        ValueError: for NaN, infinities, integers beyond 2^53-1, lone surrogates or values JSON cannot hold.
    """
    if _has_simple_form(value):
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    import rfc8785

    return rfc8785.dumps(value)


def _has_simple_form(value: Any) -> bool:
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is int:
        return -_SAFE <= value <= _SAFE
    if kind is dict:
        return all(
            type(k) is str and k.isascii() and _has_simple_form(v) for k, v in cast(dict[Any, Any], value).items()
        )
    if kind is list:
        return all(_has_simple_form(v) for v in cast(list[Any], value))
    return False
