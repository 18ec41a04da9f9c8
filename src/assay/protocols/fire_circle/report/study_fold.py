"""A study as the live display sees it: which pass, which item, how long still. Its story is that of its figures."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from assay.protocols.fire_circle.report.study_story import study_story
from assay.report.clean import one_line
from assay.report.generic import GenericFold
from assay.report.progress import Progress
from assay.report.story import Story
from assay.report.units import count_noun
from fire_circle.studies import events
from fire_circle.studies.figures import Figures
from llm_runtime.events import Event

_EVERY = 20
"""A line for each twentieth part of a pass, where there is no picture."""


class StudyFold(GenericFold):
    """The :class:`assay.report.run.RunFold` of studies.

    Args:
        keep: how many settled calls to remember one by one.
    """

    protocol = "Study"

    def _start(self) -> None:
        self._passes: dict[str, tuple[int, int]] = {}
        self.name = ""
        self._items: list[tuple[str, events.ItemFinished]] = []

    def _take(self, event: Event, at: int) -> None:
        match event:
            case events.PassesPlanned():
                self._passes = {name: (items, done) for name, items, done in event.passes}
            case events.PassStarted():
                self.name = event.name
            case events.ItemFinished():
                self._items.append((self.name, event))
                items, done = self.under_way
                self._passes[self.name] = items, done + 1
                if event.fault:
                    self.run.troubles.append(f"{event.name}: {event.fault}")
            case _:
                pass

    @property
    def under_way(self) -> tuple[int, int]:
        """Items of the pass under way, and those of them that are finished."""
        return self._passes.get(self.name, (0, 0))

    @property
    def calls(self) -> int:
        """Calls so far."""
        return self.run.tally.total.both.calls

    def progress(self) -> Progress:
        """Return the study as it stands."""
        items, done = self.under_way
        left = sum(max(total - finished, 0) for total, finished in self._passes.values())
        return replace(
            super().progress(),
            phase=self.name,
            round=min(done + 1, items),
            rounds=items,
            round_noun="item",
            calls_expected=self.calls + round(left * self.calls / len(self._items)) if self._items else None,
        )

    def story(self) -> Story:
        """Return the report on what was found; of a run without that how far it came."""
        with suppress(ValidationError):  # an imported log may hold anything there
            if self.run.state == "finished":
                return self.found(self.run.result)
        return super().story()

    def found(self, result: Mapping[str, Any]) -> Story:
        """Return the report on a result."""
        return study_story(Figures.model_validate(result), self._items, self.run_id)


def _begins(fold: StudyFold, event: events.PassStarted) -> str:
    items, done = fold.under_way
    return f"{event.name}: {count_noun(items, 'item')}" + (f", {done} finished before" if done else "")


def _finished(fold: StudyFold, event: events.ItemFinished) -> str | None:
    items, done = fold.under_way
    if event.fault:
        return f"{fold.name}: {one_line(event.name, 40)} has no verdict: {one_line(event.fault, 160)}"
    told = done == items or done % max(items // _EVERY, 1) == 0
    return f"{fold.name}: {done} of {items} · {count_noun(fold.calls, 'call')}" if told else None


StudyFold.lines = {events.PowerTold: "{summary}", events.PassStarted: _begins, events.ItemFinished: _finished}
