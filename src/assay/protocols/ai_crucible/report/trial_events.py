"""A records on trials as events of a run, and back: whoever looks at the run needs neither the logs nor Inspect."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import PurePath

from pydantic import TypeAdapter

from ai_crucible.attestation import Verification
from ai_crucible.events import TrialsCompared
from assay.protocols.ai_crucible.events import AttemptTold, TrialSealed
from assay.protocols.ai_crucible.inspect.trials import LoggedAttempt
from assay.protocols.ai_crucible.report.trial_records import Attempt, LedgerLine, TrialRecords
from llm_runtime.errors import StoreDamaged
from llm_runtime.store.anchor import SignedHead


def attempt_event(attempt: Attempt) -> AttemptTold:
    """Return an attempt as an event."""
    log = TypeAdapter(LoggedAttempt).dump_python(attempt.log, mode="json")
    # Where the log lies on this machine is no part of the story, and the run may be read on another.
    log["record"]["log"] = PurePath(log["record"]["log"]).name
    # Events of earlier versions have none, and stay what they were.
    for name in ("version", "self_reported"):
        if not log["record"][name]:
            del log["record"][name]
    return AttemptTold(attempt={"log": log, "entry": asdict(attempt.entry) if attempt.entry else None})


def seal_event(records: TrialRecords) -> TrialSealed:
    """Return what vouches for trials, as an event."""
    return TrialSealed(
        seal={
            "verification": asdict(records.verification),
            "head": records.head.to_dict() if records.head else None,
            "logged": records.logged,
            "unfinished": list(records.unfinished),
            "sittings": records.sittings,
            "rests_on": records.rests_on,
            **(
                {"compared": [each.model_dump(mode="json") for each in records.compared]}
                if records.compared
                else {}
            ),
            "died": records.died,
        }
    )


def attempt_of(event: AttemptTold) -> Attempt:
    """Invert :func:`attempt_event`.

    Raises:
        StoreDamaged: the event holds something else.
    """
    try:
        log = TypeAdapter(LoggedAttempt).validate_python(event.attempt["log"])
        entry = event.attempt["entry"]
        return Attempt(log, LedgerLine(**entry) if entry else None)
    except (ValueError, KeyError, TypeError):
        raise StoreDamaged("an attempt in the run's log does not fit") from None


def records_of(attempts: tuple[Attempt, ...], sealed: TrialSealed) -> TrialRecords:
    """Return the records of these attempts.

    Raises:
        StoreDamaged: the event holds something else.
    """
    seal = sealed.seal
    try:
        return TrialRecords(
            attempts,
            TypeAdapter(Verification).validate_python(seal["verification"]),
            SignedHead.from_dict(seal["head"]) if seal["head"] else None,
            seal["logged"],
            tuple(seal["unfinished"]),
            seal["sittings"],
            seal.get("rests_on", {}),
            tuple(TrialsCompared.model_validate(each) for each in seal.get("compared", ())),
            seal.get("died"),
        )
    except (ValueError, KeyError, TypeError):
        raise StoreDamaged("what vouches for the trial does not fit in the run's log") from None
