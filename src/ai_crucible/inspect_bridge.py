"""Between our shapes and Inspect's: messages, tools, the injected ``generate`` and the hands."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any, TypeVar

from inspect_ai._util.exception import TerminateSampleError
from inspect_ai._util.json import to_json_safe
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    GenerateConfig,
    Model,
    ModelOutput,
    execute_tools,
    get_model_info,
)
from inspect_ai.solver import TaskState
from inspect_ai.tool import Tool, ToolChoice, ToolDef, ToolInfo, ToolParam, ToolParams
from inspect_ai.tool import ToolCall as InspectCall
from inspect_ai.util import LimitExceededError
from pydantic import BaseModel
from pydantic_core import PydanticSerializationError

from ai_crucible.purse import ANSWER_TOKENS, PURSE
from ai_crucible.text_protocol import as_plain
from ai_crucible.tools import TOOLS, WorkBox, carry_out
from ai_crucible.types import Hands, Line, Prompting, Turn
from llm_runtime.errors import (
    CallError,
    EmptyReply,
    LlmRuntimeError,
    ReplyFiltered,
    ReplyTruncated,
    RequestRefused,
    UnknownPrice,
)
from llm_runtime.messages import CostSource, Generate, Reply, Request, Usage
from llm_runtime.price import Price
from llm_runtime.tool_calls import ToolCall, ToolSpec, parse_call

M = TypeVar("M", bound=BaseModel)


def to_chat(line: Line) -> ChatMessage:
    """Return one line as Inspect's message."""
    match line.role:
        case "system":
            return ChatMessageSystem(content=line.content)
        case "user":
            return ChatMessageUser(content=line.content)
        case "tool":
            return ChatMessageTool(content=line.content, tool_call_id=line.answers)
        case "assistant":
            return ChatMessageAssistant(content=line.content, tool_calls=to_calls(line.calls) or None)


def writable(told: M) -> M:
    """Return what was told as a log can hold it: half a character, which is no text, becomes its escape."""
    try:
        told.model_dump_json()
    except PydanticSerializationError:
        return type(told).model_validate_json(to_json_safe(told))
    return told


def to_calls(calls: Sequence[ToolCall]) -> list[InspectCall]:
    """Return tool calls as Inspect's."""
    return [
        InspectCall(id=c.id, function=c.name or "unknown", arguments=c.arguments, parse_error=c.fault or None)
        for c in calls
    ]


def to_info(spec: ToolSpec) -> ToolInfo:
    """Return a tool as Inspect tells a model of it."""
    return ToolInfo(name=spec.name, description=spec.description, parameters=_parameters(spec))


def _parameters(spec: ToolSpec) -> ToolParams:
    properties = {name: ToolParam.model_validate(schema) for name, schema in spec.parameters["properties"].items()}
    return ToolParams(properties=properties, required=list(spec.parameters["required"]))


def inspect_generate(
    model: Model, state: TaskState | None = None, *, in_text: bool = False, seed: int = 0
) -> Prompting:
    """Return the injected ``generate`` over an Inspect model.

    Args:
        model: any.
        state: kept in step with the conversation, so that Inspect's limits and log see it.
        in_text: call tools by the text protocol instead of natively.
        seed: of the run; fences derive from it.
    """
    cache: dict[int, tuple[Line, ChatMessage]] = {}
    count = 0

    def converted(lines: Sequence[Line]) -> list[ChatMessage]:
        # A message keeps its id from turn to turn; the line is kept too, so that its identity stays its own.
        for line in lines:
            if id(line) not in cache:
                cache[id(line)] = (line, to_chat(line))
        return [cache[id(line)][1] for line in lines]

    async def generate(lines: Sequence[Line], tools: Sequence[ToolSpec], role: str) -> Turn:
        nonlocal count
        messages = converted(lines)
        if state is not None:
            state.messages = messages
        if in_text:
            output = await paid(model, [to_chat(line) for line in as_plain(lines, seed)], [], role)
        else:
            output = await paid(model, messages, [to_info(tool) for tool in tools], role)
        if state is not None:
            state.output = output
        turn = as_turn(output)
        if in_text:
            count += 1
            turn = replace(turn, calls=parse_call(turn.text, count))
        return turn

    return generate


def as_turn(output: ModelOutput) -> Turn:
    """Return what a model said in one turn."""
    asked = output.message.tool_calls or []
    calls = tuple(ToolCall(one.id, one.function, one.arguments, fault=one.parse_error or "") for one in asked)
    usage = output.usage
    read, written = (usage.input_tokens, usage.output_tokens) if usage else (0, 0)
    return Turn(output.message.text, calls, read, written, output.model)


