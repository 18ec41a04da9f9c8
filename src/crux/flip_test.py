"""Is it really a crux? Negate the premise and close again (CX21).

A double crux is a question such that each side would change its answer to the topic if it changed its answer to the
question (the term and the test are from applied rationality: Sabien 2017, "Double Crux").
"""

from __future__ import annotations

from crux.panel_turns import closing_plan
from crux.positions import read_position
from crux.results import CruxCard, CruxKind, PersonaPosition
from crux.transcript import TOPIC
from crux.turns import DebateContext, Spoken


async def flip_test(debate: DebateContext, card: CruxCard) -> CruxKind:
    """Rerun both closing turns with the other answer to the card's question granted.

    "double crux" where both sides then answer the topic otherwise than they closed, "single crux" where one does,
    "not a crux" where neither does; "not tested" where a side did not close, or gave no usable answer.

    Raises:
        BudgetExceeded, DeadlineExceeded: as the model function raises them.
    """
    closed = {
        name: next(
            (s.stance for s in reversed(debate.transcript.stances) if s.persona == name and s.question == TOPIC),
            None,
        )
        for name in card.personas
    }
    plans = [
        closing_plan(debate, name, supposition(card.question, side), card.crux_room_id)
        for name, side in card.personas.items()
    ]
    moved = 0
    for turn in await debate.side_by_side(plans):
        if isinstance(turn, Exception):
            raise turn
        if not isinstance(turn, Spoken):
            return "not tested"
        label, _ = read_position(turn.answer.state.position)
        before = closed[turn.plan.persona]
        if label is None or before is None:
            return "not tested"
        moved += label != before
    kinds: tuple[CruxKind, CruxKind, CruxKind] = ("not a crux", "single crux", "double crux")
    return kinds[moved]


def supposition(question: str, side: PersonaPosition) -> str:
    """Return what is granted against a side: the opposite answer; for NUANCED, that its condition does not hold."""
    if side.position == "NUANCED":
        condition = side.condition or "as stated"
        return f"{question}\nIt is settled that the condition for this person's answer does not hold: {condition}"
    return f"{question}\nIt is settled that the answer is {'NO' if side.position == 'YES' else 'YES'}."
