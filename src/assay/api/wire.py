"""What goes back over the wire: completions, chunks of a stream, lists of models, errors, as OpenAI writes them.

Source: the types of the package ``openai`` 3.54. Progress stands in ``reasoning_content`` and in ``reasoning``, of
which chat programs read one or the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from assay.api.catalogue import ChatModel
from assay.api.refused import Refused
from llm_runtime.structs import Struct
from llm_runtime.tool_calls import ToolCall

DONE = "data: [DONE]\n\n"
STILL_HERE = ": keep-alive\n\n"


class AnswerHead(Struct):
    """What every piece of one answer begins with.

    Args:
        run_id: of the run that answers; empty before it has one.
        model: as the program named it.
        created: seconds since 1970.
    """

    run_id: str
    model: str
    created: int

    def data(self, kind: str) -> dict[str, Any]:
        """Return it as data; ``kind`` is OpenAI's name of the object."""
        return {"id": f"chatcmpl-{self.run_id}", "object": kind, "created": self.created, "model": self.model}


class RunAnswer(Struct):
    """How a run answered.

    Args:
        text: Markdown.
        progress: what happened on the way, a line each.
        usage: OpenAI's counts of tokens.
        about: the member ``assay``: the run's id and page, its cost in dollars, whether something is missing.
        call: of a function of the program, which the answer ends with.
    """

    text: str
    progress: str
    usage: Mapping[str, int]
    about: Mapping[str, Any]
    call: ToolCall | None = None

    @property
    def end(self) -> str:
        """Why it ends, in OpenAI's words."""
        return "tool_calls" if self.call else "stop"


def completion(head: AnswerHead, answer: RunAnswer) -> dict[str, Any]:
    """Return a whole answer."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": None}
    if answer.call:
        message |= {"content": answer.text or None, "tool_calls": [_called(answer.call)]}
    if answer.progress:
        message |= {"reasoning_content": answer.progress, "reasoning": answer.progress}
    choice = {"index": 0, "message": message, "finish_reason": answer.end, "logprobs": None}
    usage, about = dict(answer.usage), dict(answer.about)
    return {**head.data("chat.completion"), "choices": [choice], "usage": usage, "assay": about}


def opening(head: AnswerHead) -> str:
    """Return the first chunk of a stream."""
    return _chunk(head, {"role": "assistant", "content": ""})


def progress_chunk(head: AnswerHead, text: str) -> str:
    """Return a chunk that says what happens."""
    return _chunk(head, {"reasoning_content": text, "reasoning": text})


def closing(head: AnswerHead, answer: RunAnswer, *, usage: bool) -> Iterable[str]:
    """Yield the answer and the end of a stream."""
    yield _chunk(head, {"content": answer.text})
    if answer.call:
        yield _chunk(head, {"tool_calls": [{"index": 0, **_called(answer.call)}]})
    yield _chunk(head, {}, finish_reason=answer.end, assay=dict(answer.about))
    if usage:
        yield _event({**head.data("chat.completion.chunk"), "choices": list[Any](), "usage": dict(answer.usage)})
    yield DONE


def _called(call: ToolCall) -> Mapping[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": call.id, "type": "function", "function": function}


def _chunk(head: AnswerHead, delta: Mapping[str, Any], finish_reason: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": dict(delta), "finish_reason": finish_reason, "logprobs": None}
    return _event({**head.data("chat.completion.chunk"), "choices": [choice], **more})


def failure(refused: Refused, **about: Any) -> dict[str, Any]:
    """Return an error as OpenAI writes it."""
    kind = "invalid_request_error" if refused.status < 500 else "server_error"
    kind = {401: "authentication_error", 402: "insufficient_quota"}.get(refused.status, kind)
    error = {"message": str(refused), "type": kind, "param": refused.param, "code": refused.code}
    return {"error": error, **({"assay": about} if about else {})}


def broken(refused: Refused, **about: Any) -> Iterable[str]:
    """Yield the end of a stream whose run gave no answer."""
    yield _event(failure(refused, **about))
    yield DONE


def listed(model: ChatModel) -> dict[str, Any]:
    """Return a model as an entry of the list."""
    about = model.run.about if not model.preset else f"{model.run.title}, with your preset {model.name}"
    return {"id": model.id, "object": "model", "created": 0, "owned_by": "assay", "description": about}


def _event(data: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n"
