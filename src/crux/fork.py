"""What one piece of evidence changes: the same beginning, another end, the cards compared (decision 26)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from crux.config import DebateConfig
from crux.debate import Debate
from crux.insight.crux_graph import likeness, same_question
from crux.personas import Persona
from crux.results import CruxCard, DebateResult, Wire
from crux.retrieval import Embedding
from crux.transcript import Evidence
from llm_runtime.clock import now_ms
from llm_runtime.events import Emit, silent
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.replay import Recording
from llm_runtime.wrappers.replaying import replaying


class CardChange(Wire):
    """What became of one card.

    Args:
        change: ``same`` question, answers and outcome; ``moved`` answers or outcome; else ``new`` or ``gone``.
        labels: by persona, the answer before and after.
    """

    change: Literal["same", "moved", "new", "gone"]
    before: str = ""
    after: str = ""
    question: str
    labels: dict[str, tuple[str, str]] = {}
    resolved: tuple[bool, bool] | None = None


class Fork(Wire):
    """A debate and its fork.

    Args:
        replayed: calls that the parent's recording answered: the common beginning, and what else stayed the same.
        asked: calls that were made anew.
        first_new: the label of the first of these; empty where nothing changed.
        cards: what became of each card.
        earned_by_evidence: ids of the turns that name the evidence as what moved them, and were held to be earned.
    """

    result: DebateResult
    replayed: int
    asked: int
    first_new: str
    cards: tuple[CardChange, ...]
    earned_by_evidence: tuple[str, ...]


async def fork_debate(
    parent: DebateResult,
    personas: Sequence[Persona],
    evidence: Sequence[Evidence],
    *,
    recorded: Recording,
    generate: Generate,
    config: DebateConfig | None = None,
    emit: Emit = silent,
    clock: Callable[[], int] = now_ms,
    embedding: Embedding | None = None,
) -> Fork:
    """Hold ``parent`` again with ``evidence`` read out in its rooms.

    Up to the room, every request is the parent's and is answered from its recording; only what the evidence changes
    is asked of ``generate``.

    Args:
        parent: the debate's result: its topic and seed are taken.
        personas: the same, in the same order.
        recorded: the parent's calls.

    Raises:
        As :class:`crux.debate.Debate`, and whatever ``generate`` raises that ends no debate.
    """
    counted = _Counted(generate)
    debate = Debate(
        parent.topic,
        personas,
        generate=replaying(recorded, counted.live),
        config=config,
        emit=emit,
        seed=parent.seed,
        clock=clock,
        evidence=evidence,
        embedding=embedding,
    )
    async for _ in debate.events():
        pass
    result = debate.result()
    ids = {one.id for one in evidence}
    return Fork(
        result=result,
        replayed=result.spend.calls - counted.answered,
        asked=counted.asked,
        first_new=counted.first,
        cards=compare_cards(parent.cards, result.cards),
        earned_by_evidence=tuple(e.message for e in result.ledger if e.earned and e.claim_ref in ids),
    )


def compare_cards(before: Sequence[CruxCard], after: Sequence[CruxCard]) -> tuple[CardChange, ...]:
    """Each card with its counterpart: the same room's if it asks the same, else the most alike that does."""
    left = list(after)
    changes: list[CardChange] = []
    for old in before:
        alike = [card for card in left if same_question(old.question, card.question)]
        new = max(
            alike,
            key=lambda card: (card.crux_room_id == old.crux_room_id, likeness(old.question, card.question)),
            default=None,
        )
        if new is None:
            changes.append(CardChange(change="gone", before=old.id, question=old.question))
            continue
        left.remove(new)
        changes.append(_change(old, new))
    changes += [CardChange(change="new", after=card.id, question=card.question) for card in left]
    return tuple(changes)


def _change(old: CruxCard, new: CruxCard) -> CardChange:
    labels = {
        name: (old.personas[name].position, new.personas[name].position)
        for name in old.personas
        if name in new.personas
    }
    moved = any(first != second for first, second in labels.values()) or old.resolved != new.resolved
    return CardChange(
        change="moved" if moved else "same",
        before=old.id,
        after=new.id,
        question=new.question,
        labels=labels,
        resolved=(old.resolved, new.resolved),
    )


class _Counted:
    """The live model, counted."""

    def __init__(self, generate: Generate) -> None:
        self._generate = generate
        self.asked = 0
        self.answered = 0
        self.first = ""

    async def live(self, request: Request) -> Reply:
        self.asked += 1
        self.first = self.first or str(request.label)
        reply = await self._generate(request)
        self.answered += 1
        return reply
