"""What a trial tells while it is made and when it is over. The type names and keys are part of the log's format."""

from __future__ import annotations

from typing import Any

from llm_runtime.events import Event


class TrialBegan(Event, type="trial.began"):
    """So many attempts are to be made at so many puzzles; ``done`` of them were made in an earlier sitting."""

    trial: str
    attempts: int
    puzzles: int
    done: int = 0


class AttemptEnded(Event, type="trial.attempt_ended"):
    """An attempt was graded; ``cost`` in micro-dollars. ``model`` is empty where there is one alone."""

    puzzle: str
    passed: bool
    tokens: int
    cost: int
    epoch: int = 0
    model: str = ""


class AttemptTold(Event, type="trial.attempt_told"):
    """An attempt with everything that its log tells."""

    attempt: dict[str, Any]


class TrialSealed(Event, type="trial.sealed"):
    """What the ledger says of the trial, and how it was signed."""

    seal: dict[str, Any]
