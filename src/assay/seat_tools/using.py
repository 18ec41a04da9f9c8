"""A model that uses tools: a block at the end of its answer is a call, whose result it reads before it goes on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field, replace
from itertools import count

from assay.seat_tools.offered import STANDS, offered, opening
from assay.seat_tools.quoting import looked_up
from llm_runtime.canonical import canonical_json
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request, Usage
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct
from llm_runtime.tool_calls import ToolCall, listed, parse_call

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
    specs, opens = offered(names), opening(names)
    instructions = load_prompt("assay.seat_tools", "tools").render(tools=listed(specs), steps=str(steps))
    if opens:
        instructions += "\n\n" + load_prompt("assay.seat_tools", "web").text.strip()

    async def ask(request: Request) -> Reply:
        label = request.label
        if seats.isdisjoint({label.phase, label.seat, label.seat.partition(":")[2]}):
            return await generate(request)
        turns = list(request.messages)
        turns[-1] = replace(turns[-1], content=f"{turns[-1].content}\n\n{instructions}")
        shown = [turn.content for turn in turns if turn.role != "assistant"]
        lookups = _Lookups(generate, request, shown, seed, [spec.name for spec in specs], opens)
        replies: list[Reply] = []
        told = False
        for step in range(1, steps + 2):
            label = replace(request.label, attempt=request.label.attempt + step - 1)
            # Whoever must keep to a schema can call no tool; the last answer must.
            schema = request.schema if step > steps else None
            reply = await generate(replace(request, messages=tuple(turns), label=label, schema=schema))
            replies.append(reply)
            calls = parse_call(reply.text, step)
            if calls and step <= steps:
                said = await lookups.carry_out(calls[0], step, last=step == steps)
            else:
                whole = _whole(replies, without_call=bool(calls))
                text, wrong = await looked_up(whole.text, lookups.look_up) if opens else (whole.text, [])
                if not wrong or told or step > steps:
                    return replace(whole, text=text)
                told, said = True, lookups.misquoted(wrong)
            turns += [Message("assistant", reply.text), Message("user", said)]
        raise AssertionError("the last step returns")

    return ask


class _Lookups(Struct):
    """Calls of tools for one answer; ``shown`` are the texts of others that the seat has read so far."""

    generate: Generate
    request: Request
    shown: list[str]
    seed: int
    names: Sequence[str]
    opens: Mapping[str, str]
    quotations: Iterator[int] = field(default_factory=lambda: count(1))

    async def carry_out(self, call: ToolCall, step: int, *, last: bool) -> str:
        """Return what the seat is told of a call, behind a fence that names where it comes from."""
        result = await self._result(call, step)
        self.shown.append(result)
        if last:
            result += "\n\n" + load_prompt("assay.seat_tools", "last").render()
        source = re.sub(r"[<>\s]+", " ", f"{call.name} {canonical_json(call.arguments).decode()}")[:150]
        return Fence(self.seed, self._label("tool", step))(f"RESULT {step} of {source}", result)

    async def _result(self, call: ToolCall, step: int) -> str:
        if call.fault:
            return f"error: {call.fault}"
        if call.name not in self.names:
            return f"error: there is no tool {call.name[:40]}; there are: {', '.join(self.names)}"
        address = call.arguments.get(self.opens.get(call.name, ""))
        if address and not self._was_shown(str(address)):
            return "error: no such address was shown to you; open one that a result, the question or a page names"
        return await self._asked(call.name, call.arguments, self._label("tool", step))

    async def look_up(self, address: str, words: str) -> str:
        """Return a remark on a quotation; empty where it stands on a page that the seat was shown."""
        if not self._was_shown(address):
            return "not found there"
        (tool, argument), *_ = self.opens.items()
        arguments, label = {argument: address, "quote": words}, self._label("quote", next(self.quotations))
        came = await self._asked(tool, arguments, label)
        remark = "not looked up" if came.startswith("error: ") else "not found there"
        return "" if came == STANDS else remark

    def misquoted(self, wrong: Sequence[str]) -> str:
        """Return what the seat is told of quotations that stand nowhere."""
        fence = Fence(self.seed, self._label("quote", 0))
        return load_prompt("assay.seat_tools", "misquoted").render(quotations=fence("LIST", "\n".join(wrong)))

    async def _asked(self, tool: str, arguments: Mapping[str, object], label: CallLabel) -> str:
        asked = Message("user", canonical_json(arguments).decode())
        return (await self.generate(Request(TOOL + tool, (asked,), label))).text

    def _was_shown(self, address: str) -> bool:
        # A page may want to be told in an address what else the seat has read: none that the seat makes is opened.
        whole = re.compile(re.escape(address) + r"(?=[\s\"'<>)\]},.;]|$)")
        return any(whole.search(text) for text in self.shown)

    def _label(self, what: str, attempt: int) -> CallLabel:
        return replace(self.request.label, phase=f"{self.request.label.phase}-{what}", attempt=attempt)


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
