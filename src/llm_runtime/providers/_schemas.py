"""A JSON schema in the form that providers enforce: closed objects with every property required."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pydantic_core import from_json

from llm_runtime.providers._shape import mapping, sequence

#: What Anthropic's grammar compiler refuses; whoever reads the answer still checks it.
CONSTRAINTS = frozenset(
    {
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
    }
    | {"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties"}
)


@lru_cache(maxsize=64)
def closed_schema(text: str, without: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Return the schema in the form that strict modes ask for. An answer that fits it fits the original.

    Where an object lists its properties, all are required and no others are allowed; there are no defaults.

    Args:
        text: a JSON schema.
        without: further keywords to leave out.

    Returns:
        Shared data: serialise it, do not change it.
    """
    return _closed(mapping(from_json(text)), without | {"default"})


def _closed(schema: dict[str, Any], without: frozenset[str]) -> dict[str, Any]:
    closed = {key: value for key, value in schema.items() if key not in without}
    for key in ("properties", "$defs", "definitions"):
        if key in closed:
            # Here the keys are names, which may be spelled like keywords.
            closed[key] = {name: _closed(mapping(inner), without) for name, inner in mapping(closed[key]).items()}
    for key in ("items", "additionalProperties"):
        if isinstance(closed.get(key), dict):
            closed[key] = _closed(mapping(closed[key]), without)
    for key in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if key in closed:
            closed[key] = [_closed(mapping(inner), without) for inner in sequence(closed[key])]
    if "properties" in closed:
        closed |= {"required": list(mapping(closed["properties"])), "additionalProperties": False}
    return closed
