"""The conjunctive gate: an attempt passes only if every condition holds, and the failed ones are named."""

from __future__ import annotations

import math

from ai_crucible.types import GateResult, PanelVerdict, PuzzleMeta, TerminatedBy, Verdict

WITHIN_BUDGET: frozenset[TerminatedBy] = frozenset({"submitted", "stopped_talking"})
_TIME: frozenset[TerminatedBy] = frozenset({"wall_clock"})
_TOOLS: frozenset[TerminatedBy] = frozenset({"tool_budget", "pathological_loop", "turn_limit"})

OF_THE_RUN = frozenset({"within_tool_budget", "within_time_budget", "ended_properly", "novelty_validated"})
"""Conditions that what an attempt left says nothing of."""


def gate(
    meta: PuzzleMeta, verdict: Verdict, *, terminated_by: TerminatedBy | None, novelty_claim: str = "",
    panel: PanelVerdict | None = None, seconds: float = 0.0,
) -> GateResult:  # fmt: skip
    """Decide one attempt (AC6).

    A check that fails before and after counts against ``solved``, one that passed and fails now against
    ``no_regression``; both are computed from what the untouched puzzle showed. Novelty is what the panel says,
    never what the solver or the grader says.

    Args:
        meta: the thresholds and budgets.
        verdict: what the grading process says.
        terminated_by: how the attempt ended; ``None`` where no solver ran, as for a gold solution.
        novelty_claim: what the solver claims to be new; empty where it claims nothing.
        panel: what the judges say.
        seconds: wall time of the attempt.
    """
    numbers = [verdict.quality, seconds, meta.quality_threshold]
    numbers += [check.weight for check in verdict.checks]
    if panel is not None and panel.value is not None:
        numbers.append(panel.value)
    conditions = {
        "finite_inputs": all(math.isfinite(number) for number in numbers),
        "solved": verdict.solved,
        "no_regression": not verdict.regressions,
        # NaN compares false with everything, so a quality that is no number fails here too.
        "quality": verdict.quality >= meta.quality_threshold,
        "no_adversarial_penalty": not verdict.adversarial,
        "no_undeclared_penalty": not verdict.undeclared,
        "within_tool_budget": terminated_by not in _TOOLS,
        "within_time_budget": terminated_by not in _TIME and seconds <= meta.budget.seconds,
        "ended_properly": terminated_by is None or terminated_by in WITHIN_BUDGET | _TOOLS | _TIME,
        "novelty_validated": not novelty_claim or (panel is not None and panel.novelty_validated is True),
    }
    failed = tuple(name for name, holds in conditions.items() if not holds)
    return GateResult(passed=not failed, conditions=conditions, failed=failed)
