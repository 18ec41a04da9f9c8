"""A model that uses tools: a block at the end of its answer is a call, whose result it reads before it goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import replace

from assay.seat_tools.offered import offered
from llm_runtime.canonical import canonical_json
from llm_runtime.messages import Generate, Message, Reply, Request, Usage
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tool_calls import ToolCall, ToolSpec, listed, parse_call

TOOL = "tool:"
"""Begins the model's name of a request to a tool."""
STEPS = 8
"""Calls of tools that one answer may make."""


def tooled(generate: Generate, names: Sequence[str], seed: int, seats: Set[str], steps: int = STEPS) -> Generate:
    """Let seats use tools; without tools it is ``generate`` itself.

    What comes back counts all calls of an answer: their tokens and what they cost.

    Args:
        generate: the models and, under :data:`TOOL` names, the tools; recorded and limited.
        names: of the tools, as the user wrote them.
        seed: of the run; fences around results derive from it.
        seats: the roles and phases that use them.
        steps: calls of tools an answer, at least 1.
    """
    if not names:
        return generate
    specs = offered(names)
    instructions = load_prompt("assay.seat_tools", "tools").render(tools=listed(specs), steps=str(steps))

    async def ask(request: Request) -> Reply:
        label = request.label
        if seats.isdisjoint({label.phase, label.seat, label.seat.partition(":")[2]}):
            return await generate(request)
        turns = list(request.messages)
        turns[-1] = replace(turns[-1], content=f"{turns[-1].content}\n\n{instructions}")
        replies: list[Reply] = []
        for step in range(1, steps + 2):
            label = replace(request.label, attempt=request.label.attempt + step - 1)
            # Whoever must keep to a schema can call no tool; the last answer must.
            schema = request.schema if step > steps else None
            reply = await generate(replace(request, messages=tuple(turns), label=label, schema=schema))
            replies.append(reply)
            calls = parse_call(reply.text, step)
            if not calls or step > steps:
                return _whole(replies, without_call=bool(calls))
            result = await _result(generate, specs, calls[0], request, step)
            if step == steps:
                result += "\n\n" + load_prompt("assay.seat_tools", "last").render()
            turns += [Message("assistant", reply.text), Message("user", _fenced(result, calls[0], request, step, seed))]
        raise AssertionError("the last step returns")

    return ask


async def _result(generate: Generate, specs: Sequence[ToolSpec], call: ToolCall, request: Request, step: int) -> str:
    if call.fault:
        return f"error: {call.fault}"
    if call.name not in {spec.name for spec in specs}:
        return f"error: there is no tool {call.name[:40]}; there are: {', '.join(spec.name for spec in specs)}"
    label = replace(request.label, phase=f"{request.label.phase}-tool", attempt=step)
    asked = Message("user", canonical_json(call.arguments).decode())
    return (await generate(Request(TOOL + call.name, (asked,), label))).text


def _fenced(result: str, call: ToolCall, request: Request, step: int, seed: int) -> str:
    """Return a result behind a fence that names where it comes from."""
    source = re.sub(r"[<>\s]+", " ", f"{call.name} {canonical_json(call.arguments).decode()}")[:150]
    label = replace(request.label, phase=f"{request.label.phase}-tool", attempt=step)
    return Fence(seed, label)(f"RESULT {step} of {source}", result)


def _whole(replies: Sequence[Reply], *, without_call: bool) -> Reply:
    """Return the last answer with what all of them took."""
    last = replies[-1]
    costs = [reply.cost for reply in replies]
    text = last.text.rpartition("```tool")[0].strip() if without_call else last.text
    return replace(
        last,
        text=text or "The tools were used up before an answer was written.",
        usage=Usage(
            sum(reply.usage.input_tokens for reply in replies),
            sum(reply.usage.output_tokens for reply in replies),
            estimated=any(reply.usage.estimated for reply in replies),
        ),
        cost=None if None in costs else sum(cost or 0 for cost in costs),
    )
