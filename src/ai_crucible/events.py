"""What is attested: trials planned and logged, attempts graded, puzzles admitted and moved."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import StringConstraints

from llm_runtime.events import Event
from llm_runtime.models import Model

Work: TypeAlias = dict[str, Annotated[str, StringConstraints(pattern="^([0-7]{6} [0-9a-f]{64})?$")]]
"""What an attempt left otherwise than it found it, by path: mode in octal and SHA-256, or nothing for what is gone."""


class TrialPlanned(Event, type="ai_crucible.trial_planned"):
    """A trial is about to run: written before it starts, so that a trial that vanished leaves a trace.

    Args:
        trial: its id.
        puzzles: id and digest of each.
        model: the solver's.
        k: attempts at each puzzle.
        arm: the framing arm.
        oracles: id of each puzzle and digest of its oracle.
        environment: what verdicts rest on besides, by name and digest; see :mod:`ai_crucible.versions`.
        redraws: how often an attempt that died may be made again; ``None`` in plans from before that was fixed.
        self_reported: puzzles whose hidden tests share a process with the solver's code, which tells the outcome.
        protocol: how tools are called; ``None`` in plans from before it, judges and rivals were named.
        judges: models of the panel.
        against: models that make the same attempts.
        nonce: words of whoever asked for it, from which all draws derive; empty where they come from its id.
        seed: from which all is drawn; ``None`` in plans from before work was kept.
    """

    newer = ("redraws", "self_reported", "protocol", "judges", "against", "nonce", "seed")

    trial: str
    puzzles: dict[str, str]
    model: str
    k: int
    arm: str = "neutral"
    oracles: dict[str, str] = {}
    environment: dict[str, str] = {}
    redraws: int | None = None
    self_reported: tuple[str, ...] | None = None
    protocol: str | None = None
    judges: tuple[str, ...] | None = None
    against: tuple[str, ...] | None = None
    nonce: str | None = None
    seed: int | None = None


class TrialResumed(Event, type="ai_crucible.trial_resumed"):
    """A trial that was cut off goes on: attempts that were in flight are made again, finished ones are not."""

    trial: str


class AttemptBegun(Event, type="ai_crucible.attempt_begun"):
    """An attempt begins. One that nobody witnesses later died, however that came about.

    ``sample`` is Inspect's id of it; ``anchor`` says that its puzzle's outcome is known beforehand.
    """

    trial: str
    puzzle: str
    epoch: int
    sample: str
    anchor: bool = False


class AttemptWitnessed(Event, type="ai_crucible.attempt_witnessed"):
    """An attempt was graded a moment ago, before its log is closed: what a later sitting may take over.

    ``sample`` is Inspect's id of it, ``score_digest`` the SHA-256 of its score as it goes into the log.
    """

    trial: str
    sample: str
    score_digest: str


class AttemptGraded(Event, type="ai_crucible.attempt_graded"):
    """One attempt of a trial. ``passed`` is null where it ended in an error and has no verdict.

    ``sample_digest`` is the SHA-256 of the attempt as the log has it. The digests of puzzle, oracle and environment
    are those of the plan, and empty in ledgers from before they were named. ``work`` is null where there is no verdict,
    where it was too much to be kept, and in ledgers from before it was.
    """

    newer = ("work",)

    trial: str
    puzzle: str
    kind: str
    epoch: int
    model: str
    arm: str
    passed: bool | None
    failed: list[str] = []
    terminated_by: str = ""
    anchor: bool = False
    sample_digest: str
    puzzle_digest: str = ""
    oracle_digest: str = ""
    environment: str = ""
    work: Work | None = None


class TrialLogged(Event, type="ai_crucible.trial_logged"):
    """The trial's Inspect log, by the SHA-256 of its bytes; ``log`` is its path from the ledger's folder."""

    trial: str
    log: str
    sha256: str
    size: int
    status: str


class ComparedPair(Model):
    """Two models at the same attempts; ``e`` is what a bet against "alike" came to, ``p`` is corrected by Holm."""

    a: str
    b: str
    both: int
    only_a: int
    only_b: int
    neither: int
    e: float
    p: float


class TrialsCompared(Event, type="ai_crucible.trials_compared"):
    """Models attempted the same puzzles, and their attempts were compared in an order drawn beforehand.

    Args:
        trials: the model of each trial, by the trial's id.
        pairs: every two of them, over the attempts up to ``after``.
        after: attempts of each that were looked at.
        planned: attempts of each that there were to be, anchors left out.
        decided: whether every pair differs at 5%, by a test that holds whenever one stops.
        at: the attempt at which it was decided; empty where it was not.
        left_out: attempts of all that were not made, because it was decided.
        saved: what those would have cost at each model's mean, micro-dollars or tokens.
        saved_in: ``"USD"`` or ``"tokens"``.
    """

    trials: dict[str, str]
    pairs: tuple[ComparedPair, ...]
    after: int
    planned: int
    decided: bool
    at: str = ""
    left_out: int = 0
    saved: int = 0
    saved_in: str = "tokens"


class PuzzleAdmitted(Event, type="ai_crucible.puzzle_admitted"):
    """A puzzle passed its check and enters the lab."""

    puzzle: str
    kind: str
    digest: str
    oracle_digest: str = ""


class PuzzleMoved(Event, type="ai_crucible.puzzle_moved"):
    """A puzzle moved from one stage of its life to another, and why."""

    puzzle: str
    source: Literal["lab", "arena", "regression"]
    target: Literal["lab", "arena", "regression"]
    reason: str
