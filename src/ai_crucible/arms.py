"""Framing arms as a measured effect: the same puzzles framed otherwise, and the difference with its interval."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ai_crucible.framing import PastAttempt, Rival
from ai_crucible.types import ARMS, Arm, AttemptRecord
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import newcombe


@dataclass(frozen=True, slots=True)
class ArmEffect:
    """Success under an arm minus success under the neutral one, with its Newcombe interval."""

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
    """Compare every arm with neutral, over the puzzles, version by version, that both were tried on; no anchors."""
    tally: dict[tuple[Arm, tuple[str, str]], tuple[int, int]] = defaultdict(lambda: (0, 0))
    for attempt in attempts:
        if attempt.passed is not None and attempt.anchor is None:
            puzzle = (attempt.puzzle, attempt.version)
            passed, total = tally[attempt.arm, puzzle]
            tally[attempt.arm, puzzle] = (passed + attempt.passed, total + 1)
    arm_effects: list[ArmEffect] = []
    for arm in ARMS[1:]:
        shared = [puzzle for which, puzzle in tally if which == arm and ("neutral", puzzle) in tally]
        if shared:
            ours = _total([tally[arm, puzzle] for puzzle in shared])
            neutral = _total([tally["neutral", puzzle] for puzzle in shared])
            arm_effects.append(ArmEffect(arm, *ours, *neutral, newcombe(*ours, *neutral, confidence)))
    return arm_effects


def _total(counts: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(passed for passed, _ in counts), sum(total for _, total in counts)


def history_of(attempts: Iterable[AttemptRecord]) -> dict[str, list[PastAttempt]]:
    """Return what the self-referential arm may refer to: the model's real attempts, by puzzle."""
    past: dict[str, list[PastAttempt]] = defaultdict(list)
    for attempt in attempts:
        if attempt.passed is not None:
            past[attempt.puzzle].append(PastAttempt(attempt.passed, attempt.seconds, attempt.tool_calls))
    return dict(past)


def standings_of(attempts: Sequence[AttemptRecord], but: str) -> dict[str, list[Rival]]:
    """Return what the social arm may refer to: other models' real results, by puzzle, under numbers, not names."""
    models = sorted({attempt.model for attempt in attempts} - {but})
    table: dict[str, list[Rival]] = defaultdict(list)
    for number, model in enumerate(models, 1):
        by_puzzle: dict[str, list[bool]] = defaultdict(list)
        for attempt in attempts:
            if attempt.model == model and attempt.passed is not None:
                by_puzzle[attempt.puzzle].append(attempt.passed)
        for puzzle, results in by_puzzle.items():
            table[puzzle].append(Rival(f"Solver {number}", len(results), sum(results)))
    return dict(table)
