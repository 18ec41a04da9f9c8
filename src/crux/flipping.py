"""Is it really a crux? Grant the other answer, several times, beside a premise that means nothing (CX21).

A double crux is a question such that each side would change its answer to the topic if it changed its answer to
the question (the term and the test are from applied rationality: Sabien 2017, "Double Crux"). A placebo tells a
side that moves for the premise from one that moves for whatever is granted.
"""

from __future__ import annotations

from math import ceil

from crux.behaviour import BEHAVIOUR
from crux.panel_turns import closing_plan
from crux.positions import read_position
from crux.results import CruxCard, CruxKind, FlipTally, PersonaPosition, Stance
from crux.transcript import TOPIC
from crux.turns import DebateContext, Spoken

PLACEBO = "Does a town hall clock in another country strike the quarter hours?\nIt is settled that the answer is YES."


async def flip_test(debate: DebateContext, card: CruxCard) -> tuple[CruxKind, dict[str, FlipTally]]:
    """Close again with the other answer granted, and with the placebo, as often as the settings say.

    "double crux" where both sides flip, "single crux" where one does, "not a crux" where neither does; "not tested"
    where the two did not close with opposite answers, or gave no usable one. A side flips where two thirds of its
    samples have the opposite label, and none of those under the placebo has another; NUANCED is weakened, no flip.

    Raises:
        BudgetExceeded, DeadlineExceeded: as the model function raises them.
    """
    closed: dict[str, Stance | None] = {name: _closing(debate, name) for name in card.personas}
    if set(closed.values()) != {"YES", "NO"}:
        return "not tested", {}
    first = BEHAVIOUR.before(2)
    samples = 1 if first else debate.config.flip_samples
    plans = [
        closing_plan(debate, name, premise, f"{card.crux_room_id}{mark}", sample)
        for name, side in card.personas.items()
        for premise, mark in ((supposition(card.question, side), ""), *(() if first else ((PLACEBO, "-placebo"),)))
        for sample in range(1, samples + 1)
    ]
    labels: list[Stance | None] = []
    for turn in await debate.side_by_side(plans):
        if isinstance(turn, Exception):
            raise turn
        labels.append(read_position(turn.answer.state.position)[0] if isinstance(turn, Spoken) else None)
    tallies: dict[str, FlipTally] = {}
    for place, (name, before) in enumerate(closed.items()):
        many = len(plans) // len(closed)
        own = labels[place * many : (place + 1) * many]
        tallies[name] = _tally(before, own[:samples], own[samples:] or own if first else own[samples:])
    if any(tally.answered < samples for tally in tallies.values()):
        return "not tested", tallies
    kinds: tuple[CruxKind, CruxKind, CruxKind] = ("not a crux", "single crux", "double crux")
    return kinds[sum(one.flips >= ceil(2 * samples / 3) and not one.placebo for one in tallies.values())], tallies


def _closing(debate: DebateContext, name: str) -> Stance | None:
    stance = debate.transcript.last_stance(name, TOPIC)
    return stance.stance if stance else None


def _tally(before: Stance | None, granted: list[Stance | None], placebo: list[Stance | None]) -> FlipTally:
    turned = {"YES": "NO", "NO": "YES"}.get(before or "")
    return FlipTally(
        samples=len(granted),
        answered=min(len(list(filter(None, granted))), len(list(filter(None, placebo)))),
        flips=sum(label == turned for label in granted),
        weakened=sum(label == "NUANCED" for label in granted),
        placebo=sum(label not in (before, None) for label in placebo),
    )


def supposition(question: str, side: PersonaPosition) -> str:
    """Return what is granted against a side: the opposite answer; for NUANCED, that its condition does not hold."""
    if side.position == "NUANCED":
        condition = side.condition or "as stated"
        return f"{question}\nIt is settled that the condition for this person's answer does not hold: {condition}"
    return f"{question}\nIt is settled that the answer is {'NO' if side.position == 'YES' else 'YES'}."
