"""Events of model calls, emitted at the one place every call passes."""

from __future__ import annotations

from typing import Any

from llm_runtime.events.event import Event


class CallStarted(Event, type="call.started"):
    """A request is on its way.

    ``digest`` and ``occurrence`` (1-based, among equal requests of the run) are the key a replay looks up;
    ``replayed`` says that a recording, not a model, will answer.
    """

    digest: str
    occurrence: int
    request: dict[str, Any]
    replayed: bool = False


class CallFinished(Event, type="call.finished"):
    """The answer to the call of the same key."""

    digest: str
    occurrence: int
    reply: dict[str, Any]
    replayed: bool = False


class CallFailed(Event, type="call.failed"):
    """The call of the same key failed for good, after whatever retries and fallbacks it had."""

    digest: str
    occurrence: int
    error: str
    message: str
    status: int | None = None
    request_id: str | None = None
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
