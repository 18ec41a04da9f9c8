"""Solvers and judges from a script: for tests and demonstrations, without a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from ai_crucible.types import Line, Prompting, Turn
from llm_runtime.tool_calls import ToolCall, ToolSpec

Step: TypeAlias = "tuple[str, dict[str, Any]] | str | Callable[[Sequence[Line]], Any]"


def scripted_solver(*steps: Step) -> Prompting:
    """Return a solver that makes one step a turn, then submits.

    Args:
        steps: a tool call ``(name, arguments)``, a text without a call, or a function of the lines so far that
            returns either.
    """
    left = list(steps)
    count = 0

    async def generate(lines: Sequence[Line], tools: Sequence[ToolSpec], role: str) -> Turn:
        nonlocal count
        step: Any = left.pop(0) if left else ("submit", {"summary": "done"})
        if callable(step):
            step = step(lines)
        if isinstance(step, str):
            return Turn(step, model="scripted")
        count += 1
        return Turn("", (ToolCall(f"call-{count}", step[0], step[1]),), 10, 5, "scripted")

    return generate


def scripted_judge(score: float | None, novelty: bool | None, reason: str = "") -> Prompting:
    """Return a judge that always casts the same ballot."""

    async def generate(lines: Sequence[Line], tools: Sequence[ToolSpec], role: str) -> Turn:
        return Turn(json.dumps({"score": score, "novelty_validated": novelty, "reason": reason}))

    return generate
