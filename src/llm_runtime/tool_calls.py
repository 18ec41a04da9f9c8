"""Tools as models are told of them, and calls of them in plain text: one fenced block at the end of an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from pydantic_core import from_json

from llm_runtime.structs import Struct

_MOST = 256 * 1024
_OPENING = re.compile(r"^```tool[ \t]*$", re.M)


class ToolCall(Struct):
    """A tool call as the model made it. ``fault`` says why it could not be read, where it could not."""

    id: str
    name: str
    arguments: dict[str, Any]
    fault: str = ""


class ToolSpec(Struct):
    """A tool as a model is told of it; ``parameters`` is a JSON schema of an object."""

    name: str
    description: str
    parameters: dict[str, Any]


def listed(tools: Sequence[ToolSpec]) -> str:
    """Return the tools as a list in Markdown, each with its schema."""
    return "\n".join(f"- `{t.name}`: {t.description}\n  {json.dumps(t.parameters)}" for t in tools)


def parse_call(text: str, number: int) -> tuple[ToolCall, ...]:
    """Return the call that an answer ends with; none where it ends with no block.

    A block that cannot be read becomes a call with a ``fault``, so that the model is told.

    Args:
        text: what the model itself said.
        number: counts the calls of an attempt, for the id.
    """
    text = text[-_MOST:].rstrip()
    if not text.endswith("```"):
        return ()
    openings = list(_OPENING.finditer(text))
    if not openings:
        return ()
    name = f"text-{number}"
    try:
        data = from_json(text[openings[-1].end() : -3].strip())
    except (ValueError, TypeError):
        return (ToolCall(name, "", {}, fault="the block is not JSON"),)
    if not isinstance(data, dict):
        return (ToolCall(name, "", {}, fault="the block is not a JSON object"),)
    fields = cast(dict[str, Any], data)
    tool, arguments = fields.get("tool"), fields.get("arguments", {})
    if not isinstance(tool, str) or not isinstance(arguments, dict):
        return (ToolCall(name, "", {}, fault='the block needs "tool" (text) and "arguments" (an object)'),)
    return (ToolCall(name, tool, cast(dict[str, Any], arguments)),)
