"""The fold for runs of a protocol that has none of its own: calls, costs, and how it ended."""

from __future__ import annotations

from assay.report.clean import one_line
from assay.report.progress import Progress
from assay.report.run import RunTotals
from assay.report.story import Block, Fact, Note, Plain, Section, Story
from assay.report.sums import cost_facts, sums_tables
from assay.report.units import duration, short_count
from llm_runtime.events import Event, RunFinished


class GenericFold:
    """A :class:`assay.report.run.RunFold` that knows only what every run has.

    Args:
        keep: how many settled calls to remember one by one.
    """

    def __init__(self, keep: int | None = None) -> None:
        self.run = RunTotals(keep)

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event."""
        self.run.apply(event, at)

    def announce(self, event: Event) -> str | None:
        """Say how the run ended; nothing else is known to be a step."""
        if not isinstance(event, RunFinished):
            return None
        return f"run {event.state}" + (f": {one_line(event.message)}" if event.message else "")

    def progress(self) -> Progress:
        """Return calls and sums."""
        run, total = self.run, self.run.tally.total
        phases = dict.fromkeys(call.label.phase.replace("_", " ") for call in run.tally.running.values())
        return Progress(
            protocol=run.started.protocol.replace("_", " ").title() if run.started else "",
            title=run.started.title if run.started else "",
            phase=", ".join(phases),
            calls_done=total.both.calls + total.failed,
            started=run.began,
            ended=run.ended,
            tokens=total.both.tokens,
            cost=total.live.cost,
            replayed_cost=total.replayed.cost,
            unpriced=total.both.unpriced,
            replayed=total.replayed.calls,
            notes=tuple(run.troubles)[-3:],
            state=run.state,
            message=run.message,
        )

    def story(self) -> Story:
        """Tell how it ended, the troubles it had, and the sums."""
        run, total = self.run, self.run.tally.total
        blocks: list[Block] = [Plain(text) for text in run.troubles]
        if run.state != "finished":
            run_id = run.started.run_id if run.started else "ID"
            ending = f"The run is {run.state}{f': {run.message}' if run.message else ''}."
            blocks.insert(0, Note(f"{ending} To go on with it: assay runs resume {run_id}", "warning"))
        sections = [Section("What happened", tuple(blocks))] if blocks else []
        if run.tally.phases:
            sections.append(Section("Cost", sums_tables(run.tally, lambda seat, phase: seat or phase)))
        return Story(
            title=run.started.title if run.started else "A run",
            subtitle=f"{self.progress().protocol} · {run.state}",
            tone="good" if run.state == "finished" else "warning",
            facts=(
                Fact("Calls", str(total.both.calls + total.failed)),
                Fact("Tokens", short_count(total.both.tokens)),
                Fact("Time", duration(run.milliseconds)),
                *cost_facts(total),
            ),
            sections=tuple(sections),
        )
