"""The turns of the whole panel: opening, take, closing, taken side by side."""

from __future__ import annotations

from crux.history import View
from crux.results import DebateAspect
from crux.transcript import TOPIC
from crux.turns import DebateContext, TurnAnswer, TurnPlan
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence


def opening_plan(debate: DebateContext, name: str) -> TurnPlan[TurnAnswer]:
    """Plan the overall stance; nobody has spoken."""
    return TurnPlan(
        persona=name,
        task="opening",
        label=CallLabel("crux", "opening", debate.transcript.panel.seat(name)),
        answer=TurnAnswer,
        question=TOPIC,
        claim=_whole_question(debate),
        about=(debate.transcript.topic,),
        context=lambda view, tokens: ([view.topic()], []),
    )


def take_plan(debate: DebateContext, name: str, aspect: DebateAspect, number: int) -> TurnPlan[TurnAnswer]:
    """Plan a view on one aspect; of earlier rounds the speaker knows summaries and what concerned them."""
    panel = debate.transcript.panel
    label = CallLabel("crux", "take", panel.seat(name), number)
    seen = panel.mask(name).others(f"{aspect.label}\n{aspect.description}")
    return TurnPlan(
        persona=name,
        task="take",
        label=label,
        answer=TurnAnswer,
        question=aspect.id,
        claim=f"{aspect.label} {aspect.description}",
        about=(f"{aspect.label} {aspect.description}",),
        context=_concerned,
        fills={"number": str(number), "aspect": Fence(debate.transcript.seed, label)("ASPECT", seen)},
    )


def closing_plan(
    debate: DebateContext, name: str, supposition: str = "", attempt: str = "", sample: int = 1
) -> TurnPlan[TurnAnswer]:
    """Plan the final position; with a supposition, the same turn with something granted, once more (CX21)."""
    seat = debate.transcript.panel.seat(name)
    phase, place = ("flip_test", f"{seat}@{attempt}") if supposition else ("closing", seat)
    label = CallLabel("crux", phase, place, sample - 1)
    shown = debate.transcript.panel.mask(name).others(supposition)
    return TurnPlan(
        persona=name,
        task="closing",
        prompt="closing_supposing" if supposition else "",
        label=label,
        answer=TurnAnswer,
        question=TOPIC,
        claim=f"{_whole_question(debate)} {supposition}",
        about=(debate.transcript.topic,),
        context=_concerned,
        fills={"supposition": Fence(debate.transcript.seed, label)("SUPPOSITION", shown)} if supposition else {},
    )


def _whole_question(debate: DebateContext) -> str:
    """Return what bears on the topic: few words in itself, and more with what it was broken into."""
    return " ".join([debate.transcript.topic, *(aspect.label for aspect in debate.transcript.aspects)])


def _concerned(view: View, tokens: int) -> tuple[list[str], list[str]]:
    """Return all tiers, and of the messages the speaker's own and the attacks on them."""
    return view.panel_context(view.about_viewer(), tokens)
