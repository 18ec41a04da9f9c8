"""A recorded run as something to answer from: what was asked, how often, and what came back."""

from __future__ import annotations

import builtins
import dataclasses
import json
from collections.abc import Collection, Iterable
from contextlib import suppress
from typing import Any

from llm_runtime import errors
from llm_runtime.errors import CallError, LlmRuntimeError, ReplayMismatch
from llm_runtime.events import CallFailed, CallFinished, CallStarted, Event
from llm_runtime.events.calls import CALL_FIELDS
from llm_runtime.grouping import grouped
from llm_runtime.messages import CallLabel, Reply, Request, request_digest

_SPAN = 32
#: How a request is to be answered and by whom else, and not what it asks. A recording may be older than these.
_MANNER = ("effort", "fallbacks", "grammar", "schema")


class Recording:
    """The answers of a recorded run, by request digest and occurrence (1-based, among equal requests).

    A later answer to the same key replaces an earlier one: a call that failed, and was made again when the run was
    resumed, has the answer of the second try.
    """

    def __init__(self) -> None:
        self._outcomes: dict[tuple[str, int], Reply | CallFailed] = {}
        self._requests: dict[str, dict[str, Any]] = {}
        self._by_question: dict[str, list[dict[str, Any]]] | None = None

    @classmethod
    def from_events(cls, events: Iterable[Event], until: int | None = None) -> Recording:
        """Read a run's log.

        Args:
            events: the log from its first event on.
            until: take only the first so many events: what a fork at that event shares with its parent.
        """
        recording = cls()
        for seq, event in enumerate(events, start=1):
            if until is not None and seq > until:
                break
            if isinstance(event, CallStarted):
                recording._requests[event.digest] = event.request
                recording._by_question = None
            elif isinstance(event, CallFinished):
                recording._outcomes[event.digest, event.occurrence] = Reply.from_dict(event.reply)
            elif isinstance(event, CallFailed) and event.error != "CancelledError":
                recording._outcomes[event.digest, event.occurrence] = event
        return recording

    def __len__(self) -> int:
        """Return the number of calls that have an outcome."""
        return len(self._outcomes)

    @property
    def digests(self) -> Collection[str]:
        """The digest of each request that was recorded, answered or not."""
        return self._requests.keys()

    def has_label(self, label: CallLabel) -> bool:
        """Tell whether a call of this label was recorded."""
        return bool(self._labelled(label))

    def asked_as(self, request: Request, turn: int) -> Request:
        """Return what was recorded under the label of a request.

        Args:
            turn: how often something was asked under this label by now, 1 and up.
        """
        recorded = self._labelled(request.label)
        if not recorded:
            return request
        asked = Request.from_dict(recorded[min(turn, len(recorded)) - 1], request.pictures)
        return dataclasses.replace(asked, session_id=request.session_id)

    def _labelled(self, label: CallLabel) -> list[dict[str, Any]]:
        return [data for data in self._requests.values() if CallLabel(**data["label"]) == label]

    def reply(self, digest: str, occurrence: int) -> Reply | None:
        """Return the recorded answer, or ``None`` where there is none, or the call failed."""
        outcome = self._outcomes.get((digest, occurrence))
        return outcome if isinstance(outcome, Reply) else None

    def error(self, digest: str, occurrence: int, label: CallLabel) -> Exception | None:
        """Return the recorded failure, as a new exception of its class; ``None`` where the call did not fail."""
        outcome = self._outcomes.get((digest, occurrence))
        return _rebuilt(outcome, label) if isinstance(outcome, CallFailed) else None

    def has(self, digest: str, occurrence: int) -> bool:
        """Tell whether the call has an outcome: an answer or a failure."""
        return (digest, occurrence) in self._outcomes

    def has_reply(self, digest: str, occurrence: int) -> bool:
        """Tell whether the call was answered."""
        return isinstance(self._outcomes.get((digest, occurrence)), Reply)

    def as_recorded(self, request: Request) -> Request:
        """Return the request in the form in which the recording asked it, where that is an older one.

        That is without the schema, grammar, effort or fallbacks that it did not have yet. What it asked with counts
        as ever: another schema is another request. So the log of an older version still answers, and its replay
        asks the same to the byte.
        """
        if not self._requests:
            return request
        data = request.to_dict()
        if all(data.get(name) is None for name in _MANNER) or request_digest(data) in self._requests:
            return request
        if self._by_question is None:
            self._by_question = self._questions()
        for recorded in self._by_question.get(_question(data), ()):
            if all(_alike(name, recorded[name], data.get(name)) for name in _MANNER if name in recorded):
                older = Request.from_dict(recorded, request.pictures)
                return dataclasses.replace(older, session_id=request.session_id)
        return request

    def _questions(self) -> dict[str, list[dict[str, Any]]]:
        return grouped((_question(recorded), recorded) for recorded in self._requests.values())

    def mismatch(self, request: Request, digest: str, occurrence: int) -> ReplayMismatch:
        """Say in one line why there is no answer to ``request``."""
        recorded = self._labelled(request.label)
        where = f"replay of {request.label}"
        if digest in self._requests:
            if occurrence == 1:
                return ReplayMismatch(f"{where}: the recording breaks off before the answer; resume it live")
            return ReplayMismatch(f"{where}: asked {occurrence} times, recorded fewer; resume it live")
        if not recorded:
            return ReplayMismatch(
                f"{where}: the recording has no such call; it is of another question or other settings, run it live"
            )
        return ReplayMismatch(f"{where}: {_difference(recorded[-1], request.to_dict())}")


