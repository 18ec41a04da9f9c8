"""Events of model calls, emitted at the one place every call passes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from pydantic import PrivateAttr

from llm_runtime.canonical import canonical_json
from llm_runtime.events.event import Event
from llm_runtime.messages import Request


class CallStarted(Event, type="call.started"):
    """A request is on its way.

    ``digest`` and ``occurrence`` (1-based, among equal requests of the run) are the key a replay looks up;
    ``replayed`` says that a recording, not a model, will answer; ``session_id`` is what the provider is told.
    """

    digest: str
    occurrence: int
    request: dict[str, Any]
    replayed: bool = False
    session_id: str | None = None
    _request_json: bytes = PrivateAttr(b"")

    @classmethod
    def of(cls, request: Request, occurrences: dict[str, int], answered: Callable[[str, int], bool]) -> CallStarted:
        """The event for ``request``; its canonical JSON, the digest's input, is made once and kept for the log.

        Args:
            request: what is asked.
            occurrences: how often each digest was asked before; counted up.
            answered: whether a recording answers the call of this digest and occurrence.
        """
        data = request.to_dict()
        text = canonical_json(data)
        digest = hashlib.sha256(text).hexdigest()
        occurrence = occurrences[digest] = occurrences.get(digest, 0) + 1
        event = cls(
            digest=digest,
            occurrence=occurrence,
            request=data,
            replayed=answered(digest, occurrence),
            session_id=request.session_id,
        )
        event._request_json = text
        return event

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallStarted) and self.payload() == other.payload()

    def canonical(self) -> bytes:
        if not self._request_json:
            return super().canonical()
        rest = {"digest": self.digest, "occurrence": self.occurrence, "replayed": self.replayed}
        tail = {"session_id": self.session_id, "type": self.type}
        # Keys stand in order: digest, occurrence, replayed, request, session_id, type.
        return canonical_json(rest)[:-1] + b',"request":' + self._request_json + b"," + canonical_json(tail)[1:]


class CallFinished(Event, type="call.finished"):
    """The answer to the call of the same key."""

    digest: str
    occurrence: int
    reply: dict[str, Any]
    replayed: bool = False

    def payload(self) -> dict[str, Any]:
        # The reply is JSON already: on the hot path it is not walked through once more.
        return {
            "type": self.type,
            "digest": self.digest,
            "occurrence": self.occurrence,
            "reply": self.reply,
            "replayed": self.replayed,
        }


class CallFailed(Event, type="call.failed"):
    """The call of the same key failed for good, after whatever retries and fallbacks it had.

    ``partial`` is the reply that a cut answer came to, where one came: it has been paid for.
    """

    digest: str
    occurrence: int
    error: str
    message: str
    provider: str = ""
    model: str = ""
    status: int | None = None
    request_id: str | None = None
    partial: dict[str, Any] | None = None
    replayed: bool = False


class CallRetried(Event, type="call.retried"):
    """An attempt failed and another follows after ``wait_ms``."""

    label: str
    attempt: int
    error: str
    message: str
    wait_ms: int


class ModelSubstituted(Event, type="call.substituted"):
    """Another model answers than the one asked for."""

    label: str
    asked: str
    used: str
    reason: str
