"""How far a trial is: attempts done, time left, tokens and cost, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType

import click

from assay.report.clean import one_line
from assay.report.units import clock, money, short_count


class TrialProgress:
    """Told of each graded attempt; a line that renews itself on a terminal, a line for each attempt elsewhere.

    Args:
        total: attempts to be made now.
        limit: US dollars they may cost together; ``None`` for no limit.
        used: tokens and US dollars of the attempt that is being graded.
        quiet: shows nothing.
        now: seconds, monotonic.
    """

    def __init__(
        self,
        total: int,
        *,
        limit: float | None,
        used: Callable[[], tuple[int, float]],
        quiet: bool,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._total = total
        self._limit = limit
        self._used = used
        self._quiet = quiet
        self._now = now
        self._live = sys.stderr.isatty() and not quiet
        self._began = now()
        self.done = 0
        self.passed = 0
        self.tokens = 0
        self.cost = 0.0

    def __enter__(self) -> TrialProgress:
        self._began = self._now()
        if self._live:
            self._renew(self.line())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            click.echo(err=True)

    def __call__(self, puzzle: str, passed: bool) -> None:
        """One more attempt is graded."""
        tokens, cost = self._used()
        self.done += 1
        self.passed += passed
        self.tokens += tokens
        self.cost += cost
        if self._live:
            self._renew(self.line())
        elif not self._quiet:
            click.echo(f"{one_line(puzzle, 60)}: {'passed' if passed else 'failed'}   {self.line()}", err=True)

    def line(self) -> str:
        """Where it stands, in one line."""
        parts = [f"{self.done} of {self._total} attempts", f"{self.passed} passed"]
        if 0 < self.done < self._total:
            left = (self._now() - self._began) / self.done * (self._total - self.done)
            parts.append(f"{clock(round(left * 1000))} left")
        parts.append(f"{short_count(self.tokens)} tokens")
        if self.cost or self._limit is not None:
            limit = "" if self._limit is None else f" of {money(round(self._limit * 1_000_000))}"
            parts.append(f"{money(round(self.cost * 1_000_000))}{limit}")
        return " · ".join(parts)

    def _renew(self, line: str) -> None:
        click.echo(f"\r\x1b[2K{line}", err=True, nl=False)
