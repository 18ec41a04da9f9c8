"""Ollama's own chat: the only way to tell it how large a window the prompt needs."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import replace
from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.http import Http
from llm_runtime.http.shape import count, mapping, text
from llm_runtime.messages import Effort, Generate, Message, OnDelta, Request, Usage, unwatched
from llm_runtime.providers._answer import Answer
from llm_runtime.providers._asking import asking
from llm_runtime.providers._quirks import Quirk
from llm_runtime.providers._schemas import decodable
from llm_runtime.providers.listing import entries_at
from llm_runtime.silence import LOCAL_PATIENCE, Patience
from llm_runtime.tokens import token_bound
from llm_runtime.wires import ALL, Link, Wire

#: Windows grow in steps, since each new size loads the model anew.
_STEP = 4096
_LARGEST_WINDOW = 32_768
_ANSWER_TOKENS = 4096
#: How long the model stays loaded after a call: a debate pauses while people read.
_KEEP_ALIVE = "30m"
#: Ollama has no sampler for repeated passages: it weighs down the words of the whole window.
_UNREPEATING = {"repeat_last_n": -1, "repeat_penalty": 1.2}
#: Models take words or a plain yes; those that take neither refuse, and are not told again.
_THINK: dict[Effort, bool | str] = {"none": False, "minimal": "low", "max": "high"}


def ollama(
    endpoint: Endpoint, http: Http, *, on_delta: OnDelta = unwatched, patience: Patience = LOCAL_PATIENCE
) -> Generate:
    """Return a model function over ``POST {host}/api/chat``.

    The window is as large as the request needs, in steps of 4,096 up to 32,768 tokens; a prompt that does not fit
    is refused, where ``/v1`` cuts it without a word. See https://github.com/ollama/ollama/blob/main/docs/api.md.

    Args:
        endpoint: where to ask; a base URL that ends with ``/v1`` is its host all the same.
        http: the client, which may be shared.
        on_delta: told of each piece of the answer.
        patience: how long the model may be silent.

    Returns:
        A function that raises any kind of :class:`~llm_runtime.errors.CallError`, named after the endpoint.
    """
    endpoint = replace(endpoint, base_url=endpoint.base_url.rstrip("/").removesuffix("/v1"))

    return asking(http, endpoint, "/api/chat", _payload, ChatAnswer, on_delta, patience)


def _payload(request: Request, _: Endpoint, quirks: Set[Quirk]) -> dict[str, Any]:
    need = token_bound(request) + (request.max_tokens or _ANSWER_TOKENS)
    options: dict[str, Any] = {"num_ctx": min(-(-need // _STEP) * _STEP, _LARGEST_WINDOW)}
    given = {"num_predict": request.max_tokens, "temperature": request.temperature, "seed": request.seed}
    options |= {name: value for name, value in given.items() if value is not None}
    if request.repeated:
        options |= _UNREPEATING
    payload: dict[str, Any] = {
        "model": request.model,
        "messages": [_turn(message) for message in request.messages],
        "stream": True,
        "options": options,
        "truncate": False,
        "shift": False,
        "keep_alive": _KEEP_ALIVE,
    }
    if request.schema is not None and "no schema" not in quirks:
        payload["format"] = decodable(request.grammar, request.schema, request.max_tokens)
    if request.effort is not None and "no think" not in quirks:
        payload["think"] = _THINK.get(request.effort, request.effort)
    return payload


def _turn(message: Message) -> Mapping[str, object]:
    images = {"images": [one.base64 for one in message.pictures]} if message.pictures else {}
    return {"role": message.role, "content": message.content, **images}


class ChatAnswer(Answer):
    """The answer of ``POST /api/chat``: one JSON object a line, the last of which counts the tokens."""

    lines = True

    def add(self, name: bytes, data: Any) -> None:
        line = mapping(data)
        if error := line.get("error"):
            self.error, self.done = error, True
            return
        self.model = self.model or text(line.get("model"))
        message = mapping(line.get("message"))
        if thought := text(message.get("thinking")):
            self.think(thought)
        if content := text(message.get("content")):
            self.say(content)
        if line.get("done") is True:
            self.done = True
            self.finish = text(line.get("done_reason")) or "stop"
            # A prompt that is still in the cache is not counted.
            asked, answered = count(line.get("prompt_eval_count")), count(line.get("eval_count"))
            if asked is not None and answered is not None:
                self.usage = Usage(asked, answered)


def _linked(link: Link) -> Generate:
    return ollama(link.endpoint, link.http, on_delta=link.on_delta, patience=link.patience)


WIRE = Wire("ollama", _linked, ALL, entries_at)
