"""``tools`` of a chat: how a run is told of a program's functions, and the call that its answer ends with."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.api.refused import invalid
from llm_runtime.errors import StructuredOutputError
from llm_runtime.http.shape import mapping, sequence, text
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tool_calls import ToolCall, ToolSpec, listed, parse_call

_MUST = {"auto": "Nothing obliges them to.", "required": "They must call one now."}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_FENCE = Fence(0, CallLabel("assay", "functions"))


def read_functions(tools: Any, choice: Any) -> tuple[tuple[ToolSpec, ...], str]:
    """Return a program's functions, and ``"auto"``, ``"required"`` or the name of the one that must be called.

    Raises:
        Refused: what was sent is none, or asks for tools of somebody else.
    """
    specs = tuple(_function(number, mapping(one)) for number, one in enumerate(sequence(tools)))
    named = mapping(mapping(choice).get("function")) or mapping(choice)
    must = "auto" if choice in (None, "none") else text(named.get("name")) or text(choice)
    if must not in ("auto", *(("required", *(spec.name for spec in specs)) if specs else ())):
        raise invalid("tool_choice", "tool_choice must be none, auto, required, or one of the functions in tools")
    return (() if choice == "none" else specs), must


def _function(number: int, sent: Mapping[str, Any]) -> ToolSpec:
    # The Responses API has the fields of a function beside its type.
    told = mapping(sent.get("function")) or sent
    if sent.get("type") != "function" or not (name := text(told.get("name"))):
        raise invalid("tools", f"tools[{number}] is no function of the program itself, and only such are passed on")
    if not _NAME.fullmatch(name) or not isinstance(told.get("parameters") or {}, Mapping):
        raise invalid("tools", f"tools[{number}]: a name has 1 to 64 letters, digits, _ and -; parameters are a schema")
    return ToolSpec(name, text(told.get("description")), mapping(told.get("parameters")))


def told(turns: Sequence[tuple[str, str]], specs: Sequence[ToolSpec], must: str) -> list[tuple[str, str]]:
    """Return a chat whose last message tells the functions."""
    role, asked = turns[-1]
    prompt, obliged = load_prompt("assay.api", "functions"), _MUST.get(must, f"They must call {must} now.")
    return [*turns[:-1], (role, f"{asked}\n\n{prompt.render(must=obliged, functions=listed(specs))}")]


def called(answer: str, specs: Sequence[ToolSpec], must: str, run_id: str) -> tuple[str, ToolCall | None]:
    """Return what an answer says, and the call that it ends with.

    Raises:
        StructuredOutputError: the call cannot be read or is of no such function, or there is none and must be one.
    """
    calls = parse_call(answer, 1)
    if not calls and must == "auto":
        return answer, None
    name, fault = (calls[0].name, calls[0].fault) if calls else ("", "it calls no function")
    if fault or name not in [spec.name for spec in specs if must in (*_MUST, spec.name)]:
        fault = fault or f"there is no function {name[:60]} to call"
        raise StructuredOutputError(f"the run's answer holds no call as it was asked for: {fault}", answer)
    return answer.rpartition("```tool")[0].rstrip(), replace(calls[0], id=f"call_{run_id}")


def without_calls(messages: Any) -> Any:
    """Return a chat whose calls, and what they gave behind markers, stand in the message before them."""
    turns: list[Any] = []
    for message in sequence(messages):
        if turns and (words := _of_calls(mapping(message))):
            before = mapping(turns[-1]).get("content")
            parts = sequence(before) or [{"type": "text", "text": before}]
            turns[-1] = {**mapping(turns[-1]), "content": [*parts, {"type": "text", "text": words}]}
        else:
            turns.append(message)
    return turns or messages


def _of_calls(turn: Mapping[str, Any]) -> str:
    came = turn.get("content")
    if turn.get("role") == "tool":
        return _FENCE("RESULT", came if isinstance(came, str) else json.dumps(came), own=True)
    calls = [mapping(mapping(one).get("function")) for one in sequence(turn.get("tool_calls"))]
    words = [f"Called was {text(one.get('name'))} with {text(one.get('arguments'))}" for one in calls]
    return "\n\n".join([*filter(None, [text(came)]), *words]) if calls else ""
