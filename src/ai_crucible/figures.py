"""A trial in figures, as its ledger has them: the same for a bundle, its page, ``verify`` and the report."""

from __future__ import annotations

from collections.abc import Iterator

from ai_crucible.attested import AttestedTrial
from ai_crucible.events import AttemptGraded, TrialPlanned
from ai_crucible.versions import environment_digest, rests_on
from llm_runtime.structs import Struct

MOST_MISSING = 0.2
"""The widest that the bounds over attempts without a verdict may be where a rate is told, as a share."""


class TrialFigures(Struct):
    """What a ledger says of one trial; anchors are left out of what passed, failed and died.

    Args:
        trial: its id.
        model: the solver's.
        arm: the framing.
        k: attempts at each puzzle that were planned.
        puzzles: how many.
        passed: attempts that passed.
        failed: attempts that did not.
        died: attempts that began and came to no verdict, in every sitting.
        without: attempts that were planned and have no verdict.
        finished: whether its last sitting came to its end.
        here: whether its logs lie beside the ledger, to be looked into.
        rests_on: what the verdicts rest on besides the solver, by name and digest.
        self_reported: of how many puzzles a process that ran the solver's code told the verdict.
        nonce: from which its draws come; empty where they come from its id, which whoever ran it could choose.
    """

    trial: str
    model: str
    arm: str
    k: int
    puzzles: int
    passed: int
    failed: int
    died: int
    without: int
    finished: bool
    here: bool
    rests_on: dict[str, str]
    self_reported: int
    nonce: str


def figures_of(trial: AttestedTrial, *, here: bool) -> TrialFigures | None:
    """Return the figures of a trial; ``None`` of one whose plan is not there.

    Args:
        trial: as its ledger has it.
        here: whether its logs are at hand.
    """
    if (plan := trial.plan) is None:
        return None
    counted = [event for event in trial.graded.values() if event.passed is not None]
    verdicts = [event.passed is True for event in counted if not event.anchor]
    return TrialFigures(
        trial.trial,
        plan.model,
        plan.arm,
        plan.k,
        len(plan.puzzles),
        sum(verdicts),
        verdicts.count(False),
        sum(not event.anchor for event in trial.died),
        (len(trial.graded) if trial.decided else plan.k * len(plan.puzzles)) - len(counted),
        trial.finished,
        here,
        rests_on(plan),
        len(plan.self_reported or ()),
        plan.nonce or "",
    )


def bounds(passed: int, failed: int, died: int) -> tuple[float, float]:
    """Return between which shares the rate lies, whatever those that died would have come to; 0 to 1 for none."""
    begun = passed + failed + died
    return (passed / begun, (passed + died) / begun) if begun else (0.0, 1.0)


def unplanned(trial: AttestedTrial) -> Iterator[str]:
    """Yield where the attempts of a trial are not those of its plan, a line each."""
    plan = trial.plan
    assert plan
    parts = environment_digest(plan.environment)
    for event in trial.graded.values():
        if fault := _fault(event, plan, parts):
            yield f"{trial.trial}: {event.puzzle}, attempt {event.epoch}: {fault}"


def _fault(event: AttemptGraded, plan: TrialPlanned, parts: str) -> str:
    if event.puzzle not in plan.puzzles or not 1 <= event.epoch <= plan.k:
        return "the plan has no such attempt"
    if (event.model, event.arm) != (plan.model, plan.arm):
        return f"made by {event.model}, {event.arm}"
    planned = plan.puzzles[event.puzzle], plan.oracles.get(event.puzzle, ""), parts
    if plan.environment and (event.puzzle_digest, event.oracle_digest, event.environment) != planned:
        return "rests on other parts than the plan names"
    return ""
