"""What a chat-completions server answers, in pieces or at once."""

from __future__ import annotations

import math
from typing import Any

from llm_runtime.http.shape import amount, count, mapping, sequence, text
from llm_runtime.messages import Usage
from llm_runtime.providers._answer import Answer

_NO_COMPLETION = "the answer is not a chat completion; is this the right base URL?"
_REASONING = ("reasoning_content", "reasoning")


class Completion(Answer):
    """The answer of ``POST /chat/completions``, whichever of its dialects the server speaks."""

    def add(self, name: bytes, data: Any) -> None:
        if self.model and not name and (piece := _mere_text(data)):
            self.say(piece)
            return
        chunk = mapping(data)
        if error := chunk.get("error") or (chunk if name == b"error" else None):
            self.error, self.done = error, True
        self._about(chunk)
        # A chunk that only counts tokens has no choices.
        for choice in map(mapping, sequence(chunk.get("choices"))):
            if choice.get("index", 0) == 0:
                self._choice(choice, choice.get("delta") or choice.get("message"))
        if not chunk.get("choices") and (progress := mapping(chunk.get("prompt_progress"))):
            self.progress(count(progress.get("processed")) or 0)

    def read(self, body: Any) -> None:
        whole = mapping(body)
        self.error = whole.get("error") or None
        self._about(whole)
        choices = sequence(whole.get("choices"))
        choice = mapping(choices[0]) if choices else {}
        if not isinstance(whole.get("choices"), list) or (choices and not mapping(choice.get("message"))):
            self.malformed = _NO_COMPLETION
        self._choice(choice, choice.get("message"))
        if self.error is None:
            # What is no stream is whole, unless it says otherwise.
            self.finish = self.finish or "stop"

    def _about(self, chunk: dict[str, Any]) -> None:
        if not self.model:
            self.model = text(chunk.get("model"))
            self.identity = text(chunk.get("id"))
        usage = chunk.get("usage") or mapping(chunk.get("x_groq")).get("usage")
        if usage:
            self._count(mapping(usage))

    def _choice(self, choice: dict[str, Any], message: Any) -> None:
        if choice.get("error"):
            self.error, self.done = choice["error"], True
            return
        fields = mapping(message)
        for key in _REASONING:
            if thought := text(fields.get(key)):
                self.think(thought)
                break
        else:
            for detail in map(mapping, sequence(fields.get("reasoning_details"))):
                self.think(text(detail.get("text")) or text(detail.get("summary")))
        self._content(fields.get("content"))
        if fields.get("refusal"):
            self.refused = True
        if finish := text(choice.get("finish_reason")):
            self.finish = finish

    def _content(self, content: Any) -> None:
        if isinstance(content, str):
            if content:
                self.say(content)
        elif isinstance(content, list):
            for part in map(mapping, sequence(content)):
                kind = part.get("type")
                if kind in ("text", "output_text"):
                    self.say(text(part.get("text")))
                elif kind == "thinking":
                    self.think("".join(text(mapping(p).get("text")) for p in sequence(part.get("thinking"))))
        elif content is not None:
            self.malformed = _NO_COMPLETION

    def _count(self, usage: dict[str, Any]) -> None:
        cost = _cost(usage)
        self.cost = self.cost if cost is None else cost
        asked, answered = count(usage.get("prompt_tokens")), count(usage.get("completion_tokens"))
        if asked is None or answered is None:
            return
        read, written = mapping(usage.get("prompt_tokens_details")), mapping(usage.get("completion_tokens_details"))
        thought = count(written.get("reasoning_tokens")) or 0
        cached = _first(read.get("cached_tokens"), usage.get("prompt_cache_hit_tokens"))
        # xAI and Gemini leave reasoning out of the completion and count it in the total.
        unseen = (count(usage.get("total_tokens")) or 0) - asked - answered
        if unseen > 0 and unseen == cached:
            asked += cached
        elif unseen > 0 and thought in (0, unseen):
            answered, thought = answered + unseen, unseen
        kept = _first(read.get("cache_write_tokens"))
        self.usage = Usage(asked, answered, cached_tokens=cached, cache_write_tokens=kept, reasoning_tokens=thought)


def _mere_text(chunk: Any) -> str:
    """Return the text that a chunk brings, where it surely brings nothing else: most do, and a stream is chunks."""
    try:
        (choice,) = chunk["choices"]
        if choice.get("index", 0) != 0 or choice.get("finish_reason") or choice.get("error"):
            return ""
        if chunk.get("usage") or chunk.get("error") or chunk.get("x_groq"):
            return ""
        delta = choice["delta"]
        alone = len(delta) == 1 or (len(delta) == 2 and "role" in delta)
        return delta["content"] if alone and type(delta["content"]) is str else ""
    except (LookupError, TypeError, ValueError, AttributeError):
        return ""


def _first(*values: Any) -> int:
    return next((number for value in values if (number := count(value))), 0)


def _cost(usage: dict[str, Any]) -> int | None:
    """Return micro-dollars, rounded up. With a user's own key OpenRouter's fee and that bill come apart."""
    cost = amount(usage.get("cost"))
    if cost is None:
        return None
    if usage.get("is_byok"):
        cost += amount(mapping(usage.get("cost_details")).get("upstream_inference_cost")) or 0.0
    # Rounding first keeps the noise of binary fractions from costing a micro-dollar.
    return math.ceil(round(cost * 1e6, 6))