def inspect_model_function(usual: Model, others: Mapping[str, Model] | None = None) -> Generate:
    """Return a model function over Inspect's models, so that its log, its limits and its prices see every call.

    Schemas are not passed on: what comes back is read tolerantly.

    Args:
        usual: answers whatever names none of the others.
        others: by the names that requests have for them.
    """

    async def generate(request: Request) -> Reply:
        model = (others or {}).get(request.model, usual)
        messages = [to_chat(Line(turn.role, turn.content)) for turn in request.messages]
        config = GenerateConfig(temperature=request.temperature, max_tokens=request.max_tokens, seed=request.seed)
        began = time.monotonic()
        try:
            output = await paid(model, messages, [], request.label.words, config)
        except (LlmRuntimeError, LimitExceededError, TerminateSampleError):
            raise
        except Exception as fault:
            reason = " ".join(f"{type(fault).__name__}: {fault}".split())[:400]
            raise CallError(reason, model=str(model), label=request.label) from fault
        return _as_reply(output, request, round(1000 * (time.monotonic() - began)))

    return generate


def _as_reply(output: ModelOutput, request: Request, took_ms: int) -> Reply:
    spent = output.usage
    usage = Usage(spent.input_tokens, spent.output_tokens) if spent else Usage(0, 0, estimated=True)
    known = spent.total_cost if spent else None
    cost = None if known is None else ceil(known * 1_000_000)
    told: CostSource = "unknown" if cost is None else "provider"
    text, model = output.completion, output.model
    reply = Reply(text, model, "inspect", usage, cost=cost, cost_source=told, latency_ms=took_ms)
    why: CallError | None = None
    if output.error:
        why = RequestRefused(output.error)
    elif output.stop_reason in ("max_tokens", "model_length"):
        why = ReplyTruncated("the answer was cut by its token limit", label=request.label)
    elif output.stop_reason == "content_filter":
        why = ReplyFiltered("the provider filtered the answer", label=request.label)
    elif not output.completion.strip():
        why = EmptyReply("the answer is empty", label=request.label)
    if why is not None:
        why.partial = reply
        raise why
    return reply


async def paid(
    model: Model, messages: list[ChatMessage], tools: list[ToolInfo], role: str, config: GenerateConfig | None = None,
    choice: ToolChoice | None = None,
) -> ModelOutput:  # fmt: skip
    """Make one call out of the trial's purse, if there is one; a provider that asks the purse itself is left to it.

    Raises:
        BudgetExceeded: the purse has no more for it; nothing was sent.
    """
    config = config or GenerateConfig()
    purse = PURSE.get()
    if purse is None or getattr(model.api, "keeps_to_purse", False):
        return writable(await model.generate(messages, tools=tools, tool_choice=choice, config=config))
    info = get_model_info(model)
    if info is None or info.cost is None:
        raise UnknownPrice(f"no price is known for {model}, so a cap in USD cannot hold")
    most = config.max_tokens or model.config.max_tokens or min(info.output_tokens or ANSWER_TOKENS, ANSWER_TOKENS)
    price = Price(max(info.cost.input, info.cost.input_cache_write), info.cost.output)
    asked = bytes_bound(messages, tools)

    async def call() -> tuple[ModelOutput, int | None]:
        bounded = config.model_copy(update={"max_tokens": most})
        output = writable(await model.generate(messages, tools=tools, tool_choice=choice, config=bounded))
        cost = output.usage.total_cost if output.usage else None
        return output, None if cost is None else ceil(cost * 1_000_000)

    return await purse.hold(price.cost(asked, most), f"{role} ({model})", call)


def bytes_bound(messages: Sequence[ChatMessage], tools: Sequence[ToolInfo]) -> int:
    """Return an upper estimate of a request's tokens, for holds: one for each two bytes of all that is sent."""
    texts = [message.model_dump_json(exclude_none=True) for message in messages]
    return sum(len(text.encode()) for text in [*texts, *(tool.model_dump_json() for tool in tools)]) // 2 + 1


def inspect_hands(box: WorkBox) -> Hands:
    """Return hands that act through Inspect's own tool machinery, so that approvals and the log see every call."""
    tools = [_tool(spec, box) for spec in TOOLS if spec.name != "submit"]

    async def act(call: ToolCall) -> str:
        result = await execute_tools([ChatMessageAssistant(content="", tool_calls=to_calls([call]))], tools)
        answers = [answer for answer in result.messages if isinstance(answer, ChatMessageTool)]
        return "\n".join(answer.error.message if answer.error else answer.text for answer in answers)

    return act


def _tool(spec: ToolSpec, box: WorkBox) -> Tool:
    async def execute(**arguments: Any) -> str:
        return await carry_out(box, ToolCall("", spec.name, arguments))

    return ToolDef(
        execute, name=spec.name, description=spec.description, parameters=_parameters(spec), max_output=0
    ).as_tool()
