"""The Responses API over the same runs: its request as a chat request, and an answer as its objects and events.

Source: the types of the package ``openai`` 3.54. Nothing is kept to be gone on with: a request has all its input.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any

from assay.api.refused import Refused
from assay.api.wire import AnswerHead, RunAnswer, failure
from llm_runtime.http.shape import mapping, sequence

_UNNUMBERED = '"sequence_number": -1'


def as_chat(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a request of the Responses API as one of chat completions; what it cannot be stays, to be refused."""
    own = {"input", "instructions", "text", "reasoning", "max_output_tokens"}
    chat = {name: value for name, value in body.items() if name not in own}
    asked = body.get("input")
    turns = [{"role": "user", "content": asked}] if isinstance(asked, str) else sequence(asked)
    system = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    form = mapping(mapping(body.get("text")).get("format"))
    return {
        **chat,
        "messages": [*system, *map(_turn, (one for one in turns if mapping(one).get("type") != "reasoning"))],
        "max_tokens": body.get("max_output_tokens"),
        "reasoning_effort": mapping(body.get("reasoning")).get("effort"),
        "response_format": {**form, "json_schema": form} if form else None,
    }


def _turn(item: Any) -> Any:
    """Return an item of the input as a message; calls and their results are items of their own there."""
    one = mapping(item)
    if one.get("type") == "function_call":
        return {"role": "assistant", "content": None, "tool_calls": [{"function": one}]}
    return {"role": "tool", "content": one.get("output")} if one.get("type") == "function_call_output" else item


def completion(head: AnswerHead, answer: RunAnswer) -> Mapping[str, object]:
    """Return a whole answer."""
    spent = answer.usage
    usage = {"input_tokens": spent["prompt_tokens"], "output_tokens": spent["completion_tokens"]}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    usage = {**usage, **details, "total_tokens": spent["total_tokens"]}
    return {**_response(head, "completed"), "output": _items(head, answer), "usage": usage, "assay": answer.about}


def opening(head: AnswerHead) -> str:
    """Return the first event of a stream."""
    return _event("response.created", response=_response(head, "in_progress"))


def progress_chunk(head: AnswerHead, text: str) -> str:
    """Return an event that says what happens."""
    where = {"item_id": f"rs_{head.run_id}", "output_index": 0, "summary_index": 0}
    return _event("response.reasoning_summary_text.delta", **where, delta=text)


def closing(head: AnswerHead, answer: RunAnswer, *, usage: bool) -> Iterable[str]:
    """Yield the answer and the end of a stream."""
    none = list[str]()
    for at, item in enumerate(_items(head, answer)):
        where = {"item_id": item["id"], "output_index": at}
        if item["type"] == "function_call":
            begun = {**item, "arguments": "", "status": "in_progress"}
            yield _event("response.output_item.added", output_index=at, item=begun)
            yield _event("response.function_call_arguments.delta", **where, delta=item["arguments"])
            told = {"name": item["name"], "arguments": item["arguments"]}
            yield _event("response.function_call_arguments.done", **where, **told)
        else:
            begun = {**item, "status": "in_progress", "content": none}
            where, part = {**where, "content_index": 0}, {"type": "output_text", "text": "", "annotations": none}
            yield _event("response.output_item.added", output_index=at, item=begun)
            yield _event("response.content_part.added", **where, part=part)
            yield _event("response.output_text.delta", **where, delta=answer.text, logprobs=[])
            yield _event("response.output_text.done", **where, text=answer.text, logprobs=[])
            yield _event("response.content_part.done", **where, part={**part, "text": answer.text})
        yield _event("response.output_item.done", output_index=at, item=item)
    yield _event("response.completed", response=completion(head, answer))


def broken(refused: Refused, **about: Any) -> Iterable[str]:
    """Yield the end of a stream whose run gave no answer."""
    yield _event("error", **failure(refused, **about))


async def numbered(pieces: AsyncIterator[str]) -> AsyncIterator[str]:
    """Count the events of a stream."""
    number = 0
    async for piece in pieces:
        yield piece.replace(_UNNUMBERED, f'"sequence_number": {number}', 1)
        number += piece.startswith("event")


def _response(head: AnswerHead, status: str) -> Mapping[str, object]:
    fixed = {"output": list[object](), "tools": list[object](), "tool_choice": "none", "parallel_tool_calls": False}
    unset = dict.fromkeys(("error", "incomplete_details", "instructions", "usage", "temperature", "top_p"))
    own = {"id": f"resp_{head.run_id}", "object": "response", "created_at": head.created}
    return {**own, "model": head.model, "status": status, "metadata": dict[str, str](), **fixed, **unset}


def _message(head: AnswerHead, text: str) -> Mapping[str, object]:
    content = [{"type": "output_text", "text": text, "annotations": list[object]()}]
    own = {"id": f"msg_{head.run_id}", "type": "message", "role": "assistant", "status": "completed"}
    return {**own, "content": content}


def _items(head: AnswerHead, answer: RunAnswer) -> list[Mapping[str, Any]]:
    items = [_message(head, answer.text)] if answer.text or answer.call is None else []
    if call := answer.call:
        own = {"id": f"fc_{head.run_id}", "type": "function_call", "call_id": call.id, "status": "completed"}
        items.append({**own, "name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)})
    return items


def _event(kind: str, **fields: object) -> str:
    data = json.dumps({"sequence_number": -1, "type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n"
