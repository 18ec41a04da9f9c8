"""What the calls of a run add up to: a fold over call events, the same for every protocol."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeAlias, cast

from llm_runtime.answerer import Answerer, asked_words
from llm_runtime.events import CallFailed, CallFinished, CallRetried, CallStarted, Event, ModelSubstituted
from llm_runtime.events.runs import RunFinished, RunResumed
from llm_runtime.messages import CallLabel
from llm_runtime.wrappers.accounts import account_in

CallState: TypeAlias = Literal["running", "done", "failed", "cut"]
CallKey: TypeAlias = tuple[str, int]


@dataclass(slots=True)
class Call:
    """One call as a report needs it: no texts.

    Args:
        label: where it stands in its protocol.
        model: the model that the call asks for; a wish.
        by: who answers, and once it has, who answered; ``None`` where the log does not say.
        answered: whether anything came back.
        started: milliseconds since the epoch.
        ended: the same; ``None`` while it runs and where the run broke off.
        state: ``"cut"`` where the run ended or broke off before an answer.
        replayed: a recording answered.
        cost: micro-dollars; ``None`` where nobody knows.
    """

    label: CallLabel
    model: str
    started: int
    replayed: bool
    ended: int | None = None
    state: CallState = "running"
    by: Answerer | None = None
    answered: bool = False
    input_tokens: int = 0
    output_tokens: int = 0
    estimated: bool = False
    cost: int | None = None
    retries: int = 0
    error: str = ""

    @property
    def who(self) -> str:
        """Who answers, in words; of a log that does not say whom it asked for."""
        return self.by.words if self.by else asked_words(self.model)

    @property
    def milliseconds(self) -> int:
        """How long it took; 0 where that is not known."""
        return 0 if self.ended is None else max(self.ended - self.started, 0)


@dataclass(slots=True)
class CallSums:
    """Sums over calls that were paid for; ``cost`` in micro-dollars, without the ``unpriced`` calls."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    milliseconds: int = 0
    cost: int = 0
    unpriced: int = 0
    estimated: int = 0

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.input_tokens + self.output_tokens

    def add(self, call: Call) -> None:
        """Count a call that was paid for; one that was cut short is no answer and adds no call."""
        self.calls += call.state == "done"
        self.input_tokens += call.input_tokens
        self.output_tokens += call.output_tokens
        self.milliseconds += call.milliseconds
        self.estimated += call.estimated
        if call.cost is None:
            self.unpriced += 1
        else:
            self.cost += call.cost

    def __add__(self, other: CallSums) -> CallSums:
        return CallSums(*map(operator.add, _values(self), _values(other)))


@dataclass(slots=True)
class Sums:
    """Sums over a group of calls. What a recording answered stands apart: nobody paid for it again.

    ``unknown`` is micro-dollars that attempts may have taken of which nobody knows the end; of all calls only.
    """

    live: CallSums = field(default_factory=CallSums)
    replayed: CallSums = field(default_factory=CallSums)
    running: int = 0
    failed: int = 0
    retries: int = 0
    substitutions: int = 0
    unknown: int = 0

    def __add__(self, other: Sums) -> Sums:
        return Sums(*map(operator.add, _values(self), _values(other)))

    @property
    def both(self) -> CallSums:
        """Live and replayed together."""
        return self.live + self.replayed

    @property
    def settled(self) -> int:
        """Calls that were answered or failed."""
        return self.both.calls + self.failed


def _values(sums: CallSums | Sums) -> list[Any]:
    return [getattr(sums, field.name) for field in fields(sums)]


