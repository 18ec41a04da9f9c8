"""Framing arms as a measured effect: the same puzzles framed otherwise, and the difference with its interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ai_crucible.framing import PastAttempt, Rival
from ai_crucible.types import ARMS, Arm, AttemptRecord
from llm_runtime.grouping import grouped
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import newcombe_stratified
from llm_runtime.structs import Struct


class ArmEffect(Struct):
    """Success under an arm minus success under the neutral one, puzzle by puzzle.

    Args:
        arm: the framing.
        passed: attempts under it that passed, at the puzzles that both arms tried.
        attempts: under it, at those puzzles.
        neutral_passed: the same under the neutral arm.
        neutral_attempts: the same.
        difference: the mean over puzzles, each by the weight of Mantel and Haenszel, with an interval that holds
            for all arms together.
    """

    arm: Arm
    passed: int
    attempts: int
    neutral_passed: int
    neutral_attempts: int
    difference: Interval

    @property
    def shown(self) -> bool:
        """Whether the interval excludes no effect."""
        return 0 not in self.difference


def effects(attempts: Iterable[AttemptRecord], confidence: float = 0.95) -> list[ArmEffect]:
    """Compare every arm with neutral within each puzzle, version by version, that both were tried on; no anchors.

    Counts are never pooled over puzzles: an arm that tried the easy ones more often is no better for that.

    Args:
        attempts: of one model.
        confidence: with which all intervals together cover (Bonferroni), 0 to 1 exclusive.
    """
    tally: dict[tuple[Arm, tuple[str, str]], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for attempt in attempts:
        if attempt.passed is not None and attempt.anchor is None:
            puzzle = (attempt.puzzle, attempt.version)
            passed, total = tally[attempt.arm, puzzle]
            tally[attempt.arm, puzzle] = (passed + attempt.passed, total + 1)
    pairs: dict[Arm, list[tuple[int, int, int, int]]] = {}
    for (arm, puzzle), counts in tally.items():
        if arm != "neutral" and ("neutral", puzzle) in tally:
            pairs.setdefault(arm, []).append((*counts, *tally["neutral", puzzle]))
    each = 1 - (1 - confidence) / max(1, len(pairs))
    return [
        ArmEffect(arm, a, of_a, b, of_b, newcombe_stratified(pairs[arm], each))
        for arm in ARMS[1:]
        if arm in pairs
        for a, of_a, b, of_b in [[sum(column) for column in zip(*pairs[arm], strict=True)]]
    ]


def history_of(attempts: Iterable[AttemptRecord]) -> dict[str, list[PastAttempt]]:
    """Return what the self-referential arm may refer to: the model's real attempts, by puzzle."""
    graded = ((one, one.passed) for one in attempts if one.passed is not None)
    return grouped((one.puzzle, PastAttempt(passed, one.seconds, one.tool_calls)) for one, passed in graded)


def standings_of(attempts: Sequence[AttemptRecord], but: str) -> dict[str, list[Rival]]:
    """Return what the social arm may refer to: other models' real results, by puzzle, under numbers, not names."""
    models = sorted({attempt.model for attempt in attempts} - {but})
    table: dict[str, list[Rival]] = defaultdict(list)
    for number, model in enumerate(models, 1):
        by_puzzle = grouped(
            (one.puzzle, one.passed) for one in attempts if one.model == model and one.passed is not None
        )
        for puzzle, results in by_puzzle.items():
            table[puzzle].append(Rival(f"Solver {number}", len(results), sum(results)))
    return dict(table)
