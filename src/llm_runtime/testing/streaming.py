"""A whole answer cut into the events that a server streams it as."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic_core import to_json


def can_stream(answer: dict[str, Any]) -> bool:
    """Tell whether an answer has the parts that a stream is made of."""
    if "choices" in answer:
        return bool(answer["choices"])
    return "message" in answer or ("content" in answer and "error" not in answer)


def events(answer: dict[str, Any], kind: str, characters: int) -> Iterator[bytes]:
    """Cut a whole answer into its stream.

    Args:
        answer: as the server sends it to those who do not ask for a stream.
        kind: the protocol: ``"openai"``, ``"anthropic"`` or ``"ollama"``.
        characters: of text in one event, 1 or more.
    """
    return {"openai": _completion, "anthropic": _message, "ollama": _chat}[kind](answer, characters)


def event(data: dict[str, Any], name: str = "") -> bytes:
    """Return one server-sent event."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + to_json(data) + b"\n\n"


def _completion(answer: dict[str, Any], characters: int) -> Iterator[bytes]:
    choice = answer["choices"][0]
    head = {name: answer[name] for name in ("id", "model") if name in answer} | {"object": "chat.completion.chunk"}
    message: dict[str, Any] = choice.get("message") or {}
    parts = ((name, value) for name, value in message.items() if name != "role")
    texts = {name: value for name, value in parts if isinstance(value, str)}
    yield event(head | {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})
    # Reasoning comes before the text.
    for name in sorted(texts, key=lambda name: name == "content"):
        for piece in _pieces(texts[name], characters):
            yield event(head | {"choices": [{"index": 0, "delta": {name: piece}, "finish_reason": None}]})
    finish = {name: value for name, value in choice.items() if name not in ("index", "message")}
    yield event(head | {"choices": [{"index": 0, "delta": {}} | finish]})
    if "usage" in answer:
        yield event(head | {"choices": [], "usage": answer["usage"]})
    yield b"data: [DONE]\n\n"


def _message(answer: dict[str, Any], characters: int) -> Iterator[bytes]:
    usage: dict[str, Any] = answer.get("usage") or {}
    start: dict[str, Any] = answer | {"content": [], "stop_reason": None, "usage": usage | {"output_tokens": 1}}
    yield event({"type": "message_start", "message": start}, "message_start")
    yield event({"type": "ping"}, "ping")
    for index, block in enumerate(answer["content"]):
        name = block["type"]
        yield _block("start", index, content_block=block | {name: ""})
        for piece in _pieces(block[name], characters):
            yield _block("delta", index, delta={"type": f"{name}_delta", name: piece})
        yield _block("stop", index)
    delta = {"stop_reason": answer.get("stop_reason")}
    counts = {"output_tokens": usage["output_tokens"]} if usage else None
    yield event({"type": "message_delta", "delta": delta, "usage": counts}, "message_delta")
    yield event({"type": "message_stop"}, "message_stop")


def _block(what: str, index: int, **fields: Any) -> bytes:
    name = f"content_block_{what}"
    return event({"type": name, "index": index, **fields}, name)


def _chat(answer: dict[str, Any], characters: int) -> Iterator[bytes]:
    for name in ("thinking", "content"):
        for piece in _pieces(answer["message"].get(name) or "", characters):
            message = {"role": "assistant", "content": "", name: piece}
            yield to_json({"model": answer["model"], "message": message, "done": False}) + b"\n"
    yield to_json(answer | {"message": {"role": "assistant", "content": ""}}) + b"\n"


def _pieces(text: str, characters: int) -> list[str]:
    return [text[start : start + characters] for start in range(0, len(text), characters)]
