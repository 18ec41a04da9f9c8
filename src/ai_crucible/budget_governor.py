"""Budgets of one attempt: shown to the solver, enforced here, with a hard kill on a loop that goes nowhere."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from ai_crucible.types import TOOL_CLASSES, Budget, TerminatedBy, ToolClass
from llm_runtime.canonical import canonical_json
from llm_runtime.tool_calls import ToolCall

_SAME_IN_A_ROW = 3


class Halt(Exception):
    """The attempt is over, and why. Raised in the solver's loop; inside a tool it would be swallowed."""

    def __init__(self, terminated_by: TerminatedBy, detail: str) -> None:
        super().__init__(detail)
        self.terminated_by: TerminatedBy = terminated_by
        self.detail = detail


class Governor:
    """Counts what an attempt uses.

    Args:
        budget: what it may use.
        clock: seconds, monotonic.
    """

    def __init__(self, budget: Budget, clock: Callable[[], float] = time.monotonic) -> None:
        self.budget = budget
        self.used: Counter[str] = Counter()
        self.turns = 0
        self._clock = clock
        self._start = clock()
        self._end: float | None = None
        self._last = b""
        self._repeats = 0

    @property
    def elapsed(self) -> float:
        """Seconds since the attempt began, grading and all."""
        return self._clock() - self._start

    @property
    def seconds(self) -> float:
        """Wall time of the solver: so far, or until it halted."""
        return self.elapsed if self._end is None else self._end

    def stop(self) -> None:
        """Stop the solver's clock; what comes after is not its time."""
        if self._end is None:
            self._end = self.elapsed

    def begin_turn(self) -> None:
        """Check and count a turn, before a model call.

        Raises:
            Halt: the time is up, or there is no turn left.
        """
        self.check_clock()
        if self.turns >= self.budget.turns:
            raise Halt("turn_limit", f"all {self.budget.turns} turns are used")
        self.turns += 1

    def check_clock(self) -> None:
        """Check the time: every turn, before every tool call, and at the attempt's end.

        Raises:
            Halt: the time is up.
        """
        if self.seconds > self.budget.seconds:
            raise Halt("wall_clock", f"{self.budget.seconds:g} seconds are up")

    def admit(self, call: ToolCall, kind: ToolClass) -> None:
        """Check and count a tool call, before it is carried out.

        Raises:
            Halt: the budget of its class or the time is used up, or it is the third of its like in a row.
        """
        self.check_clock()
        self.notice(call)
        if self.used[kind] >= getattr(self.budget, kind):
            raise Halt("tool_budget", f"all {getattr(self.budget, kind)} calls of {kind} are used")
        self.used[kind] += 1

    def notice(self, call: ToolCall) -> None:
        """Count a call towards a loop, whether or not it can be carried out.

        Raises:
            Halt: it is the third identical call in a row.
        """
        try:
            fingerprint = canonical_json({"name": call.name, "arguments": call.arguments, "fault": call.fault})
        except (ValueError, TypeError, RecursionError):
            fingerprint = repr((call.name, call.arguments, call.fault)).encode("utf-8", "replace")
        self._repeats = self._repeats + 1 if fingerprint == self._last else 1
        self._last = fingerprint
        if self._repeats >= _SAME_IN_A_ROW:
            raise Halt("pathological_loop", f"{_SAME_IN_A_ROW} identical calls of {call.name[:40]} in a row")

    def shown(self) -> str:
        """Return what is left, in one line for the solver."""
        left = [f"{kind} {getattr(self.budget, kind) - self.used[kind]}" for kind in TOOL_CLASSES]
        turns = self.budget.turns - self.turns
        seconds = max(0, int(self.budget.seconds - self.seconds))
        return f"[budget left: {', '.join(left)} calls; {turns} turns; {seconds} s]"
