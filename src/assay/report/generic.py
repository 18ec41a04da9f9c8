"""The fold for runs of a protocol that has none of its own: calls, costs, and how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import ClassVar

from assay.report.frame import cost_section, ending_line, ending_notes, head_facts, run_progress
from assay.report.lines import Lines, line_of
from assay.report.progress import Progress
from assay.report.run import RunTotals
from assay.report.story import Block, Plain, Section, Story
from llm_runtime.events import Event, RunFinished


class GenericFold:
    """A :class:`assay.report.run.RunFold` that knows only what every run has.

    Args:
        keep: how many settled calls to remember one by one.
    """

    protocol = ""
    """Its name for people; that of the kind of run where left out."""
    lines: ClassVar[Lines] = {}
    """What is said of its events while it runs."""
    sections: ClassVar[tuple[Callable[[RunTotals], Section | None], ...]] = ()
    """What its result tells, before what every run has; nothing while there is none."""

    def __init__(self, keep: int | None = None) -> None:
        self.run = RunTotals(keep)
        self._start()

    def _start(self) -> None:
        """Make what it gathers beside the totals."""

    def _take(self, event: Event, at: int) -> None:
        """Take from an event what it gathers; the totals have it already."""

    @property
    def run_id(self) -> str:
        """Which run it is; empty before it has begun."""
        return self.run.started.run_id if self.run.started else ""

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        self.run.apply(event, at)
        self._take(event, at)

    def announce(self, event: Event) -> str | None:
        """Say how the run ended, and of other events what the table of lines has."""
        return ending_line(event) if isinstance(event, RunFinished) else line_of(self.lines, self, event)

    def progress(self) -> Progress:
        """Return calls and sums."""
        run = self.run
        phases = dict.fromkeys(call.label.phase.replace("_", " ") for call in run.tally.running.values())
        protocol = run.started.protocol.replace(".", ", ").replace("_", " ").title() if run.started else ""
        return replace(run_progress(run, self.protocol or protocol), phase=", ".join(phases))

    def story(self) -> Story:
        """Tell its result, how it ended, the troubles it had, and the sums."""
        run = self.run
        blocks: list[Block] = [*ending_notes(run)]
        blocks += [Plain(text) for text in run.troubles]
        own = [told(run) for told in self.sections] if run.result else []
        sections = (*own, Section("What happened", tuple(blocks)) if blocks else None, cost_section(run))
        told, protocol = tuple(filter(None, sections)), self.progress().protocol
        return Story(title=run.title or "A run", subtitle=protocol, facts=head_facts(run), sections=told)
