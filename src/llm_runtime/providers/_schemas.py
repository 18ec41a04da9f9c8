"""A JSON schema in the form that providers enforce: closed objects with every property required."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Literal

from pydantic_core import from_json

from llm_runtime.http.shape import mapping, sequence
from llm_runtime.http.shape import text as text_of
from llm_runtime.toml import own_table

#: Keywords, by what they mean.
_WORDS: dict[str, frozenset[str]] = {
    name: frozenset(words) for name, words in own_table("llm_runtime.providers", "schemas.toml").items()
}
_BY_NAME, _SINGLE, _LISTS = (_WORDS[kind] for kind in ("by_name", "single", "lists"))
_MOST_UNIONS = 16
_SHORT_ANSWER = 2_000
#: llama.cpp refuses more than 2,000 repetitions in a grammar.
_LONGEST_TEXT = 1_900


@lru_cache(maxsize=64)
def closed_schema(text: str) -> dict[str, Any]:
    """Return the schema in the form that strict modes ask for. An answer that fits it fits the original.

    Where an object lists its properties, all are required and no others are allowed; there are no defaults.

    Args:
        text: a JSON schema.

    Returns:
        Shared data: serialise it, do not change it.
    """
    return _closed(mapping(from_json(text)), frozenset({"default"}))


@lru_cache(maxsize=64)
def decodable(grammar: str | None, schema: str, max_tokens: int | None) -> dict[str, Any]:
    """Return what an engine that decodes by a schema is sent: the grammar as it is, else the closed schema.

    Small models repeat one sentence until their limit cuts it. Where an answer may have ``_SHORT_ANSWER`` tokens at
    the most, none of its texts needs more than ``_LONGEST_TEXT`` characters, and the engine ends it there. A flag
    that they must write, they set: one that is off unless it is set may be left out.

    Returns:
        Shared data: serialise it, do not change it.
    """
    if grammar:
        return mapping(from_json(grammar))
    closed = _closed(mapping(from_json(schema)), frozenset({"default"}), flags=False)
    return closed if max_tokens is None or max_tokens > _SHORT_ANSWER else _bounded(closed)


def _bounded(schema: dict[str, Any]) -> dict[str, Any]:
    changed = _over_parts(schema, _bounded)
    if changed.get("type") == "string" and not changed.keys() & {"enum", "const", "pattern", "format", "maxLength"}:
        changed["maxLength"] = _LONGEST_TEXT
    return changed


@lru_cache(maxsize=64)
def enforceable(text: str, form: Literal["strict", "messages"]) -> dict[str, Any] | None:
    """Return the closed schema as a vendor's strict mode takes it, or ``None`` where that has no words for it.

    Args:
        text: a JSON schema.
        form: ``"strict"`` is OpenAI's: an object, and neither conditions nor maps. ``"messages"`` is Anthropic's:
            neither bounds nor recursion, and 16 unions at the most. (Its bound of 24 optional fields is kept by
            closing: all are required.)

    Returns:
        Shared data: serialise it, do not change it.
    """
    closed = _closed(mapping(from_json(text)), _WORDS[form] | {"default"})
    parts = list(_parts(closed))
    if any(
        _WORDS["unenforceable"] & part.keys() or isinstance(part.get("additionalProperties"), dict) for part in parts
    ):
        return None
    if form == "strict":
        return _bare_references(closed) if closed.get("type") == "object" else None
    unions = sum("anyOf" in part or isinstance(part.get("type"), list) for part in parts)
    return None if unions > _MOST_UNIONS or _is_recursive(closed) else _bare_references(closed)


def _is_recursive(schema: dict[str, Any]) -> bool:
    """Tell whether a definition leads back to itself."""
    leads = {
        f"#/$defs/{name}": {text_of(part.get("$ref")) for part in _parts(mapping(inner))} - {""}
        for name, inner in mapping(schema.get("$defs")).items()
    }
    if any(part.get("$ref") == "#" for part in _parts(schema)):
        return True
    # What leads to nothing but finished definitions is finished; what never is goes round.
    while finished := [name for name, to in leads.items() if not to & leads.keys()]:
        for name in finished:
            del leads[name]
    return bool(leads)


def _bare_references(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema with nothing beside a reference: strict modes refuse even a description there."""
    if "$ref" in schema and "properties" not in schema:
        return {key: value for key, value in schema.items() if key in ("$ref", "$defs")}
    return _over_parts(schema, _bare_references)


def _parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a schema and all that it is made of."""
    yield schema
    for inner in _inner(schema):
        yield from _parts(inner)


def _inner(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for key in _BY_NAME:
        # Here the keys are names, which may be spelled like keywords.
        yield from map(mapping, mapping(schema.get(key)).values())
    for key in _SINGLE:
        if isinstance(schema.get(key), dict):
            yield mapping(schema[key])
    for key in _LISTS:
        yield from map(mapping, sequence(schema.get(key)))


def _over_parts(schema: dict[str, Any], change: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """Return the schema with each part directly in it changed."""
    changed = dict(schema)
    for key in _BY_NAME & changed.keys():
        changed[key] = {name: change(mapping(inner)) for name, inner in mapping(changed[key]).items()}
    for key in _SINGLE & changed.keys():
        if isinstance(changed[key], dict):
            changed[key] = change(mapping(changed[key]))
    for key in _LISTS & changed.keys():
        changed[key] = [change(mapping(inner)) for inner in sequence(changed[key])]
    return changed


def _closed(schema: dict[str, Any], without: frozenset[str], *, flags: bool = True) -> dict[str, Any]:
    """Close a schema; without ``flags`` those stay optional that are off unless they are set."""
    rest = {key: value for key, value in schema.items() if key not in without}
    closed = _over_parts(rest, lambda inner: _closed(inner, without, flags=flags))
    if "properties" in closed:
        parts = mapping(schema["properties"])
        required = [name for name in parts if flags or mapping(parts[name]).get("default") is not False]
        closed |= {"required": required, "additionalProperties": False}
    return closed
