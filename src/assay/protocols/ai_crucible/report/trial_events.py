"""A record on trials as events of a run, and back: whoever looks at the run needs neither the logs nor Inspect."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import PurePath

from pydantic import TypeAdapter

from assay.protocols.ai_crucible.events import AttemptTold, TrialSealed
from assay.protocols.ai_crucible.inspect.trials import LoggedAttempt
from assay.protocols.ai_crucible.report.trial_records import Attempt, LedgerLine, Seal, TrialRecords
from llm_runtime.errors import StoreDamaged
from llm_runtime.rewording import instead


def attempt_event(attempt: Attempt) -> AttemptTold:
    """Return an attempt as an event."""
    log = TypeAdapter(LoggedAttempt).dump_python(attempt.log, mode="json")
    # Where the log lies on this machine is no part of the story, and the run may be read on another.
    log["record"]["log"] = PurePath(log["record"]["log"]).name
    # Events of earlier versions have none, and stay what they were.
    for name in ("version", "self_reported", "hours"):
        if not log["record"][name]:
            del log["record"][name]
    return AttemptTold(attempt={"log": log, "entry": asdict(attempt.entry) if attempt.entry else None})


def seal_event(seal: Seal) -> TrialSealed:
    """Return what vouches for trials, as an event."""
    return TrialSealed(seal=seal.model_dump(mode="json", exclude_defaults=True))


def attempt_of(event: AttemptTold) -> Attempt:
    """Invert :func:`attempt_event`.

    Raises:
        StoreDamaged: the event holds something else.
    """
    with instead(StoreDamaged("an attempt in the run's log does not fit"), ValueError, KeyError, TypeError):
        log = TypeAdapter(LoggedAttempt).validate_python(event.attempt["log"])
        entry = event.attempt["entry"]
        return Attempt(log, LedgerLine(**entry) if entry else None)


def records_of(attempts: tuple[Attempt, ...], sealed: TrialSealed) -> TrialRecords:
    """Return the records of these attempts.

    Raises:
        StoreDamaged: the event holds something else.
    """
    with instead(StoreDamaged("what vouches for the trial does not fit in the run's log"), ValueError, TypeError):
        return TrialRecords(attempts, Seal.model_validate(sealed.seal))
