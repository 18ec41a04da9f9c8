"""What a judge reads of the dialogue so far: peers' words as JSON, without names (FC14).

A function of the finished rounds and the seat alone, so it does not matter who answered first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fire_circle.patterns import sightings
from fire_circle.results import DialogueRound
from fire_circle.seats import Seat

_MAX_REASONING = 4_000


def first_evaluations(history: Sequence[DialogueRound], seats: Sequence[Seat], leave_out: Seat | None) -> str:
    """Return round 1's evaluations as JSON, in seat order, without those of ``leave_out``."""
    voices = {seat.index: seat.voice for seat in seats}
    return _json(
        [
            {"judge": voices[evaluation.seat], **evaluation.triple, "reasoning": _cut(evaluation.reasoning)}
            for evaluation in history[0].evaluations
            if leave_out is None or evaluation.seat != leave_out.index
        ]
    )


def own_last(history: Sequence[DialogueRound], seat: Seat) -> str:
    """Return the seat's own latest evaluation as JSON."""
    own = [e for dialogue_round in history for e in dialogue_round.evaluations if e.seat == seat.index]
    if not own:
        return "null"
    last = own[-1]
    patterns = [{"pattern": claim.description, "quote": claim.quote} for claim in last.claims if claim.verified]
    return _json(
        {
            "round": last.round_number,
            **last.triple,
            "reasoning": _cut(last.reasoning),
            **({"patterns": patterns} if patterns else {}),
        }
    )


def pattern_record(history: Sequence[DialogueRound]) -> str:
    """Return every verified pattern since round 1 as JSON, with how many judges saw it, but not who."""
    grouped: dict[str, dict[str, Any]] = {}
    judges: dict[str, set[int]] = {}
    for sighting in sightings(history):
        entry = grouped.setdefault(sighting.key, {"kind": sighting.key.partition(":")[0], "judges": 0, "seen": []})
        judges.setdefault(sighting.key, set()).add(sighting.seat)
        entry["judges"] = len(judges[sighting.key])
        entry["seen"].append({"pattern": _cut(sighting.claim.description), "quote": sighting.claim.quote})
    return _json(list(grouped.values()))


def chair_record(history: Sequence[DialogueRound]) -> str:
    """Return what was said from the empty chair as JSON, round by round."""
    return _json(
        [
            {
                "round": dialogue_round.round_number,
                "reasoning": _cut(evaluation.reasoning),
                "patterns": [
                    {"pattern": _cut(claim.description), "quote": claim.quote}
                    for claim in evaluation.claims
                    if claim.verified
                ],
            }
            for dialogue_round in history
            for evaluation in dialogue_round.evaluations
            if evaluation.empty_chair
        ]
    )


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_REASONING else text[:_MAX_REASONING] + " [cut]"


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1)
