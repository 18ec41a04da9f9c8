"""The grammars of readings and judgements: narrower than their schemas, for engines that decode by them.

A small model copies the empty form back where it may, begins its quotations with "...", and judges one of many
pairs; here every passage and every pair has its turn, and what is quoted stands there.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, get_args

from crux.book import ClaimKind, Told

_MOST_CLAIMS = 4
_ID = "^(n[0-9]{1,2}|c-[0-9a-f]{4,64})$"
_CLAIM, _WHY = (20, 200), (12, 120)
#: Characters of a premise that is named whole.
_LONGEST_SPAN = 400


def reading_grammar(passages: Sequence[Sequence[str]], known: bool) -> str:
    """Return a JSON schema as text, with its names in the order in which they are to be written.

    Args:
        passages: those that are read, one or more: of each the sentences that may be quoted.
        known: whether there are claims to refer to.
    """
    each = [{"anyOf": _answers(number, bool(quotes), known)} for number, quotes in enumerate(passages, start=1)]
    read = {"type": "array", "prefixItems": each, "minItems": len(each), "maxItems": len(each)}
    quotable = {f"q{number}": {"enum": list(quotes)} for number, quotes in enumerate(passages, start=1) if quotes}
    return json.dumps({**_object({"passages": read}), "$defs": quotable}, ensure_ascii=False)


def judging_grammar(premises: Sequence[str], bearing: Sequence[str], other: Sequence[str]) -> str:
    """Return a JSON schema as text: a verdict on every pair, its reason first, its words those of the premise.

    Args:
        premises: of the pairs, in order, one or more.
        bearing: kinds of verdict that name words of the premise.
        other: kinds that name none.
    """
    each = [{"anyOf": _verdicts(number, premise, bearing, other)} for number, premise in enumerate(premises, 1)]
    judged = {"type": "array", "prefixItems": each, "minItems": len(each), "maxItems": len(each)}
    return json.dumps(_object({"verdicts": judged}), ensure_ascii=False)


def _verdicts(number: int, premise: str, bearing: Sequence[str], other: Sequence[str]) -> list[dict[str, Any]]:
    head = {"pair": {"const": number}, "why": _text(*_WHY)}
    span = {"const": premise} if len(premise) <= _LONGEST_SPAN else _text(12, _LONGEST_SPAN)
    kinds = [({"enum": list(bearing)}, span), ({"enum": list(other)}, {"const": ""})]
    return [_object({**head, "kind": kind, "span": words}) for kind, words in kinds]


def _answers(number: int, quotable: bool, known: bool) -> list[dict[str, Any]]:
    """Return what may be said of a passage: that it has claims, and which; or that it has none, and why."""
    name = {"id": {"const": f"p{number}"}}
    # Whether there is a claim is said before them: an empty list is not to be had for nothing.
    none = _object({**name, "none": _text(*_WHY), "claims": {"type": "array", "maxItems": 0}})
    if not quotable:
        return [none]
    supports = {"type": "array", "items": {"type": "string", "pattern": _ID}, "maxItems": 3}
    seen = {"stance": {"enum": list(get_args(Told))}, "quote": {"$ref": f"#/$defs/q{number}"}, "supports": supports}
    fresh = {"ref": {"const": ""}, "id": {"type": "string", "pattern": "^n[0-9]{1,2}$"}}
    new = _object(fresh | {"text": _text(*_CLAIM), "kind": {"enum": list(get_args(ClaimKind))}} | seen)
    claim = {"anyOf": [new, _object({"ref": {"type": "string", "pattern": _ID}} | seen)]} if known else new
    claims = {"type": "array", "items": claim, "minItems": 1, "maxItems": _MOST_CLAIMS}
    return [_object({**name, "none": {"const": ""}, "claims": claims}), none]


def _text(least: int, most: int) -> dict[str, Any]:
    return {"type": "string", "minLength": least, "maxLength": most}


def _object(properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
