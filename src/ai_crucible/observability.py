"""Rollups: attempts into puzzles, puzzles into models; reliability over k attempts, always with an interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from ai_crucible.figures import MOST_MISSING, bounds
from ai_crucible.types import AttemptRecord
from llm_runtime.grouping import grouped
from llm_runtime.statistics.attempts import pass_at_k, pass_hat_k
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import wilson
from llm_runtime.structs import Struct


class PuzzleHistory(Struct):
    """All graded attempts of one model at one puzzle under one arm.

    Args:
        puzzle: its id.
        kind: its kind of defect.
        model: the solver's.
        arm: the framing arm.
        attempts: graded attempts, at least 1.
        passed: how many passed.
        errors: attempts without a verdict; they count neither way.
        endings: how the attempts ended, with their numbers.
        version: what the verdicts rest on besides the solver, in short.
        self_reported: hidden tests share a process with the solver's code, which tells their outcome.
        hours: of a person's work that it stands for, as its author judges it; 0 where nobody has said so.
    """

    puzzle: str
    kind: str
    model: str
    arm: str
    attempts: int
    passed: int
    errors: int
    endings: dict[str, int]
    anchor: bool = False
    version: str = ""
    self_reported: bool = False
    hours: float = 0.0

    @property
    def rate(self) -> Interval | None:
        """Success rate over attempts with its Wilson interval; ``None`` without a graded attempt."""
        return wilson(self.passed, self.attempts) if self.attempts else None

    def pass_at(self, k: int) -> float:
        """Estimate without bias that one of k attempts passes; :class:`ValueError` beyond the attempts made."""
        return pass_at_k(self.passed, self.attempts, k)

    def pass_hat(self, k: int) -> float:
        """Estimate without bias that all of k attempts pass; :class:`ValueError` beyond the attempts made."""
        return pass_hat_k(self.passed, self.attempts, k)


class ModelRollup(Struct):
    """One model over all puzzles that are no anchors.

    Args:
        model: its id.
        arm: the framing arm.
        puzzles: the histories behind it.
        rate: attempts that passed, with the attempt-level Wilson interval; ``None`` without a graded attempt, or
            where so many died that it could be anything (:data:`~ai_crucible.figures.MOST_MISSING`).
        reliability: with a rate, k and the mean of pass^k over puzzles, k the least number of attempts at a puzzle.
        anchors_as_expected: whether trivial anchors passed once or more and impossible ones never.
        edition: attempts at a puzzle, or with a grader, that was changed since are a line of their own: 2, 3, ...
        died: attempts that began and came to no verdict, in all sittings, anchors left out.
    """

    model: str
    arm: str
    puzzles: tuple[PuzzleHistory, ...]
    rate: Interval | None
    reliability: tuple[int, float] | None
    anchors_as_expected: bool | None
    seconds: float
    cost: float | None
    tokens: int
    edition: int = 1
    died: int = 0

    @property
    def passed(self) -> int:
        """Attempts that passed, anchors left out."""
        return sum(history.passed for history in self.puzzles if not history.anchor)

    @property
    def hardest(self) -> list[PuzzleHistory]:
        """The puzzles, those first at which the fewest attempts passed."""
        return sorted(self.puzzles, key=lambda history: (history.rate or wilson(0, 1)).estimate)

    @property
    def attempts(self) -> int:
        """Attempts with a verdict, anchors left out."""
        return sum(history.attempts for history in self.puzzles if not history.anchor)


class TrialReport(Struct):
    """What a trial came to.

    Args:
        trial: its id; run it again by this id to go on after a kill.
        status: Inspect's: ``success``, ``error`` where an attempt has no verdict, ``cancelled`` at the keyboard, or
            ``started`` where it was stopped so hard that the log was not finished.
        log: the Inspect log.
        attempts: every attempt that is in it.
        models: rolled up.
        unpaid: the money was used up before all attempts were made.
    """

    trial: str
    status: str
    log: Path
    attempts: tuple[AttemptRecord, ...]
    models: tuple[ModelRollup, ...]
    unpaid: bool = False

    @property
    def errors(self) -> tuple[AttemptRecord, ...]:
        """Attempts without a verdict."""
        return tuple(attempt for attempt in self.attempts if attempt.passed is None)


def _together(
    attempts: Iterable[AttemptRecord], by: Callable[[AttemptRecord], tuple[str, ...]]
) -> list[list[AttemptRecord]]:
    return [list(group) for _, group in groupby(sorted(attempts, key=by), key=by)]


def histories(attempts: Iterable[AttemptRecord]) -> list[PuzzleHistory]:
    """Group attempts by model, arm, puzzle and version, in that order."""
    return [_history(group) for group in _together(attempts, attrgetter("model", "arm", "puzzle", "version"))]


def _history(attempts: list[AttemptRecord]) -> PuzzleHistory:
    first = attempts[0]
    graded = [attempt for attempt in attempts if attempt.passed is not None]
    return PuzzleHistory(
        **first.model_dump(include={"puzzle", "kind", "model", "arm", "version", "self_reported", "hours"}),
        attempts=len(graded),
        passed=sum(attempt.passed is True for attempt in graded),
        errors=len(attempts) - len(graded),
        endings=dict(sorted(Counter(attempt.terminated_by or "unknown" for attempt in attempts).items())),
        anchor=first.anchor is not None,
    )


def rollup(attempts: Iterable[AttemptRecord], died: Mapping[tuple[str, str], int] | None = None) -> list[ModelRollup]:
    """Return one line a model and arm, and one more for each further version of the puzzles.

    Args:
        attempts: of any models.
        died: by model and arm, attempts that came to no verdict; those among ``attempts`` where left out.
    """
    attempts = list(attempts)
    met = grouped((attempt.puzzle, attempt.version) for attempt in attempts)
    versions = {puzzle: list(dict.fromkeys(those)) for puzzle, those in met.items()}
    lines: list[ModelRollup] = []
    for group in _together(attempts, attrgetter("model", "arm")):
        editions = [versions[attempt.puzzle].index(attempt.version) for attempt in group]
        lost = died.get((group[0].model, group[0].arm), 0) if died is not None else None
        for edition in sorted(set(editions)):
            members = [attempt for attempt, place in zip(group, editions, strict=True) if place == edition]
            lines.append(_rollup(members, edition + 1, lost if edition == max(editions) else 0))
    return lines


def _rollup(attempts: list[AttemptRecord], edition: int, died: int | None) -> ModelRollup:
    puzzles = tuple(histories(attempts))
    counted = [history for history in puzzles if not history.anchor and history.attempts]
    total, passed = sum(history.attempts for history in counted), sum(history.passed for history in counted)
    died = sum(one.passed is None and one.anchor is None for one in attempts) if died is None else died
    low, high = bounds(passed, total - passed, died)
    told = total > 0 and high - low <= MOST_MISSING
    k = min((history.attempts for history in counted), default=0)
    costs = [attempt.cost for attempt in attempts]
    return ModelRollup(
        attempts[0].model,
        attempts[0].arm,
        puzzles,
        wilson(passed, total) if told else None,
        (k, sum(history.pass_hat(k) for history in counted) / len(counted)) if told else None,
        _anchors(attempts),
        sum(attempt.seconds for attempt in attempts),
        None if any(cost is None for cost in costs) else sum(cost for cost in costs if cost is not None),
        sum(attempt.input_tokens + attempt.output_tokens for attempt in attempts),
        edition,
        died,
    )


def _anchors(attempts: list[AttemptRecord]) -> bool | None:
    trivial = [attempt.passed for attempt in attempts if attempt.anchor == "trivial"]
    impossible = [attempt.passed for attempt in attempts if attempt.anchor == "impossible"]
    if not trivial and not impossible:
        return None
    return (not trivial or any(trivial)) and not any(impossible)
