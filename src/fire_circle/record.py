"""What a judge reads of the dialogue so far: peers' words as JSON, without names (FC14).

A function of the finished rounds and the seat alone, so it does not matter who answered first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fire_circle.patterns import sightings
from fire_circle.results import DialogueRound, PatternClaim, evaluations_of
from fire_circle.seats import Seat
from llm_runtime.grouping import grouped

_MAX_REASONING = 4_000


def first_evaluations(history: Sequence[DialogueRound], seats: Sequence[Seat], leave_out: Seat | None) -> str:
    """Return round 1's evaluations as JSON, in seat order, without those of ``leave_out``."""
    voices = {seat.index: seat.voice for seat in seats}
    said = (e for e in history[0].evaluations if leave_out is None or e.seat != leave_out.index)
    return _json([{"judge": voices[e.seat], **e.triple, "reasoning": _cut(e.reasoning)} for e in said])


def own_last(history: Sequence[DialogueRound], seat: Seat) -> str:
    """Return the seat's own latest evaluation as JSON."""
    own = [e for e in evaluations_of(history) if e.seat == seat.index]
    if not own:
        return "null"
    last = own[-1]
    patterns = [{"pattern": claim.description, "quote": claim.quote} for claim in last.claims if claim.verified]
    told = {"round": last.round_number, **last.triple, "reasoning": _cut(last.reasoning)}
    return _json({**told, **({"patterns": patterns} if patterns else {})})


def pattern_record(history: Sequence[DialogueRound]) -> str:
    """Return every verified pattern since round 1 as JSON, with how many judges saw it, but not who."""
    patterns: list[dict[str, object]] = []
    for key, own in grouped((sighting.key, sighting) for sighting in sightings(history)).items():
        seen = [_pattern(one.claim) for one in own]
        patterns.append({"kind": key.partition(":")[0], "judges": len({one.seat for one in own}), "seen": seen})
    return _json(patterns)


def chair_record(history: Sequence[DialogueRound]) -> str:
    """Return what was said from the empty chair as JSON, round by round."""
    told: list[dict[str, object]] = []
    for number, said in ((held.round_number, e) for held in history for e in held.evaluations if e.empty_chair):
        patterns = [_pattern(claim) for claim in said.claims if claim.verified]
        told.append({"round": number, "reasoning": _cut(said.reasoning), "patterns": patterns})
    return _json(told)


def _pattern(claim: PatternClaim) -> dict[str, str]:
    return {"pattern": _cut(claim.description), "quote": claim.quote}


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_REASONING else text[:_MAX_REASONING] + " [cut]"


def _json(data: Any) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1)
