"""The vocabulary of a model call: what is asked, who asks it, what comes back, and the one function type.

Everything in this package is a function over :data:`Generate`. These classes are on the hot path, so they are
frozen, slotted dataclasses and validate nothing: whoever makes one is trusted code.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import field
from typing import Any, Literal, TypeAlias, TypeVar

from llm_runtime.answerer import named_words
from llm_runtime.canonical import canonical_json, ordered_json
from llm_runtime.structs import Struct

Role: TypeAlias = Literal["system", "user", "assistant"]
CostSource: TypeAlias = Literal["provider", "table", "free", "subscription", "unknown"]
Effort: TypeAlias = Literal["none", "minimal", "low", "medium", "high", "max"]


class Picture(Struct):
    """A picture that a model is shown; :func:`llm_runtime.documents.pictures.read_picture` makes one.

    Args:
        digest: SHA-256 of its bytes, in hex: what requests and logs call it.
        kind: its media type, ``"image/png"``; empty where a log has named it and its bytes are not at hand.
        width: pixels, 1 to 8,000.
        height: likewise.
        base64: its bytes, as every wire takes them.
    """

    digest: str
    kind: str = field(default="", compare=False)
    width: int = field(default=0, compare=False)
    height: int = field(default=0, compare=False)
    base64: str = field(default="", compare=False, repr=False)

    @property
    def address(self) -> str:
        """The picture itself as a ``data:`` address."""
        return f"data:{self.kind};base64,{self.base64}"


class Message(Struct):
    """One turn of the conversation sent to a model: a text, and the pictures that are shown before it."""

    role: Role
    content: str
    pictures: tuple[Picture, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the turn as JSON-compatible data, its keys in order; pictures by their digests."""
        if not self.pictures:
            return {"content": self.content, "role": self.role}
        return {"content": self.content, "pictures": [one.digest for one in self.pictures], "role": self.role}


class CallLabel(Struct):
    """Where in a protocol's structure a call stands; never when it happened.

    Two calls of one run never share a label unless they may swap answers, so a recording can be replayed
    whatever order the answers arrive in.

    Args:
        protocol: ``"crucible"``, ``"fire_circle"``, ...
        phase: the step, as the protocol's specification names it: ``"triage"``, ``"position"``.
        seat: who speaks, unique within the run, e.g. ``"1:pragmatist"``; empty where no seat speaks.
        round: 1-based round or loop; 0 where there are none.
        attempt: 1-based; a protocol that asks the same thing again counts up. Transport retries do not.
    """

    protocol: str
    phase: str
    seat: str = ""
    round: int = 0
    attempt: int = 1

    @property
    def words(self) -> str:
        """The same for people: ``"critique by red_team, round 2"``."""
        seat = self.seat.partition(":")[2] or self.seat
        if "://" in seat:  # a model at an address: its name is the end of it
            seat = seat.partition("#")[2] or seat
        seat = named_words(seat)
        return self.phase + (f" by {seat}" if seat else "") + (f", round {self.round}" if self.round else "")

    def __str__(self) -> str:
        return f"{self.protocol}/{self.phase}/{self.seat}/{self.round}/{self.attempt}"


#: What of a request is the question, in order; the rest is told to whoever asks it.
_ASKED = ["effort", "fallbacks", "grammar", "label", "max_tokens", "messages", "model", "schema", "seed", "temperature"]


class Request(Struct):
    """One question to one model.

    Args:
        model: a model id (``"anthropic/claude-sonnet-4-20250514"``) or a full specification (``"ollama:qwen3"``).
        messages: the conversation, oldest first; at least one.
        label: where the call stands in its protocol.
        fallbacks: further model ids, tried in order when ``model`` cannot answer.
        temperature: 0.0 to 2.0; ``None`` leaves it to the provider.
        max_tokens: upper bound of the answer in tokens; ``None`` leaves it to the provider.
        seed: sampling seed, where the provider takes one.
        schema: a JSON schema as text that the answer must fit; providers that can enforce it do, in its order.
        session_id: an id that groups the calls of one run at the provider.
        effort: how long a reasoning model may think, where it can be told; ``None`` leaves it to the provider.
        grammar: a stricter JSON schema for engines that decode by grammar (llama.cpp, vLLM, Ollama, LM Studio): all
            that it allows fits ``schema``; other providers are sent ``schema``.
        repeated: the model's last answer to this was one passage without end; servers that people run themselves
            are told to avoid that. It is a matter of asking again, no part of the question.
    """

    model: str
    messages: tuple[Message, ...]
    label: CallLabel
    fallbacks: tuple[str, ...] = ()
    temperature: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    schema: str | None = None
    session_id: str | None = None
    effort: Effort | None = None
    grammar: str | None = None
    repeated: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the request as JSON-compatible data, its keys in order, with what is unset left out.

        ``session_id`` is no part of it: it names a run, and a replay is another run of the same requests. Nor is
        ``repeated``: only an attempt at the same request differs by it.
        """
        label = {name: getattr(self.label, name) for name in ("attempt", "phase", "protocol", "round", "seat")}
        messages = [m.to_dict() for m in self.messages]
        made: dict[str, object] = {"fallbacks": list(self.fallbacks) or None, "label": label, "messages": messages}
        kept = {name: made[name] if name in made else getattr(self, name) for name in _ASKED}
        return {name: value for name, value in kept.items() if value is not None}

    @property
    def pictures(self) -> tuple[Picture, ...]:
        """All that it shows, in order."""
        return tuple([one for m in self.messages for one in m.pictures])

    @classmethod
    def from_dict(cls, data: dict[str, Any], pictures: Iterable[Picture] = ()) -> Request:
        """Return the inverse of :meth:`to_dict`; ``pictures`` are those whose bytes are at hand."""
        fields: dict[str, Any] = dict(data)
        known = {one.digest: one for one in pictures}
        fields["messages"] = tuple(
            Message(m["role"], m["content"], tuple(known.get(one) or Picture(one) for one in m.get("pictures", ())))
            for m in data["messages"]
        )
        fields["label"] = CallLabel(**data["label"])
        fields["fallbacks"] = tuple(data.get("fallbacks", ()))
        return cls(**fields)


def request_json(data: dict[str, Any]) -> bytes:
    """Return the canonical JSON (RFC 8785) of what :meth:`Request.to_dict` has made."""
    # Its keys stand in order already, and only these two may hold a number that is refused or written anew.
    return canonical_json(data) if "temperature" in data or "seed" in data else ordered_json(data)


def request_digest(data: dict[str, Any]) -> str:
    """Return the SHA-256 of a request's canonical JSON (RFC 8785), in hex: what a recording is looked up by."""
    return hashlib.sha256(canonical_json(data)).hexdigest()


