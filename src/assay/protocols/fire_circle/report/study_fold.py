"""A study as the live display sees it: which pass, which item, how long still, and what it cost so far."""

from __future__ import annotations

from assay.protocols.fire_circle.study import events
from assay.report.clean import one_line
from assay.report.progress import Progress
from assay.report.story import Story
from assay.report.units import several
from llm_runtime.events import CallRetried, Event, ModelSubstituted

_EVERY = 20
"""A line for each twentieth part of a pass, where there is no picture."""


class StudyFold:
    """A :class:`assay.report.run.RunFold` over :mod:`assay.protocols.fire_circle.study.events`.

    Args:
        cost: micro-dollars that the study took before it was interrupted.
        unpriced: whether some of that has no known price.
    """

    def __init__(self, cost: int = 0) -> None:
        self._title = ""
        self._passes: dict[str, tuple[int, int]] = {}
        self._name = ""
        self._finished = 0
        self._this_time = 0
        self._calls = self._tokens = self._unpriced = 0
        self._cost = cost
        self._began: int | None = None
        self._ended: int | None = None
        self._faults: list[str] = []

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        if self._began is None:
            self._began = at
        match event:
            case events.PassesPlanned():
                self._title = event.title
                self._passes = {name: (items, done) for name, items, done in event.passes}
            case events.PassStarted():
                self._name = event.name
                self._finished = self._passes[event.name][1]
            case events.CallAnswered():
                self._calls += 1
                self._tokens += event.tokens
                self._cost += event.cost or 0
                self._unpriced += event.cost is None
            case events.ItemFinished():
                self._finished += 1
                self._this_time += 1
                items, done = self._passes[self._name]
                self._passes[self._name] = items, done + 1
                if event.fault:
                    self._faults = [*self._faults, f"{event.name}: {event.fault}"][-3:]
            case events.StudyEnded():
                self._ended = at
            case CallRetried():
                self._faults = [*self._faults, f"retried: {event.error}"][-3:]
            case ModelSubstituted():
                self._faults = [*self._faults, f"{event.used} answers instead of {event.asked}"][-3:]
            case _:
                pass

    def announce(self, event: Event) -> str | None:
        """The finished step in one line."""
        match event:
            case events.PassStarted():
                items, done = self._passes[event.name]
                resumed = f", {done} finished before" if done else ""
                return f"{event.name}: {several(items, 'item')}{resumed}"
            case events.ItemFinished():
                if event.fault:
                    return f"{self._name}: {one_line(event.name, 40)} has no verdict: {one_line(event.fault, 160)}"
                items, _ = self._passes[self._name]
                if self._finished == items or self._finished % max(items // _EVERY, 1) == 0:
                    return f"{self._name}: {self._finished} of {items} · {several(self._calls, 'call')}"
                return None
            case _:
                return None

    def progress(self) -> Progress:
        """The study as it stands."""
        items, _ = self._passes.get(self._name, (0, 0))
        left = sum(max(total - done, 0) for total, done in self._passes.values())
        expected = None
        if self._this_time:
            expected = self._calls + round(left * self._calls / self._this_time)
        return Progress(
            protocol="Study",
            title=self._title,
            phase=self._name,
            round=min(self._finished + 1, items) if items else 0,
            rounds=items,
            round_noun="item",
            calls_done=self._calls,
            calls_expected=expected,
            started=self._began,
            ended=self._ended,
            tokens=self._tokens,
            cost=self._cost,
            unpriced=self._unpriced,
            notes=tuple(self._faults),
        )

    def story(self) -> Story:
        """A study under way has no report yet."""
        return Story(self._title, "under way")
