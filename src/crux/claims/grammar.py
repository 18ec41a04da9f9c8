"""The grammar of an answer to a reading: narrower than its schema, for engines that decode by it.

A small model copies the empty form back where it may; here every passage has its turn, and every quote its length.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any, get_args

from crux.book import ClaimKind, Stance

_MOST_CLAIMS = 4
_ID = "^(n[0-9]{1,2}|c-[0-9a-f]{4,64})$"
_QUOTE, _CLAIM, _WHY = (12, 300), (20, 200), (12, 120)


@cache
def reading_grammar(passages: int, known: bool) -> str:
    """Return a JSON schema as text, with its names in the order in which they are to be written.

    Args:
        passages: how many are read, 1 or more.
        known: whether there are claims to refer to.
    """
    seen = {
        "stance": {"enum": list(get_args(Stance))},
        "quote": _text(*_QUOTE),
        "supports": {"type": "array", "items": {"type": "string", "pattern": _ID}, "maxItems": 3},
    }
    new = _object(
        {"ref": {"const": ""}, "id": {"type": "string", "pattern": "^n[0-9]{1,2}$"}}
        | {"text": _text(*_CLAIM), "kind": {"enum": list(get_args(ClaimKind))}}
        | seen
    )
    old = _object({"ref": {"type": "string", "pattern": _ID}} | seen)
    claim = {"anyOf": [new, old]} if known else new
    # Whether there is a claim is said before them: an empty list is not to be had for nothing.
    some = {
        "none": {"const": ""},
        "claims": {"type": "array", "items": claim, "minItems": 1, "maxItems": _MOST_CLAIMS},
    }
    none = {"none": _text(*_WHY), "claims": {"type": "array", "maxItems": 0}}
    each = [
        {"anyOf": [_object({"id": {"const": f"p{number}"}, **answer}) for answer in (some, none)]}
        for number in range(1, passages + 1)
    ]
    read = {"type": "array", "prefixItems": each, "minItems": passages, "maxItems": passages}
    return json.dumps(_object({"passages": read}))


def _text(least: int, most: int) -> dict[str, Any]:
    return {"type": "string", "minLength": least, "maxLength": most}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
