"""Canonical JSON (RFC 8785): the one byte form that is hashed, chained and signed."""

from __future__ import annotations

from typing import Any, cast

from pydantic_core import to_json

_SAFE = 2**53 - 1
#: Fractions between this and its inverse are written in full by every shortest-form algorithm.
_PLAIN = 1e4


def canonical_json(value: Any) -> bytes:
    """Serialise JSON-compatible data to its canonical bytes.

    Most data, with its keys sorted, has the same form in a fast serialiser: strings, whole numbers, and fractions
    that are written without an exponent everywhere. Everything else goes through :mod:`rfc8785`. A property test
    holds the two equal.

    Raises:
        ValueError: for NaN, infinities, integers beyond 2^53-1, lone surrogates or values JSON cannot hold.
    """
    try:
        return to_json(_sorted(value))
    except _NotSimple:
        import rfc8785

        return rfc8785.dumps(value)


def ordered_json(value: Any) -> bytes:
    """Serialise data made in order as :func:`canonical_json` would; whoever calls it answers for the order.

    Keys are ASCII and sorted; values are text, booleans, ``None``, whole numbers within 2^53-1, lists and dicts.

    Raises:
        ValueError: for lone surrogates.
    """
    return to_json(value)


class _NotSimple(Exception):
    """A value whose canonical form needs the full algorithm."""


def _sorted(value: Any) -> Any:
    """Return the value with all keys in order, where the fast serialiser is known to agree with the standard."""
    kind = cast("type[object]", type(value))
    if kind is str or value is None or kind is bool:
        return value
    if kind is dict:
        items: dict[Any, Any] = value
        ordered: dict[str, Any] = {}
        try:
            keys = sorted(items)
        except TypeError:
            raise _NotSimple from None
        for key in keys:
            if type(key) is not str or not key.isascii():
                raise _NotSimple
            inner = items[key]
            # Nearly all is such, and a call for each would be most of the time that this takes.
            plain = type(inner) is str or (type(inner) is int and -_SAFE <= inner <= _SAFE)
            ordered[key] = inner if plain else _sorted(inner)
        return ordered
    if kind is list:
        return [_sorted(item) for item in value]
    if kind is int and -_SAFE <= value <= _SAFE:
        return value
    if kind is float and -_PLAIN < value < _PLAIN:
        if value.is_integer():
            return int(value)
        if abs(value) >= 1 / _PLAIN:
            return value
    raise _NotSimple
