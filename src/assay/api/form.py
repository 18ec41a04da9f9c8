"""``response_format``: how a run is told the form of its answer, and how its answer is held to it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from llm_runtime.errors import StructuredOutputError
from llm_runtime.http.shape import mapping, sequence
from llm_runtime.objects import Objects

_KINDS = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}
_KINDS_OF = {**{name: (kind,) for name, kind in _KINDS.items()}, "number": (int, float)}


def told(turns: Sequence[tuple[str, str]], form: str) -> list[tuple[str, str]]:
    """Return a chat whose last message tells the form, a JSON schema; ``"{}"`` is any object."""
    which = "" if form == "{}" else f", which fits this JSON schema:\n{form}"
    role, text = turns[-1]
    return [*turns[:-1], (role, f"{text}\n\nAnswer with one JSON object alone{which}")]


def held(text: str, form: str) -> str:
    """Return the last object of an answer that fits a form, as JSON.

    Looked at is what OpenAI's strict schemas have: types, fields, items, enums, alternatives, references.

    Raises:
        StructuredOutputError: there is none; one line says what is wrong.
    """
    schema, fault = json.loads(form), "it holds no JSON object"
    for data in [one.data for one in Objects(text) if one.data is not None][::-1]:
        try:
            fault = _misfit(data, schema, schema.get("$defs", {}), "the object")
        except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
            fault = "the schema is none that can be looked at"
        if not fault:
            return json.dumps(data, ensure_ascii=False)
    raise StructuredOutputError(f"the run's answer is not in the form that was asked for: {fault}", text)


def _misfit(value: Any, rule: Mapping[str, Any], named: Mapping[str, Any], at: str) -> str:
    """Return the first thing in which a value does not fit, in words; empty where it fits."""
    if "$ref" in rule:
        return _misfit(value, named[rule["$ref"].rpartition("/")[2]], named, at)
    if "anyOf" in rule:
        return min((_misfit(value, one, named, at) for one in rule["anyOf"]), key=len)
    kinds = rule.get("type", list(_KINDS_OF))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not any(type(value) in _KINDS_OF[kind] for kind in kinds) or value not in rule.get("enum", [value]):
        return f"{at} must be of type {' or '.join(kinds)}" + (f", one of {rule['enum']}" if "enum" in rule else "")
    inner: list[tuple[Any, Mapping[str, Any], str]] = []
    if isinstance(value, list):
        inner = [(one, rule.get("items", {}), f"{at}[{number}]") for number, one in enumerate(sequence(value))]
    elif isinstance(value, dict):
        own, open_ = rule.get("properties", {}), rule.get("additionalProperties") is not False
        wrong = [one for one in rule.get("required", ()) if one not in value]
        if wrong := wrong or [one for one in mapping(value) if not open_ and one not in own]:
            return f"{at}: the field {wrong[0][:80]} is missing, or one too many"
        inner = [(value[name], own[name], f"{at}.{name}") for name in own if name in value]
    return next(filter(None, (_misfit(one, part, named, where) for one, part, where in inner)), "")
