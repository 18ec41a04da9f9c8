"""Who sits in a council of records, what each is shown as, and which models answer for it."""

from __future__ import annotations

from collections.abc import Sequence

from crucible.config import CouncilRole
from crucible.executor.council import own_models, panel_models
from crucible.letters import Lettering
from crucible.red_team.prompts import system_prompt
from crucible.schemas import TriageOutput
from llm_runtime.structs import Struct

LETTERS = "P"
"""The first letter of a seat: ids of claims begin with it, those of attachments with A, of objections with O."""

EARLIER = "E"
"""The letter of an earlier answer, where a sentence of it is attacked."""


class CouncilMember(Struct):
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
    labels = {f"{number}:{seat.role.value}": seat for number, seat in enumerate(triage.council)}
    (attacks,) = (label for label, seat in labels.items() if seat.role is CouncilRole.RED_TEAM)
    deliberating = [label for label in labels if label != attacks]
    letters = Lettering.of(deliberating, triage.loop_grammar.value, seed, LETTERS).names
    members: dict[str, CouncilMember] = {}
    for (label, seat), model in zip(labels.items(), chosen, strict=True):
        system = system_prompt(triage.red_team_flavor) if label == attacks else seat.system_prompt
        models = _models(model, seat.model_hint or "", default_model, panel)
        members[label] = CouncilMember(label, seat.role, letters.get(label, ""), system, models)
    critic = members.pop(attacks)
    return tuple(members.values()), critic


def _models(chosen: str, hint: str, default_model: str, panel: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    own = own_models(chosen, hint, default_model)
    return own, (next((other for other in (*panel, default_model) if other != own[0]), own[0]),)
