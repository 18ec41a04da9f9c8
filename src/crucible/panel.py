"""Who sits in a council of records, what each is shown as, and which models answer for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crucible.config import CouncilRole
from crucible.executor.council import is_model_id, panel_models
from crucible.letters import Lettering
from crucible.red_team.prompts import system_prompt
from crucible.schemas import TriageOutput

LETTERS = "P"
"""The first letter of a seat: ids of claims begin with it, those of attachments with A, of objections with O."""

EARLIER = "E"
"""The letter of an earlier answer, where a sentence of it is attacked."""


@dataclass(frozen=True, slots=True)
class CouncilMember:
    """A seat.

    Args:
        label: ``"INDEX:ROLE"``, by its place in the council.
        letter: what models are shown it as; empty for the critic.
        system: what it is told to be.
        models: whom its calls go to, and then its spare; each with those that stand in where nobody serves it.
    """

    label: str
    role: CouncilRole
    letter: str
    system: str
    models: tuple[tuple[str, ...], ...]


def seated(
    triage: TriageOutput, seed: int, default_model: str, panel: Sequence[str]
) -> tuple[tuple[CouncilMember, ...], CouncilMember]:
    """Return the seats that deliberate, and the critic."""
    chosen = panel_models([seat.role for seat in triage.council], panel)
    labels = [f"{number}:{seat.role.value}" for number, seat in enumerate(triage.council)]
    speaking = [
        label for label, seat in zip(labels, triage.council, strict=True) if seat.role is not CouncilRole.RED_TEAM
    ]
    letters = Lettering.of(speaking, triage.loop_grammar.value, seed, LETTERS).names
    members: list[CouncilMember] = []
    for label, seat, model in zip(labels, triage.council, chosen, strict=True):
        hint = seat.model_hint if seat.model_hint and is_model_id(seat.model_hint) else ""
        first = model or hint or default_model
        own = (first,) if model or first == default_model else (first, default_model)
        spare = next((other for other in (*panel, default_model) if other != first), first)
        critic = seat.role is CouncilRole.RED_TEAM
        system = system_prompt(triage.red_team_flavor) if critic else seat.system_prompt
        members.append(CouncilMember(label, seat.role, letters.get(label, ""), system, (own, (spare,))))
    (critic,) = (one for one in members if one.role is CouncilRole.RED_TEAM)
    return tuple(one for one in members if one is not critic), critic
