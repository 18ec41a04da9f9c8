"""The fold for runs of a protocol that has none of its own: calls, costs, and how it ended."""

from __future__ import annotations

from dataclasses import replace

from assay.report.frame import cost_section, ending_line, ending_notes, head_facts, run_progress
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

    def __init__(self, keep: int | None = None) -> None:
        self.run = RunTotals(keep)

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        self.run.apply(event, at)

    def announce(self, event: Event) -> str | None:
        """Say how the run ended; nothing else is known to be a step."""
        return ending_line(event) if isinstance(event, RunFinished) else None

    def progress(self) -> Progress:
        """Return calls and sums."""
        run = self.run
        phases = dict.fromkeys(call.label.phase.replace("_", " ") for call in run.tally.running.values())
        protocol = run.started.protocol.replace(".", ", ").replace("_", " ").title() if run.started else ""
        return replace(run_progress(run, self.protocol or protocol), phase=", ".join(phases))

    def story(self) -> Story:
        """Tell how it ended, the troubles it had, and the sums."""
        run = self.run
        blocks: list[Block] = [*ending_notes(run)]
        blocks += [Plain(text) for text in run.troubles]
        sections = (Section("What happened", tuple(blocks)) if blocks else None, cost_section(run))
        return Story(
            title=run.title or "A run",
            subtitle=self.progress().protocol,
            facts=head_facts(run),
            sections=tuple(section for section in sections if section),
        )
