"""Debate quality: coverage, compression, shifts, sycophancy."""

from __future__ import annotations

from collections.abc import Sequence

from crux.measurement.share import Share, share
from crux.measurement.words import Rarity
from crux.personas.persona import Persona
from crux.results import CamelModel, DebateResult


class Compression(CamelModel):
    """One room: how specific the claim was that opened it, and the card's question that came out.

    ``ratio`` is specificity(question) / specificity(claim), with :class:`~crux.measurement.words.Rarity`; above 1
    the room narrowed the disagreement. None where either has no words.
    """

    card: str
    claim: str
    question: str
    ratio: float | None


class Sycophancy(CamelModel):
    """Agreements without a named reason, over all agreements.

    An agreement is a ledger entry, or a message that says it agrees. It is unearned if its entry is, or if it has
    none. ``rate`` is 0 where nobody agreed to anything: a stubborn agent is not a sycophant.
    """

    agreements: int
    unearned: int
    rate: float


class DebateQuality(CamelModel):
    """The first table.

    Args:
        topic_coverage: aspects with at least one message, over all aspects.
        voices: messages of the takes over aspects times personas: who was silent in a round.
        compression: one entry a card; ``mean_compression`` is the mean of the ratios there are.
        shift_rate: personas whose label on the topic differs from opening to closing, over those who gave both.
        earned_shifts: of these shifts, those that the ledger holds to be earned.
        mean_drift: mean distance between opening and closing texts, 0 to 1; drift and not a shift (CX11).
        sycophancy: of everybody together; ``by_persona`` of each.
    """

    topic_coverage: Share
    voices: Share
    compression: tuple[Compression, ...]
    mean_compression: float | None
    shift_rate: Share
    earned_shifts: Share
    mean_drift: float | None
    sycophancy: Sycophancy
    by_persona: dict[str, Sycophancy]


def debate_quality(result: DebateResult, personas: Sequence[Persona]) -> DebateQuality:
    """Return the first table, from a result and the personas that debated."""
    spoken = {message.aspect for message in result.messages if message.phase == "take"}
    takes = {(message.aspect, message.persona) for message in result.messages if message.phase == "take"}
    compression = _compression(result, personas)
    ratios = [one.ratio for one in compression if one.ratio is not None]
    drifts = [shift.drift for shift in result.shifts if shift.drift is not None]
    return DebateQuality(
        topic_coverage=share(aspect.id in spoken for aspect in result.aspects),
        voices=share((aspect.id, name) in takes for aspect in result.aspects for name in result.personas),
        compression=compression,
        mean_compression=sum(ratios) / len(ratios) if ratios else None,
        shift_rate=share(shift.shifted for shift in result.shifts),
        earned_shifts=share(bool(shift.earned) for shift in result.shifts if shift.shifted),
        mean_drift=sum(drifts) / len(drifts) if drifts else None,
        sycophancy=sycophancy(result),
        by_persona={name: sycophancy(result, name) for name in result.personas},
    )


def sycophancy(result: DebateResult, persona: str | None = None) -> Sycophancy:
    """Return the sycophancy of one persona, or of all."""
    entries = {entry.message: entry.earned for entry in result.ledger if persona in (None, entry.persona)}
    flagged = {
        message.id: False
        for message in (*result.messages, *result.room_messages)
        if persona in (None, message.persona) and "agrees without a named reason" in message.flags
    }
    agreements = flagged | entries
    unearned = sum(not earned for earned in agreements.values())
    return Sycophancy(
        agreements=len(agreements),
        unearned=unearned,
        rate=unearned / len(agreements) if agreements else 0.0,
    )


def _compression(result: DebateResult, personas: Sequence[Persona]) -> tuple[Compression, ...]:
    rarity = Rarity([chunk.text for persona in personas for chunk in persona.corpus.chunks])
    compressions: list[Compression] = []
    for card in result.cards:
        claim = next(
            (one.claim for one in result.candidates if set(one.personas) == set(card.personas) and one.clashes), ""
        )
        before, after = rarity.specificity(claim), rarity.specificity(card.question)
        ratio = after / before if before and after else None
        compressions.append(Compression(card=card.id, claim=claim, question=card.question, ratio=ratio))
    return tuple(compressions)
