"""The answers of one run that are on their way: their words so far and their pace, for whoever watches."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, TypeAlias

from llm_runtime.clock import now_ms
from llm_runtime.events import CallFailed, CallFinished, CallRetried, CallsQueued, CallStarted, Event, RunResumed
from llm_runtime.messages import CallLabel, Delta, Request
from llm_runtime.structs import Struct

Stage: TypeAlias = Literal["sent", "queued", "reading", "reasoning", "writing"]
_STAGES: dict[str, Stage] = {"progress": "reading", "reasoning": "reasoning", "text": "writing"}
FORMS = ("{", "[{", "```json")
_DRESS = re.compile(r'```(?:json)?|"\w{1,60}"\s*:|\\[nrt]|[{}\[\]"]|(?<=[}\]"])\s*,')
TAIL = 2_000
"""Characters of an answer that are kept: what a screen shows."""


def undressed(form: str) -> str:
    """Return what is filled into a form, without names and signs."""
    return _DRESS.sub(" ", form).strip()


class CallWords(Struct):
    """One call in flight.

    Args:
        label: where it stands in its protocol.
        stage: what it does: it was sent, waits for a place, reads its prompt, reasons, or writes.
        began: milliseconds since the epoch.
        first: when the first words came; ``None`` before.
        latest: when the latest came.
        tokens: of the answer so far.
        tail: the end of the words so far, at most :data:`TAIL` characters.
        form: whether they fill in a form, as JSON.
    """

    label: CallLabel
    stage: Stage
    began: int
    first: int | None = None
    latest: int = 0
    tokens: int = 0
    tail: str = ""
    form: bool = False

    @property
    def said(self) -> str:
        """The end of the words so far as a person reads them: of a form what is filled in, without names and signs."""
        return undressed(self.tail) if self.form else self.tail

    @property
    def pace(self) -> float | None:
        """Tokens a second since the first words; ``None`` where too few came to tell."""
        if self.first is None or self.latest - self.first < 500:
            return None
        return self.tokens * 1000 / (self.latest - self.first)


class Words:
    """Follows the calls of one run: an ``Emit`` for its events, with :meth:`hear` for the words between them.

    Words are never stored; each new one replaces the picture before it, so a reader who lags misses pictures and
    no memory grows.
    """

    def __init__(self, now: Callable[[], int] = now_ms) -> None:
        self.version = 0
        """Counts up whenever something has changed."""
        self.on_first: Callable[[CallWords], None] | None = None
        """Called with each call when its first words have come."""
        self._now = now
        self._calls: dict[str, CallWords] = {}
        self._labels: dict[tuple[str, int], str] = {}
        self._waiting: dict[str, int] = {}

    def calls(self) -> tuple[CallWords, ...]:
        """Return the calls in flight, oldest first."""
        calls = tuple(self._calls.copy().values())
        if any(self._waiting.copy().values()):
            return calls
        # Nobody waits for a place: what is not known to be sent yet is on its way, or lies before a person.
        return tuple(replace(call, stage="sent") if call.stage == "queued" else call for call in calls)

    def __call__(self, event: Event) -> None:
        """Take in the run's next event."""
        match event:
            case CallStarted(replayed=False):
                label = CallLabel(**event.request["label"])
                self._labels[event.digest, event.occurrence] = str(label)
                self._calls[str(label)] = CallWords(label, "queued", self._now())
            case CallFinished() | CallFailed():
                if (key := self._labels.pop((event.digest, event.occurrence), None)) is not None:
                    self._calls.pop(key, None)
            case CallsQueued():
                self._waiting[event.provider] = event.waiting
            case RunResumed():
                # What was in flight when the run ended is asked again, or never.
                self._calls.clear()
                self._labels.clear()
                self._waiting.clear()
            case CallRetried() if event.label in self._calls:
                # What an attempt brought before it failed is no part of the next one's answer.
                old = self._calls[event.label]
                self._calls[event.label] = CallWords(old.label, "queued", old.began)
            case _:
                return
        self.version += 1

    def hear(self, request: Request, delta: Delta) -> None:
        """Take in a piece of the answer to ``request``."""
        key = str(request.label)
        call = self._calls.get(key)
        if call is None:
            return
        stage, now = _STAGES[delta.kind], self._now()
        if delta.kind == "progress" and not delta.tokens:
            # Another attempt begins: what came of the one before is void.
            self._calls[key] = CallWords(call.label, "sent", call.began)
        elif not delta.text:
            self._calls[key] = replace(call, stage=stage, tokens=delta.tokens or call.tokens)
        else:
            # An answer begins anew behind its reasoning.
            before = call.tail if stage == call.stage else ""
            self._calls[key] = call = replace(
                call,
                stage=stage,
                first=now if call.first is None else call.first,
                latest=now,
                tokens=delta.tokens or call.tokens,
                tail=(before + delta.text)[-TAIL:],
                form=call.form or bool(request.schema) or (before + delta.text).lstrip().startswith(FORMS),
            )
            if call.first == now and self.on_first is not None and not before:
                self.on_first(call)
        self.version += 1
