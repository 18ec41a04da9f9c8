"""Rounds 2 and later: the seats see each other's judgements, look for patterns, and bring them together.

The chair has its own role and its own questions, not a suffix to the others' (FC12).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fire_circle.baseline import JudgedLayer, judge_request, judge_role, polarity, request_id
from fire_circle.behaviour import BEHAVIOUR
from fire_circle.record import chair_record, first_evaluations, own_last, pattern_record
from fire_circle.results import DialogueRound
from fire_circle.rounds import RoundPlan
from fire_circle.seats import Seat
from llm_runtime.messages import CallLabel, Request
from llm_runtime.prompts import Fence, Prompt, load_prompt


def dialogue_request(
    seat: Seat, plan: RoundPlan, subject: JudgedLayer, history: Sequence[DialogueRound], seats: Sequence[Seat],
    charge: Prompt,
) -> tuple[Request, str]:  # fmt: skip
    """Return what ``seat`` is asked in a round of dialogue, and the id of the question.

    Args:
        history: the finished rounds.
        seats: the whole circle, those that left included: what they said stays in the record.
        charge: the chair's role.
    """
    chaired, case, settings = seat == plan.chair, subject.case, subject.settings
    label = CallLabel("fire_circle", plan.phase, seat.label, plan.number)
    prompt = load_prompt("fire_circle", f"chair_{plan.phase}" if chaired else plan.phase)
    fence = Fence(subject.seed, label)
    named = request_id(fence, case)
    kinds = ("kinds",) if BEHAVIOUR.before(2) else ("kinds", "attacks")
    material: dict[str, Callable[[], str]] = {
        "round": lambda: str(plan.number),
        "standing": lambda: plan.standing,
        "turn_short": lambda: case.turn_short,
        "kinds": lambda: "\n\n".join(load_prompt("fire_circle", name).text for name in kinds),
        "case": lambda: case.show(fence, subject.layer) + case.recall(fence),
        "request": lambda: named,
        "own": lambda: fence("YOUR LAST JUDGEMENT", own_last(history, seat)),
        "record": lambda: fence("ROUND 1 EVALUATIONS", first_evaluations(history, seats, None if chaired else seat)),
        "patterns": lambda: fence("PATTERN OBSERVATIONS", pattern_record(history)),
        "chair": lambda: fence("EMPTY CHAIR", chair_record(history)),
    }
    text = prompt.render(**{name: material[name]() for name in sorted(prompt.placeholders)})
    role = charge.render(polarity=polarity(settings.policy)) if chaired else judge_role(settings.policy)
    return judge_request(seat, label, role, text, settings), named
