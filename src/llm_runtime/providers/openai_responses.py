"""OpenAI's Responses API, for the models that know nothing else: o*-pro, gpt-*-pro, codex."""

from __future__ import annotations

from typing import Any

from llm_runtime.endpoints import Endpoint
from llm_runtime.http import Http
from llm_runtime.http.shape import count, mapping, sequence, text
from llm_runtime.messages import Generate, OnDelta, Usage, unwatched
from llm_runtime.providers._answer import Answer
from llm_runtime.providers._asking import asking
from llm_runtime.providers.payloads import responses_payload
from llm_runtime.silence import HOSTED_PATIENCE, Patience

_FINISH = {"max_output_tokens": "length", "content_filter": "content_filter"}


def openai_responses(
    endpoint: Endpoint, http: Http, *, on_delta: OnDelta = unwatched, patience: Patience = HOSTED_PATIENCE
) -> Generate:
    """Return a model function over ``POST {base_url}/responses``. Nothing is kept there: ``store`` is false.

    Args:
        endpoint: where to ask.
        http: the client, which may be shared.
        on_delta: told of each piece of the answer.
        patience: how long the model may be silent.

    Returns:
        A function that raises any kind of :class:`~llm_runtime.errors.CallError`, named after the endpoint.
    """
    return asking(http, endpoint, "/responses", responses_payload, ResponseAnswer, on_delta, patience)


class ResponseAnswer(Answer):
    """The answer of ``POST /responses``; a stream ends with the whole answer once more."""

    def add(self, name: bytes, data: Any) -> None:
        event = mapping(data)
        match event.get("type"):
            case "response.output_text.delta":
                self.say(text(event.get("delta")))
            case "response.reasoning_text.delta" | "response.reasoning_summary_text.delta":
                self.think(text(event.get("delta")))
            case "response.refusal.delta":
                self.refused = True
            case "response.completed" | "response.incomplete" | "response.failed":
                self._about(mapping(event.get("response")))
                self.done = True
            case "error":
                self.error, self.done = event.get("error") or event, True
            case _:
                pass

    def read(self, body: Any) -> None:
        whole = mapping(body)
        self._about(whole)
        if self.error is None and not isinstance(whole.get("output"), list):
            self.malformed = "the answer is not a response; is this the right base URL?"
        for item in map(mapping, sequence(whole.get("output"))):
            for part in map(mapping, (*sequence(item.get("summary")), *sequence(item.get("content")))):
                if part.get("type") == "output_text":
                    self.say(text(part.get("text")))
                elif part.get("type") == "refusal":
                    self.refused = True
                else:
                    self.think(text(part.get("text")))

    def _about(self, response: dict[str, Any]) -> None:
        self.model = text(response.get("model"))
        self.identity = text(response.get("id"))
        self.error = response.get("error")
        reason = text(mapping(response.get("incomplete_details")).get("reason"))
        self.finish = _FINISH.get(reason, reason) or ("stop" if response.get("status") == "completed" else "error")
        self.usage = _usage(mapping(response.get("usage")))


def _usage(counts: dict[str, Any]) -> Usage | None:
    asked, answered = count(counts.get("input_tokens")), count(counts.get("output_tokens"))
    if asked is None or answered is None:
        return None
    cached = count(mapping(counts.get("input_tokens_details")).get("cached_tokens")) or 0
    thought = count(mapping(counts.get("output_tokens_details")).get("reasoning_tokens")) or 0
    return Usage(asked, answered, cached_tokens=cached, reasoning_tokens=thought)
