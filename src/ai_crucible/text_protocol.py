"""Tool calls in plain text, for models that have no native ones: one fenced block at the end of an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from ai_crucible.types import Line, ToolCall, ToolSpec
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt

_MOST = 256 * 1024
_OPENING = re.compile(r"^```tool[ \t]*$", re.M)


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """Return the instruction that explains the form and lists the tools."""
    listed = "\n".join(f"- `{t.name}`: {t.description}\n  {json.dumps(t.parameters)}" for t in tools)
    return load_prompt("ai_crucible", "tools_in_text").render(tools=listed)


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
    body = text[openings[-1].end() : -3].strip()
    name = f"text-{number}"
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        return (ToolCall(name, "", {}, fault="the block is not JSON"),)
    if not isinstance(data, dict):
        return (ToolCall(name, "", {}, fault="the block is not a JSON object"),)
    fields = cast(dict[str, Any], data)
    tool, arguments = fields.get("tool"), fields.get("arguments", {})
    if not isinstance(tool, str) or not isinstance(arguments, dict):
        return (ToolCall(name, "", {}, fault='the block needs "tool" (text) and "arguments" (an object)'),)
    return (ToolCall(name, tool, cast(dict[str, Any], arguments)),)


def as_plain(lines: Sequence[Line], seed: int) -> list[Line]:
    """Return the same conversation for a model without tool messages: results become fenced user lines."""
    plain: list[Line] = []
    for number, line in enumerate(lines):
        if line.role == "tool":
            fence = Fence(seed, CallLabel("ai_crucible", "tool", line.answers, round=number))
            line = Line("user", fence("RESULT", line.content))
        elif line.calls and "```tool" not in line.content:
            block = json.dumps({"tool": line.calls[0].name, "arguments": line.calls[0].arguments})
            line = Line("assistant", f"{line.content}\n```tool\n{block}\n```".strip())
        if plain and plain[-1].role == line.role == "user":
            line = Line("user", f"{plain.pop().content}\n\n{line.content}")
        plain.append(Line(line.role, line.content))
    return plain
