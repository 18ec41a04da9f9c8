"""What a model without native tool calls is told of them, and a conversation with them as it reads it."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ai_crucible.types import Line
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tool_calls import ToolSpec, listed


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """Return the instruction that explains the form and lists the tools."""
    return load_prompt("ai_crucible", "tools_in_text").render(tools=listed(tools))


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
