"""Persona quality: consistency and grounding."""

from __future__ import annotations

from collections.abc import Sequence

from crux.measurement.share import Share, share
from crux.personas.persona import Persona
from crux.results import CamelModel, DebateResult


class PersonaQuality(CamelModel):
    """The second table.

    Args:
        line_to_line: of each two consecutive stances of a persona on one question, those that agree or are joined
            by an earned concession (after Abdulhai et al. 2025, arXiv:2511.00222, which asks a judge).
        unexplained: ids of the messages that break a line.
        corpus_grounding: sides of cards with at least one quotation that stands in that person's corpus.
        quotes: quotations on cards that stand verbatim in the corpus, over all on cards; below 1 is a fault.
        on_record: stances on questions that something on record bears on, over all stances.
    """

    line_to_line: Share
    unexplained: tuple[str, ...]
    corpus_grounding: Share
    quotes: Share
    on_record: Share


def persona_quality(result: DebateResult, personas: Sequence[Persona]) -> PersonaQuality:
    """Return the second table."""
    by_name = {persona.name: persona for persona in personas}
    lines = _lines(result)
    sides = [(name, side) for card in result.cards for name, side in card.personas.items() if name in by_name]
    quotes = [(name, quote) for name, side in sides for quote in side.grounding_quotes or ()]
    return PersonaQuality(
        line_to_line=share(held for _, held in lines),
        unexplained=tuple(message for message, held in lines if not held),
        corpus_grounding=share(
            any(by_name[name].corpus.find(quote) for quote in side.grounding_quotes or ()) for name, side in sides
        ),
        quotes=share(by_name[name].corpus.find(quote) is not None for name, quote in quotes),
        on_record=share(stance.stance != "NONE" for stance in result.stances),
    )


def _lines(result: DebateResult) -> list[tuple[str, bool]]:
    """Return each stance that follows one of the same persona on the same question, and whether the line holds."""
    earned = {(entry.message, entry.question): entry.earned for entry in result.ledger}
    last: dict[tuple[str, str], str] = {}
    checked: list[tuple[str, bool]] = []
    for stance in result.stances:
        key = (stance.persona, stance.question)
        if key in last:
            held = last[key] == stance.stance or earned.get((stance.message, stance.question), False)
            checked.append((stance.message, held))
        last[key] = stance.stance
    return checked
