"""Persona quality: voice, consistency, differentiation, grounding."""

from __future__ import annotations

from collections.abc import Sequence

from crux.measurement.attribution import Attribution, attribute, tell_apart
from crux.measurement.share import Share, share
from crux.personas.persona import Persona
from crux.results import CamelModel, DebateResult


class PersonaQuality(CamelModel):
    """The second table.

    Args:
        voice_fidelity: utterances that a classifier trained on the corpora (character 3-grams) gives to their
            speaker. A stand-in for "who said this?", which people answer on a blind sheet.
        line_to_line: of each two consecutive stances of a persona on one question, those that agree or are joined
            by an earned concession (after Abdulhai et al. 2025, arXiv:2511.00222, which asks a judge).
        unexplained: ids of the messages that break a line.
        reasoning_differentiation: leave-one-out naming of the speaker from the reasons (``challenge``, ``because``,
            ``position``) and the beliefs used, not the utterance, against shuffled labels (after the LOT
            classifier, arXiv:2509.24147).
        corpus_grounding: sides of cards with at least one quotation that stands in that person's corpus.
        quotes: quotations on cards that stand verbatim in the corpus, over all on cards; below 1 is a fault.
        on_record: stances on questions that something on record bears on, over all stances.
    """

    voice_fidelity: Attribution
    line_to_line: Share
    unexplained: tuple[str, ...]
    reasoning_differentiation: Attribution
    corpus_grounding: Share
    quotes: Share
    on_record: Share


def persona_quality(
    result: DebateResult,
    personas: Sequence[Persona],
    *,
    beliefs_used: dict[str, Sequence[str]] | None = None,
    seed: int = 0,
) -> PersonaQuality:
    """Return the second table.

    Args:
        beliefs_used: by message id, the ids of the belief nodes that its speaker was shown (``crux.turn_taken``).
        seed: of the shuffles.
    """
    by_name = {persona.name: persona for persona in personas}
    messages = [m for m in (*result.messages, *result.room_messages) if m.persona in by_name]
    passages = [(name, chunk.text) for name, persona in by_name.items() for chunk in persona.corpus.chunks]
    lines = _lines(result)
    sides = [(name, side) for card in result.cards for name, side in card.personas.items() if name in by_name]
    quotes = [(name, quote) for name, side in sides for quote in side.grounding_quotes or ()]
    reasons = [
        (s.persona, " ".join([s.position, s.challenge, s.because, *(beliefs_used or {}).get(s.message, ())]))
        for s in result.stances
    ]
    return PersonaQuality(
        voice_fidelity=attribute(passages, [(message.persona, message.text) for message in messages]),
        line_to_line=share(held for _, held in lines),
        unexplained=tuple(message for message, held in lines if not held),
        reasoning_differentiation=tell_apart(reasons, seed=seed),
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
