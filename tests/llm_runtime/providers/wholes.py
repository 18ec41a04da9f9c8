"""Answers that come whole, read as they are where nobody streams."""

from __future__ import annotations

from typing import Any

from llm_runtime.messages import Reply, Request
from llm_runtime.providers._completions import Completion
from llm_runtime.providers.anthropic import MessageAnswer


def read_completion(body: Any, request: Request, provider: str, request_id: str | None) -> Reply:
    """Read the body of a chat completion."""
    return _read(Completion(request, provider), body, request_id)


def read_message(body: Any, request: Request, provider: str, request_id: str | None) -> Reply:
    """Read the body of one of Anthropic's messages."""
    return _read(MessageAnswer(request, provider), body, request_id)


def _read(answer: Completion | MessageAnswer, body: Any, request_id: str | None) -> Reply:
    answer.read(body)
    answer.end()
    return answer.reply(request_id)
