"""The groupthink map: each seat's F over the rounds, who moved toward whom, and what was given up for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fire_circle.results import ALARM, CircleRecord, DialogueRound, NeutrosophicEvaluation, evaluations_of
from llm_runtime.models import Model

MOVED = 0.1
"""A smaller change of F is no move."""


class Path(Model):
    """One seat's F in each round; ``None`` where it gave none."""

    model: str
    seat: int
    falsehood: tuple[float | None, ...]
    chair_in: tuple[int, ...]


class Move(Model):
    """A change of F by 0.1 or more from one answer of a seat to its next.

    Args:
        before, after: F, 0.0 to 1.0.
        toward: seats whose F, as it stood before, came nearer.
        new_evidence: the seat names a verified quote or a pattern type that it had not named before.
        gave_up_alarm: F fell from 0.7 or more to below, without new evidence.
    """

    model: str
    seat: int
    round_number: int
    before: float
    after: float
    toward: tuple[str, ...]
    new_evidence: bool
    gave_up_alarm: bool


class GroupthinkMap(Model):
    """One circle's movements; ``spread`` is stddev(F) by round."""

    paths: tuple[Path, ...]
    moves: tuple[Move, ...]
    alarms_given_up: int
    spread: tuple[float | None, ...]


def groupthink_map(result: CircleRecord) -> GroupthinkMap:
    """Draw the map of one circle, failed seats included as far as they came."""
    history = result.dialogue_history
    seats = {e.seat: e.model for e in evaluations_of(history)}
    moves = tuple(move for number in range(1, len(history)) for move in _moves(history, number))
    return GroupthinkMap(
        paths=tuple(_path(history, seat, model) for seat, model in sorted(seats.items())),
        moves=moves,
        alarms_given_up=sum(move.gave_up_alarm for move in moves),
        spread=tuple(dialogue_round.convergence_metric for dialogue_round in history),
    )


def _path(history: Sequence[DialogueRound], seat: int, model: str) -> Path:
    said = [next((e for e in dialogue_round.evaluations if e.seat == seat), None) for dialogue_round in history]
    scores = tuple(evaluation.falsehood if evaluation else None for evaluation in said)
    chaired = tuple(evaluation.round_number for evaluation in said if evaluation and evaluation.empty_chair)
    return Path(model=model, seat=seat, falsehood=scores, chair_in=chaired)


def _moves(history: Sequence[DialogueRound], number: int) -> list[Move]:
    earlier = history[:number]
    standing = {e.seat: e for e in evaluations_of(earlier)}
    moves: list[Move] = []
    for after in history[number].evaluations:
        before = standing.get(after.seat)
        if before is not None and abs(after.falsehood - before.falsehood) >= MOVED - 1e-9:
            moves.append(_move(before, after, standing.values(), _is_new(after, earlier)))
    return moves


def _move(
    before: NeutrosophicEvaluation,
    after: NeutrosophicEvaluation,
    standing: Iterable[NeutrosophicEvaluation],
    new_evidence: bool,
) -> Move:
    def nearer(other: NeutrosophicEvaluation) -> float:
        return abs(before.falsehood - other.falsehood) - abs(after.falsehood - other.falsehood)

    return Move(
        model=after.model,
        seat=after.seat,
        round_number=after.round_number,
        before=before.falsehood,
        after=after.falsehood,
        toward=tuple(one.model for one in standing if one.seat != after.seat and nearer(one) > 1e-9),
        new_evidence=new_evidence,
        gave_up_alarm=before.falsehood >= ALARM > after.falsehood and not new_evidence,
    )


def _is_new(after: NeutrosophicEvaluation, earlier: Sequence[DialogueRound]) -> bool:
    """Tell whether a seat names a quote or a type that it had not named itself."""
    own = [claim for e in evaluations_of(earlier) if e.seat == after.seat for claim in e.claims]
    quotes = {claim.quote for claim in own}
    types = {kind for claim in own for kind in claim.types}
    named = (claim for claim in after.claims if claim.verified)
    return any(claim.quote not in quotes or bool(set(claim.types) - types) for claim in named)
