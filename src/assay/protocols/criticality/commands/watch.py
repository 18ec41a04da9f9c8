"""The live display of a build on the command line: the report's fold, with how many functions and how long."""

from __future__ import annotations

import dataclasses
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from assay.console.live import LiveDisplay
from assay.protocols.criticality.report import BuildFold
from assay.registry import LIVE_CALLS
from assay.report.progress import Progress
from criticality import events as e
from criticality.human import Approval, Human, Reply, Resolution
from criticality.project.files import JOURNAL
from criticality.project.journal import read_journal
from llm_runtime.events import Event, RunStarted

if TYPE_CHECKING:
    from criticality.machine.states import HumanQuery
    from criticality.spec.spec import Spec


class BuildWatch(BuildFold):
    """The report's fold, told of a project's past; it adds function i of n, and the time left.

    Args:
        root: the project's folder.
    """

    def __init__(self, root: Path) -> None:
        super().__init__(LIVE_CALLS)
        self._begun = self._now = self._done = 0
        events = read_journal(root / JOURNAL)
        began = events[0][0] if events else 0
        self.apply(
            RunStarted(run_id="", protocol="criticality", title=root.name, task={}, settings={}, seed=0), began
        )
        for at, event in events:
            self.apply(event, at)
        self._begun = 0

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        super().apply(event, at)
        self._now = at
        match event:
            case e.TestsGenerated() | e.VerdictHandled():
                self._begun = self._done = 0
            case e.FunctionSelected() if not self._begun:
                self._begun = at
            case e.VerificationPassed():
                self._done += 1
            case _:
                pass

    def announce(self, event: Event) -> str | None:
        """The finished step in one line."""
        line = super().announce(event)
        if line is None or not isinstance(event, e.VerificationPassed):
            return line
        return f"{line}; {self._count()}"

    def progress(self) -> Progress:
        """The build as it stands."""
        shown = super().progress()
        if not self.state.place.startswith("injection"):
            return shown
        return dataclasses.replace(shown, phase=f"{shown.phase}, {self._count()}")

    def _count(self) -> str:
        total = len(self.state.units)
        left = sum(unit.state != "accepted" for unit in self.state.units.values())
        if not (left and self._done and self._begun):
            return f"{total - left} of {total}"
        seconds = (self._now - self._begun) / self._done * left / 1000
        return f"{total - left} of {total}, about {duration(seconds)} left"


def duration(seconds: float) -> str:
    """``40 s``, ``3 min``: as exact as an estimate is."""
    return f"{max(1, round(seconds))} s" if seconds < 90 else f"{round(seconds / 60)} min"


class Undisturbed:
    """A person at the keyboard, to whom the display leaves the terminal meanwhile.

    Args:
        display: ``None`` where there is none.
    """

    def __init__(self, person: Human, display: LiveDisplay | None) -> None:
        self._person, self._display = person, display

    async def answer(self, question: str, text: str, options: tuple[str, ...]) -> Reply | None:
        with self._aside():
            return await self._person.answer(question, text, options)

    async def approve(self, proposal: Spec, version: int) -> Approval | None:
        with self._aside():
            return await self._person.approve(proposal, version)

    async def resolve(self, query: HumanQuery) -> Resolution | None:
        with self._aside():
            return await self._person.resolve(query)

    def _aside(self) -> AbstractContextManager[None]:
        return nullcontext() if self._display is None else self._display.paused()
