"""How far a trial is: attempts done, time left, tokens and cost, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType

import click

from assay.protocols.ai_crucible.events import AttemptEnded, TrialBegan
from assay.report.clean import one_line
from assay.report.units import clock, money, short_count
from llm_runtime.events import Event, RunResumed


class TrialProgress:
    """Takes a trial's events; a line that renews itself on a terminal, a line for each attempt elsewhere.

    Args:
        model: who attempts, as Inspect names it.
        limit: US dollars that all attempts may cost together; ``None`` for no limit.
        quiet: shows nothing.
        resumed: the events of earlier sittings come first, and are passed over.
        now: seconds, monotonic.
    """

    def __init__(
        self,
        model: str,
        *,
        limit: float | None,
        quiet: bool,
        resumed: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._limit = limit
        self._quiet = quiet
        self._resumed = self._past = resumed
        self._now = now
        self._live = sys.stderr.isatty() and not quiet
        self._total = 0
        self._begin = 0.0
        self.done = 0
        self.passed = 0
        self.tokens = 0
        self.cost = 0

    def __enter__(self) -> TrialProgress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            click.echo(err=True)

    def __call__(self, event: Event) -> None:
        """Take in the next event."""
        if isinstance(event, RunResumed):
            self._past = False
        elif self._past:
            return
        elif isinstance(event, TrialBegan):
            self._start(event)
        elif isinstance(event, AttemptEnded):
            self._count(event)

    def _start(self, event: TrialBegan) -> None:
        self._total, self._begin = event.attempts - event.done, self._now()
        if self._quiet:
            return
        k, puzzles = event.attempts // max(event.puzzles, 1), event.puzzles
        going_on = self._resumed or event.done > 0
        what = f"going on with {event.done} of {event.attempts} done" if going_on else f"{event.attempts} attempts"
        click.echo(f"trial {event.trial}: {puzzles} puzzles, k = {k}, {self._model}; {what}", err=True)
        if self._live:
            self._renew(self.line())

    def _count(self, event: AttemptEnded) -> None:
        self.done += 1
        self.passed += event.passed
        self.tokens += event.tokens
        self.cost += event.cost
        if self._live:
            self._renew(self.line())
        elif not self._quiet:
            outcome = "passed" if event.passed else "failed"
            click.echo(f"{one_line(event.puzzle, 60)}: {outcome}   {self.line()}", err=True)

    def line(self) -> str:
        """Return where it stands, in one line."""
        parts = [f"{self.done} of {self._total} attempts", f"{self.passed} passed"]
        if 0 < self.done < self._total:
            left = (self._now() - self._begin) / self.done * (self._total - self.done)
            parts.append(f"{clock(round(left * 1000))} left")
        parts.append(f"{short_count(self.tokens)} tokens")
        if self.cost or self._limit is not None:
            limit = "" if self._limit is None else f" of {money(round(self._limit * 1_000_000))}"
            parts.append(f"{money(self.cost)}{limit}")
        return " · ".join(parts)

    def _renew(self, line: str) -> None:
        click.echo(f"\r\x1b[2K{line}", err=True, nl=False)
