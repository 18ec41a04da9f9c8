"""The life of a puzzle, lab to arena to regression, as a fold over attested events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Literal, TypeAlias

from ai_crucible.events import AttemptGraded, PuzzleAdmitted, PuzzleMoved, TrialPlanned
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Event
from llm_runtime.statistics.betting import BernoulliEProcess
from llm_runtime.statistics.interval import Interval
from llm_runtime.statistics.proportions import wilson
from llm_runtime.structs import Struct

Stage: TypeAlias = Literal["lab", "arena", "regression"]
_NEXT: dict[Stage, Stage] = {"lab": "arena", "arena": "regression", "regression": "arena"}


class Policy(Struct):
    """When a puzzle moves on.

    Args:
        least_attempts: graded attempts in a stage before any move, at least 1.
        saturated_rate: a puzzle that is solved more often than this tells nothing new, 0 to 1 exclusive.
        alpha: chance of calling a puzzle saturated, or broken, that is not, over all looks together.
    """

    least_attempts: int = 10
    saturated_rate: float = 0.9
    alpha: float = 0.05


class CatalogEntry(Struct):
    """One puzzle's place and what was seen of it since it came there.

    Args:
        puzzle: its id.
        kind: its kind of defect.
        digest: of the puzzle as it was admitted.
        stage: where it is.
        attempts: graded attempts since the last move.
        passed: how many of them passed.
        saturation: evidence that the success rate exceeds the saturated rate.
        decay: evidence that it falls short of it.
        moves: the stages it has been in, oldest first.
        oracle: digest of the oracle as it was admitted; empty where that was not written down.
        environment: what the verdicts seen rest on besides; others are never added to them.
    """

    puzzle: str
    kind: str
    digest: str
    stage: Stage
    saturation: BernoulliEProcess
    decay: BernoulliEProcess
    attempts: int = 0
    passed: int = 0
    moves: tuple[str, ...] = ()
    oracle: str = ""
    environment: str = ""

    @property
    def rate(self) -> Interval | None:
        """Success rate in this stage with its Wilson interval."""
        return wilson(self.passed, self.attempts) if self.attempts else None


@dataclass
class Catalog:
    """A fold: feed it events in order and ask what it holds.

    Args:
        policy: when puzzles move.
    """

    policy: Policy = field(default_factory=Policy)
    entries: dict[str, CatalogEntry] = field(default_factory=dict[str, CatalogEntry])
    _planned: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    @classmethod
    def of(cls, events: Iterable[Event], policy: Policy | None = None) -> Catalog:
        """Return the catalog that a ledger's events make."""
        catalog = cls(policy or Policy())
        for event in events:
            catalog.apply(event)
        return catalog

    def apply(self, event: Event) -> None:
        """Take one event; those of no concern change nothing."""
        if isinstance(event, PuzzleAdmitted):
            known = self.entries.get(event.puzzle)
            # Another digest is another puzzle: what was seen of the old one says nothing about it.
            if known is None or (known.digest, known.oracle) != (event.digest, event.oracle_digest):
                entry = self._fresh(event.puzzle, event.kind, event.digest, "lab", ())
                self.entries[event.puzzle] = replace(entry, oracle=event.oracle_digest)
        elif isinstance(event, TrialPlanned):
            self._planned[event.trial] = event.puzzles
        elif isinstance(event, AttemptGraded) and event.passed is not None and not event.anchor:
            entry = self.entries.get(event.puzzle)
            if entry is not None and self._is_at(event, entry):
                if entry.environment != event.environment and entry.attempts:
                    entry = self._again(entry, entry.stage, entry.moves)
                self.entries[event.puzzle] = replace(
                    entry,
                    attempts=entry.attempts + 1,
                    passed=entry.passed + event.passed,
                    saturation=entry.saturation.observe(event.passed),
                    decay=entry.decay.observe(event.passed),
                    environment=event.environment,
                )
        elif isinstance(event, PuzzleMoved) and event.puzzle in self.entries:
            entry = self.entries[event.puzzle]
            self.entries[event.puzzle] = self._again(entry, event.target, (*entry.moves, entry.stage))

    def _is_at(self, event: AttemptGraded, entry: CatalogEntry) -> bool:
        """Tell whether an attempt was made at the puzzle as it was admitted."""
        puzzle = event.puzzle_digest or self._planned.get(event.trial, {}).get(event.puzzle, entry.digest)
        return (puzzle, event.oracle_digest) == (entry.digest, entry.oracle)

    def _again(self, entry: CatalogEntry, stage: Stage, moves: tuple[str, ...]) -> CatalogEntry:
        return replace(self._fresh(entry.puzzle, entry.kind, entry.digest, stage, moves), oracle=entry.oracle)

    def next_move(self, puzzle: str) -> PuzzleMoved | str:
        """Return the move that a puzzle is ready for, or why it stays, in one line.

        Raises:
            ConfigurationError: there is no such puzzle.
        """
        entry = self.entries.get(puzzle)
        if entry is None:
            raise ConfigurationError(f"no puzzle {puzzle!r} in the catalog; admit it first: ai-crucible check")
        policy = self.policy
        if entry.attempts < policy.least_attempts:
            return f"{puzzle} stays in {entry.stage}: {entry.attempts} of {policy.least_attempts} attempts"
        seen = f"{entry.passed} of {entry.attempts} attempts passed"
        moved = partial(PuzzleMoved, puzzle=puzzle, source=entry.stage, target=_NEXT[entry.stage])
        if entry.stage == "lab":
            return moved(reason=seen)
        arena = entry.stage == "arena"
        evidence, why = (entry.saturation, "saturated") if arena else (entry.decay, "no longer solved")
        if evidence.rejects(policy.alpha):
            return moved(reason=f"{why}: {seen}, p {evidence.p_value:.3g}")
        stays = f"not saturated ({seen}, p {evidence.p_value:.3g})" if arena else seen
        return f"{puzzle} stays in {entry.stage}: {stays}"

    def _fresh(self, puzzle: str, kind: str, digest: str, stage: Stage, moves: tuple[str, ...]) -> CatalogEntry:
        # Evidence from another stage is evidence about another question: both tests begin anew.
        rate = self.policy.saturated_rate
        full, broken = BernoulliEProcess(rate, "greater"), BernoulliEProcess(rate, "less")
        return CatalogEntry(puzzle, kind, digest, stage, full, broken, moves=moves)