class Tally:
    """The fold. Feed it every event of a run in order; it ignores what is not about calls.

    Args:
        keep: how many settled calls to remember one by one, oldest forgotten first; ``None`` keeps all. Sums
            are over all calls either way.
    """

    def __init__(self, keep: int | None = None) -> None:
        self.total = Sums()
        self.phases: dict[str, Sums] = {}
        self.seats: dict[tuple[str, str], Sums] = {}
        """By ``(seat, "")``, and by ``("", phase)`` for calls that no seat makes."""
        self.calls: dict[CallKey, Call] = {}
        self.running: dict[CallKey, Call] = {}
        self._keep = keep

    @property
    def begun(self) -> int:
        """Calls that are settled or under way."""
        return self.total.settled + len(self.running)

    def answered_by(self) -> list[str]:
        """Return all who answered, in words."""
        return sorted({call.who for call in self.calls.values() if call.answered and call.by})

    def apply(self, event: Event, at: int) -> None:
        """Count ``event``, which the log stamped ``at`` milliseconds since the epoch."""
        if (stands := account_in(event)) is not None:
            self.total.unknown = stands.unknown.cost
        match event:
            case CallStarted():
                self._start(event, at)
            case CallFinished():
                self._finish(event, at)
            case CallFailed():
                self._fail(event, at)
            case CallRetried():
                self._retry(event.label)
            case ModelSubstituted():
                for sums in self._groups_of(event.label):
                    sums.substitutions += 1
            case RunResumed() | RunFinished():
                self._cut()
            case _:
                pass

    def _start(self, event: CallStarted, at: int) -> None:
        key = event.digest, event.occurrence
        known = self.calls.get(key)
        if known is not None and (known.state == "done" or (known.state == "failed" and event.replayed)):
            return  # a resumed run passes again by what it has
        label = _label(event.request)
        if known is not None and known.state == "failed":
            for sums in self._groups(label):
                sums.failed -= 1
        call = Call(label, str(event.request.get("model", "")), at, event.replayed, by=event.by)
        self.calls[key] = self.running[key] = call
        for sums in self._groups(label):
            sums.running += 1

    def _finish(self, event: CallFinished, at: int) -> None:
        call = self._settle((event.digest, event.occurrence), at, "done")
        if call is None:
            return
        _read(event.reply, call)
        call.replayed = event.replayed
        for sums in self._groups(call.label):
            (sums.replayed if call.replayed else sums.live).add(call)

    def _fail(self, event: CallFailed, at: int) -> None:
        call = self._settle((event.digest, event.occurrence), at, "failed")
        if call is None:
            return
        call.error = event.error
        for sums in self._groups(call.label):
            sums.failed += 1
        if event.partial is not None or event.cost:  # no answer, and paid for all the same
            _read(event.partial or {"cost": 0}, call)
            call.cost = call.cost if event.cost is None else event.cost
            for sums in self._groups(call.label):
                (sums.replayed if call.replayed else sums.live).add(call)

    def _settle(self, key: CallKey, at: int, state: CallState) -> Call | None:
        call = self.running.pop(key, None)
        if call is None:
            return None
        call.ended, call.state = at, state
        for sums in self._groups(call.label):
            sums.running -= 1
        self._forget()
        return call

    def _cut(self) -> None:
        for call in self.running.values():
            call.state = "cut"
            for sums in self._groups(call.label):
                sums.running -= 1
        self.running.clear()

    def _retry(self, label: str) -> None:
        for call in self.running.values():
            if str(call.label) == label:
                call.retries += 1
        for sums in self._groups_of(label):
            sums.retries += 1

    def _forget(self) -> None:
        if self._keep is None:
            return
        if len(self.calls) - len(self.running) > self._keep:
            del self.calls[next(key for key, call in self.calls.items() if call.state != "running")]

    def _groups_of(self, label: str) -> tuple[Sums, ...]:
        for call in self.running.values():
            if str(call.label) == label:
                return self._groups(call.label)
        return (self.total,)

    def _groups(self, label: CallLabel) -> tuple[Sums, Sums, Sums]:
        who = (label.seat, "") if label.seat else ("", label.phase)
        return self.total, self.phases.setdefault(label.phase, Sums()), self.seats.setdefault(who, Sums())


def _label(request: dict[str, Any]) -> CallLabel:
    try:
        return CallLabel(**request["label"])
    except (KeyError, TypeError):
        return CallLabel("", "unlabelled")


def _read(reply: dict[str, Any], call: Call) -> None:
    usage = reply.get("usage")
    counts = cast(dict[str, Any], usage) if isinstance(usage, dict) else {}
    call.input_tokens = _amount(counts.get("input_tokens"))
    call.output_tokens = _amount(counts.get("output_tokens"))
    call.estimated = bool(counts.get("estimated"))
    call.by, call.answered = Answerer.of_reply(reply) or call.by, True
    cost = reply.get("cost")
    call.cost = None if cost is None else _amount(cost)


def _amount(value: Any) -> int:
    return value if isinstance(value, int) and value >= 0 else 0
