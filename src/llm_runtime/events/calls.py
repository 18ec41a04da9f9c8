"""Events of model calls, emitted at the one place every call passes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from llm_runtime.answerer import Answerer
from llm_runtime.canonical import ordered_json
from llm_runtime.events.event import Event
from llm_runtime.messages import Reply, Request, request_json

Standing: TypeAlias = Mapping[str, tuple[int, int, int]]
"""Where a capped run's account stands: micro-dollars, tokens and calls that are ``"spent"``, ``"held"`` for calls
under way, and, where there are any, ``"unknown"``."""


class CallStarted(Event, type="call.started"):
    """A request is on its way.

    ``digest`` and ``occurrence`` (1-based, among equal requests of the run) are the key a replay looks up;
    ``replayed`` says that a recording, not a model, will answer; ``session_id`` is what the provider is told.
    ``by`` is who will answer, as the call is routed; older logs do not have it. The reply has the last word.
    ``account`` has the hold of a capped run for the first attempt; older logs say that in an event of its own.
    """

    __slots__ = ("_request_json",)

    digest: str
    occurrence: int
    request: dict[str, Any]
    replayed: bool = False
    session_id: str | None = None
    by: Answerer | None = None
    account: Standing | None = None
    newer = ("by", "account")

    @classmethod
    def of(
        cls, request: Request, occurrences: dict[str, int], answered: Callable[[str, int], bool],
        by: Answerer | None = None,
    ) -> CallStarted:  # fmt: skip
        """Return the event for ``request``; its canonical JSON, the digest's input, is made once, for the log too.

        Args:
            request: what is asked.
            occurrences: how often each digest was asked before; counted up.
            answered: whether a recording answers the call of this digest and occurrence.
            by: who answers, where no recording does.
        """
        data = request.to_dict()
        text = request_json(data)
        digest = hashlib.sha256(text).hexdigest()
        occurrence = occurrences[digest] = occurrences.get(digest, 0) + 1
        replayed = answered(digest, occurrence)
        event = cls(
            digest=digest,
            occurrence=occurrence,
            request=data,
            replayed=replayed,
            session_id=request.session_id,
            by=None if replayed else by,
        )
        object.__setattr__(event, "_request_json", text)
        return event

    def held(self, account: Standing | None) -> CallStarted:
        """Return the event with where the account stands once what the call may take is held."""
        if account is not None:
            # Nobody has seen it yet.
            object.__setattr__(self, "account", account)
        return self

    def canonical(self) -> bytes:
        text: bytes | None = getattr(self, "_request_json", None)
        if text is None:
            return super().canonical()
        return (
            b'{%b%b"digest":"%b","occurrence":%d,"replayed":%b,"request":%b,"session_id":%b,"type":"call.started"}'
        ) % (
            b'"account":%b,' % ordered_json(dict(sorted(self.account.items()))) if self.account else b"",
            b'"by":%b,' % ordered_json(_sorted(self.by)) if self.by else b"",
            self.digest.encode(),
            self.occurrence,
            b"true" if self.replayed else b"false",
            text,
            ordered_json(self.session_id),
        )


def _sorted(by: Answerer) -> dict[str, str]:
    return {"endpoint": by.endpoint, "kind": by.kind, "name": by.name}


class CallFinished(Event, type="call.finished"):
    """The answer to the call of the same key, and where the account of a capped run stands after it."""

    __slots__ = ("_ordered",)

    digest: str
    occurrence: int
    reply: dict[str, Any]
    replayed: bool = False
    account: Standing | None = None
    newer = ("account",)

    @classmethod
    def of(cls, started: CallStarted, reply: Reply, account: Standing | None = None) -> CallFinished:
        """Return the event for the answer to the call that ``started`` announced."""
        event = cls(
            digest=started.digest,
            occurrence=started.occurrence,
            reply=reply.to_dict(),
            replayed=started.replayed,
            account=account,
        )
        object.__setattr__(event, "_ordered", True)
        return event

    def payload(self) -> dict[str, Any]:
        # The reply is JSON already: on the hot path it is not walked through once more.
        return {
            **({"account": dict(sorted(self.account.items()))} if self.account else {}),
            "digest": self.digest,
            "occurrence": self.occurrence,
            "replayed": self.replayed,
            "reply": self.reply,
            "type": self.type,
        }

    def canonical(self) -> bytes:
        return ordered_json(self.payload()) if getattr(self, "_ordered", False) else super().canonical()


#: What the event of a failure has as its error names it.
CALL_FIELDS = ("provider", "model", "status", "request_id")


class CallFailed(Event, type="call.failed"):
    """The call of the same key failed for good, after whatever retries and fallbacks it had.

    ``partial`` is the reply that a cut answer came to, where one came: it may have been paid for. ``cost`` is what
    its attempts are known to have taken, in micro-dollars, where somebody kept account.
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
    cost: int | None = None
    account: Standing | None = None
    newer = ("cost", "account")


class CallRetried(Event, type="call.retried"):
    """An attempt failed and another follows after ``wait_ms``."""

    label: str
    attempt: int
    error: str
    message: str
    wait_ms: int


class EndpointPaused(Event, type="endpoint.paused"):
    """A provider's server failed again and again: nothing is sent to it for ``seconds``, then one call tries."""

    provider: str
    seconds: int
    message: str


class CallsQueued(Event, type="calls.queued"):
    """How many calls wait for a place at a model server that takes only so many at once; 0: none any more."""

    provider: str
    waiting: int


class BudgetMoved(Event, type="budget.moved"):
    """What a capped run has spent and holds, after a reservation or settlement that no event of a call tells; costs
    in micro-dollars.

    What is unknown was held for attempts whose end is unknown: it counts against the caps, not as spent.
    A run without caps says only when there is more of that. Whoever resumes the run starts from the last one: a
    hold that nobody settled is unknown.
    """

    spent_cost: int
    spent_tokens: int
    spent_calls: int
    held_cost: int
    held_tokens: int
    held_calls: int
    unknown_cost: int = 0
    unknown_tokens: int = 0
    unknown_calls: int = 0

    def payload(self) -> dict[str, Any]:
        data = super().payload()
        if not (self.unknown_cost or self.unknown_tokens or self.unknown_calls):
            for name in ("unknown_cost", "unknown_tokens", "unknown_calls"):
                del data[name]
        return data


class ModelSubstituted(Event, type="call.substituted"):
    """Another model answers than the one asked for."""

    label: str
    asked: str
    used: str
    reason: str