class Usage(Struct):
    """Tokens of one call.

    Args:
        input_tokens: all that went in, those from and into a cache included.
        output_tokens: all that came out, reasoning included.
        estimated: the provider reported none, and characters/4 stand in.
        cached_tokens: of the input, those read from a cache.
        cache_write_tokens: of the input, those written into one.
        reasoning_tokens: of the output, those that were reasoning.
    """

    input_tokens: int
    output_tokens: int
    estimated: bool = False
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the tokens as JSON-compatible data, its keys in order; a detail that is 0 is left out."""
        always = ("estimated", "input_tokens", "output_tokens")
        return {name: value for name in sorted(self.__slots__) if (value := getattr(self, name)) or name in always}


class Delta(Struct):
    """A piece of an answer on its way; never stored, for whoever watches.

    Args:
        kind: ``"text"`` of the answer, ``"reasoning"`` before it, ``"progress"``: nothing to read yet.
        text: what came, redacted; empty for progress.
        tokens: of the output so far, estimated where the provider does not say; for progress, of the input read.
    """

    kind: Literal["text", "reasoning", "progress"]
    text: str = ""
    tokens: int = 0


class Reply(Struct):
    """One answer.

    Args:
        text: what the model said.
        model: the model that answered, as the provider names it; may differ from the one asked for.
        provider: the endpoint's name, e.g. ``"openrouter"``.
        usage: tokens in and out.
        finish_reason: ``"stop"``, or the provider's own word. A cut answer is an error, never a reply.
        cost: integer micro-dollars (1 USD = 1,000,000); ``None`` where no price is known.
        cost_source: who said so: the provider, the price table, nobody; or nothing to pay, or nothing beside a
            subscription.
        request_id: the provider's id of the call, for its support desk.
        attempts: transport attempts that it took, 1 or more.
        latency_ms: wall time from the first attempt to the answer.
        repairs: what had to be done to read the text, in words, e.g. ``"the answer stood in the reasoning"``.
    """

    text: str
    model: str
    provider: str
    usage: Usage
    finish_reason: str = "stop"
    cost: int | None = None
    cost_source: CostSource = "unknown"
    request_id: str | None = None
    attempts: int = 1
    latency_ms: int = 0
    repairs: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the reply as JSON-compatible data, its keys in order."""
        made: dict[str, object] = {"repairs": list(self.repairs), "usage": self.usage.to_dict()}
        names = (name for name in sorted(self.__slots__) if name != "repairs" or self.repairs)
        return {name: made[name] if name in made else getattr(self, name) for name in names}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Reply:
        """Return the inverse of :meth:`to_dict`."""
        fields: dict[str, Any] = dict(data)
        fields["usage"] = Usage(**data["usage"])
        fields["repairs"] = tuple(data.get("repairs", ()))
        return cls(**fields)


T = TypeVar("T", Message, Request, Reply)


def changed(record: T, **fields: Any) -> T:
    """Return a copy with other fields: what ``dataclasses.replace`` does, which takes three times as long."""
    make: Any = type(record)
    return make(*[fields[name] if name in fields else getattr(record, name) for name in make.__slots__])


Generate: TypeAlias = Callable[[Request], Awaitable[Reply]]
"""A model. Providers make one; wrappers take one and return one; protocols receive one."""

OnDelta: TypeAlias = Callable[[Request, Delta], None]
"""Told of each piece of an answer as it comes, in order; it must not block."""


def unwatched(_request: Request, _delta: Delta) -> None:
    """Watch nothing."""
