"""Round 1: each seat judges alone, by a plain question, so that what dialogue adds can be measured.

Nothing here names a pattern or hints at one: that would spoil the baseline.
"""

from __future__ import annotations

from fire_circle.behaviour import BEHAVIOUR
from fire_circle.case import Case
from fire_circle.config import EvaluationConfig
from fire_circle.layers import Layer
from fire_circle.seats import Seat
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct


class JudgedLayer(Struct):
    """A layer of a case, as all its judges are asked about it; nonces derive from the seed."""

    case: Case
    layer: Layer
    settings: EvaluationConfig
    seed: int


def polarity(policy: str = "") -> str:
    """Return what T, I and F mean, and the team's own criterion: a part of every judge's prompt (FC1)."""
    scores = load_prompt("fire_circle", "polarity").text
    if not policy.strip():
        return scores
    # Behind a bar no line of it can be taken for a part of ours.
    lines = "\n".join(f"| {line}" for line in policy.strip().splitlines())
    return f"{scores}\n\n{load_prompt('fire_circle', 'policy').render(policy=lines)}"


def judge_role(policy: str = "") -> str:
    """Return who a judge is, for every seat but the chair."""
    return load_prompt("fire_circle", "judge").render(polarity=polarity(policy))


def judge_request(seat: Seat, label: CallLabel, role: str, text: str, settings: EvaluationConfig) -> Request:
    """Return a judge's request: its role as the system's words, the round's question as the user's."""
    messages, bound = (Message("system", role), Message("user", text)), settings.max_tokens
    return Request(seat.model, messages, label, temperature=settings.temperature, max_tokens=bound)


def request_id(fence: Fence, case: Case) -> str:
    """Return the id that an answer must name: nobody could foresee it, and nothing that is shown holds it."""
    return "" if BEHAVIOUR.before(4) else fence.token("\n".join(case.texts), "|request")[:8]


def baseline_request(
    seat: Seat, subject: JudgedLayer, *, phase: str = "baseline", number: int = 1
) -> tuple[Request, str]:
    """Return the question of round 1, and its id; ``phase="single"`` asks the same where there is no circle."""
    label, layer = CallLabel("fire_circle", phase, seat.label, number), subject.layer
    fence = Fence(subject.seed, label)
    named = request_id(fence, subject.case)
    bound = {"request": named} if named else {}
    shown = subject.case.show(fence, layer)
    text = load_prompt("fire_circle", "baseline").render(case=shown, layer_name=layer.name, **bound)
    return judge_request(seat, label, judge_role(subject.settings.policy), text, subject.settings), named