def _alike(name: str, recorded: Any, asked: Any) -> bool:
    """Compare schemas as data: in older logs their names are sorted."""
    if name not in ("grammar", "schema") or recorded is None or asked is None:
        return bool(recorded == asked)
    return bool(recorded == asked or json.loads(recorded) == json.loads(asked))


def _question(data: dict[str, Any]) -> str:
    return request_digest({name: value for name, value in data.items() if name not in _MANNER})


def _rebuilt(failed: CallFailed, label: CallLabel) -> Exception:
    kind = getattr(errors, failed.error, None)
    # What the code of a model function did wrong is no failure of a call, and engines tell them apart.
    plain = getattr(builtins, failed.error, None)
    if isinstance(plain, type) and issubclass(plain, Exception) and plain is not Exception:
        with suppress(TypeError):  # some are made of more than words
            return plain(failed.message)
    if not (isinstance(kind, type) and issubclass(kind, LlmRuntimeError)):
        return CallError(f"{failed.error}: {failed.message}", label=label)
    if not issubclass(kind, CallError):
        error = kind(failed.message)
        error.cost = failed.cost
        return error
    error = kind(failed.message, label=label, **{name: getattr(failed, name) for name in CALL_FIELDS})
    error.cost = failed.cost
    if failed.partial is not None:
        error.partial = Reply.from_dict(failed.partial)
    return error


def _difference(recorded: dict[str, Any], asked: dict[str, Any]) -> str:
    """Return what first differs between two requests of one label."""
    for name in ("model", "fallbacks", "temperature", "max_tokens", "seed", "schema", "effort", "grammar"):
        if not _alike(name, recorded.get(name), asked.get(name)):
            return f"{name} was {_short(recorded.get(name))} in the recording and is {_short(asked.get(name))} now"
    then, now = recorded["messages"], asked["messages"]
    for index, (old, new) in enumerate(zip(then, now, strict=False), start=1):
        if old["role"] != new["role"]:
            return f"message {index} was from {old['role']} in the recording and is from {new['role']} now"
        if old.get("pictures") != new.get("pictures"):
            return f"message {index} ({new['role']}) shows other pictures than the recording"
        if old["content"] != new["content"]:
            at, old_span, new_span = _first_difference(old["content"], new["content"])
            return (
                f"message {index} ({new['role']}) differs at character {at}: "
                f"{old_span} in the recording, {new_span} now"
            )
    return f"the recording has {len(then)} messages here, now there are {len(now)}"


def _first_difference(old: str, new: str) -> tuple[int, str, str]:
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    start = max(0, at - _SPAN // 4)
    return at, _short(old[start : at + _SPAN]), _short(new[start : at + _SPAN])


def _short(value: object) -> str:
    # ascii() also keeps line breaks and terminal escapes out of a one-line message.
    text = ascii(value)
    return text if len(text) <= 2 * _SPAN else f"{text[: 2 * _SPAN]}..."
