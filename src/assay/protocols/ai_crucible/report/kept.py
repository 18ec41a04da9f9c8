"""A book on trials as events of a run, and back: whoever looks at the run needs neither the logs nor Inspect."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import PurePath
from typing import Any

from pydantic import TypeAdapter

from ai_crucible.attestation import Verification
from assay.protocols.ai_crucible.inspect.trials import LoggedAttempt
from assay.protocols.ai_crucible.report.book import Attempt, Book, Entry
from llm_runtime.errors import StoreDamaged
from llm_runtime.events import Event
from llm_runtime.store.anchor import SignedHead


class TrialBegan(Event, type="trial.began"):
    """So many attempts are to be made at so many puzzles; ``done`` of them were made in an earlier sitting."""

    trial: str
    attempts: int
    puzzles: int
    done: int = 0


class AttemptEnded(Event, type="trial.attempt_ended"):
    """An attempt was graded; ``cost`` in micro-dollars."""

    puzzle: str
    passed: bool
    tokens: int
    cost: int


class AttemptTold(Event, type="trial.attempt_told"):
    """An attempt with everything that its log tells."""

    attempt: dict[str, Any]


class TrialSealed(Event, type="trial.sealed"):
    """What the ledger says of the trial, and how it was signed."""

    seal: dict[str, Any]


def attempt_event(attempt: Attempt) -> AttemptTold:
    """An attempt as an event."""
    log = TypeAdapter(LoggedAttempt).dump_python(attempt.log, mode="json")
    # Where the log lies on this machine is no part of the story, and the run may be read on another.
    log["record"]["log"] = PurePath(log["record"]["log"]).name
    return AttemptTold(attempt={"log": log, "entry": asdict(attempt.entry) if attempt.entry else None})


def seal_event(book: Book) -> TrialSealed:
    """What vouches for a book, as an event."""
    return TrialSealed(
        seal={
            "verification": asdict(book.verification),
            "head": book.head.to_dict() if book.head else None,
            "logged": book.logged,
            "unfinished": list(book.unfinished),
            "sittings": book.sittings,
        }
    )


def attempt_of(told: AttemptTold) -> Attempt:
    """The inverse of :func:`attempt_event`.

    Raises:
        StoreDamaged: the event holds something else.
    """
    try:
        log = TypeAdapter(LoggedAttempt).validate_python(told.attempt["log"])
        entry = told.attempt["entry"]
        return Attempt(log, Entry(**entry) if entry else None)
    except (ValueError, KeyError, TypeError):
        raise StoreDamaged("an attempt in the run's log does not fit") from None


def book_of(attempts: tuple[Attempt, ...], sealed: TrialSealed) -> Book:
    """The book of these attempts.

    Raises:
        StoreDamaged: the event holds something else.
    """
    seal = sealed.seal
    try:
        return Book(
            attempts,
            TypeAdapter(Verification).validate_python(seal["verification"]),
            SignedHead.from_dict(seal["head"]) if seal["head"] else None,
            seal["logged"],
            tuple(seal["unfinished"]),
            seal["sittings"],
        )
    except (ValueError, KeyError, TypeError):
        raise StoreDamaged("what vouches for the trial does not fit in the run's log") from None
