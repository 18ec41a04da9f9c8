"""Where everybody stands, turn by turn, which concessions were earned (CX11, CX23)."""

from __future__ import annotations

import re
from collections.abc import Mapping

from crux.results import LedgerEntry, Stance, TrackedStance
from llm_runtime.structs import Struct

_LABEL = re.compile(r"\s*[\"'*]*(YES|NO BASIS|NOTHING ON RECORD|NONE|NO|NUANCED)\b[\"'*]*[\s:.,;—–-]*", re.IGNORECASE)


def read_position(text: str) -> tuple[Stance | None, str]:
    """Return the label that a stated position begins with, and the rest; None where it begins with none."""
    match = _LABEL.match(text)
    if match is None:
        return None, text.strip()
    label = match[1].upper()
    rest = text[match.end() :].strip()
    if label in ("NO BASIS", "NOTHING ON RECORD", "NONE"):
        return "NONE", rest
    return {"YES": "YES", "NO": "NO", "NUANCED": "NUANCED"}[label], rest  # pyright: ignore[reportReturnType]


class Claims(Struct):
    """What a speaker may name as the cause of a change.

    Args:
        heard: by message or evidence id, what others said before this turn.
        own: ids of the speaker's own messages.
        evidence: ids among ``heard`` that are injected evidence.
        flips: by id, the speaker's flip conditions.
        steelmanned: the other side was stated at its strongest, or the turn is not one of a room.
    """

    heard: Mapping[str, str]
    own: frozenset[str]
    evidence: frozenset[str]
    flips: Mapping[str, str]
    steelmanned: bool = True


def concession(before: TrackedStance | None, after: TrackedStance, claims: Claims) -> LedgerEntry | None:
    """Return the ledger's entry for a turn; None where nothing was conceded.

    A concession is a turn whose speaker says that the position changed, or whose label on the same question is
    another than before. This settles what needs no reading: whether a cause is named that can be one. An entry that
    is earned so far still has to be weighed (:func:`crux.earning.weighed`).

    Args:
        before: the last stance on the same question; else the last on any, from which only a change that the
            speaker states counts.
    """
    if before is None or "NONE" in (before.stance, after.stance):
        return None
    if not ((before.question == after.question and before.stance != after.stance) or after.updated):
        return None
    earned, reason = _named(after, claims)
    said = {name: getattr(after, name) for name in ("persona", "message", "question", "claim_ref", "because")}
    return LedgerEntry(**said, before=before.stance, after=after.stance, earned=earned, reason=reason)


def _named(after: TrackedStance, claims: Claims) -> tuple[bool, str]:
    reference = after.claim_ref.strip()
    if not after.updated:
        return False, "silent: the label changed and the speaker did not say so"
    if not reference:
        return False, "no claim named"
    if reference in claims.own:
        return False, "the claim named is the speaker's own"
    if reference in claims.flips:
        return True, "flip condition"
    if reference not in claims.heard:
        return False, f"no claim {reference[:20]} was made before this turn"
    if not claims.steelmanned and reference not in claims.evidence:
        return False, "before the other side was stated at its strongest"
    return True, "named claim"
