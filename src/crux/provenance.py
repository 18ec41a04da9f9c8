"""Every sentence of a card opens to message, belief, and the place in the corpus, or says "no source" (CX22)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from crux.claims.judge import BEARING, Pair, Verdict, speaks_for
from crux.quotes import sentences
from crux.results import CardNotes, CruxCard, Place, SentenceSource

if TYPE_CHECKING:
    from crux.crux_room import CruxRoom

#: What is judged for a sentence: messages that were cited or are nearest, and sentences of the texts.
_MESSAGES, _PLACES = 2, 1
#: Nearer than this in its words a text is worth a judgement; below, they share words by chance.
_LEAST_LIKENESS = 0.05


@dataclass(slots=True)
class _Sought:
    """A sentence whose source is sought, with what may be it: (premise, message id, belief id, place)."""

    part: str
    sentence: str
    persona: str
    candidates: list[tuple[str, str, str, Place | None]] = field(
        default_factory=list[tuple[str, str, str, Place | None]]
    )


async def sources_of(
    card: CruxCard, room: CruxRoom, cites: Mapping[str, Sequence[Sequence[str]]], quoted: Mapping[str, Sequence[Place]]
) -> tuple[tuple[SentenceSource, ...], dict[str, tuple[Place, ...]]]:
    """Return one entry for every sentence, in the order of the card, and the quotations that bear an answer.

    An entry without a source has nothing in it.

    What the model cited, or what is nearest in words, is proposed; what bears the sentence is for the judge to say.

    Args:
        card: the card.
        room: where it comes from.
        cites: under ``"diagnosis"`` and each persona's name, the ids that the model gave for each sentence.
        quoted: by persona, sentences of theirs that are to stand on the card.
    """
    sought = await _all_sought(card, room, cites)
    mask = room.debate.transcript.panel.mask()
    pairs = [Pair(mask(one[0]), mask(each.sentence)) for each in sought for one in each.candidates]
    answer = mask(f"The answer to this question is YES: {card.question}")
    own = [(name, place) for name, places in quoted.items() for place in places]
    pairs += [Pair(mask(place.shown), answer) for _, place in own]
    verdicts = iter(await room.debate.judge.relate(pairs, f"sources-{room.id}"))
    sources = tuple(_sourced(each, [next(verdicts) for _ in each.candidates]) for each in sought)
    return sources, _standing(card, own, list(verdicts))


async def _all_sought(card: CruxCard, room: CruxRoom, cites: Mapping[str, Sequence[Sequence[str]]]) -> list[_Sought]:
    core = [named.message for named in room.outcome.named.values() if named.message]
    sought = [await _sought(room, "question", card.question, "", core)]
    sought += await _each(room, "diagnosis", card.diagnosis, "", cites.get("diagnosis", ()))
    if card.resolution:
        sought += await _each(room, "resolution", card.resolution, "", ())
    for name, side in card.personas.items():
        sought += await _each(room, "reasoning", side.reasoning, name, cites.get(name, ()))
        for part, text in (("falsifier", side.falsifier), ("condition", side.condition)):
            if text:
                sought += await _each(room, part, text, name, ())
    return sought


def _standing(
    card: CruxCard, own: Sequence[tuple[str, Place]], verdicts: Sequence[Verdict]
) -> dict[str, tuple[Place, ...]]:
    """Return the quotations that speak for the answer of their side."""
    stand: dict[str, tuple[Place, ...]] = {name: () for name, _ in own}
    for (name, place), verdict in zip(own, verdicts, strict=True):
        if speaks_for(card.personas[name].position, verdict):
            stand[name] = (*stand[name], place)
    return stand


def texts_alone(card: CruxCard, notes: CardNotes, living: Iterable[str]) -> CruxCard:
    """Return a card on which a living person says only what a text of theirs bears; the notes keep the rest."""
    sides = dict(card.personas)
    for name in living:
        borne = dict.fromkeys(("reasoning", "falsifier", "condition"), "")
        for one in notes.sources:
            if one.persona == name and one.part in borne and one.places:
                borne[one.part] = f"{borne[one.part]} {one.sentence}".strip()
        update = {part: text or None for part, text in borne.items()} | {"reasoning": borne["reasoning"]}
        quotes = tuple(place.quote for place in notes.places.get(name, ())) or None
        sides[name] = sides[name].model_copy(update=update | {"grounding_quotes": quotes})
    return card.model_copy(update={"personas": sides})


def unsourced(sources: Sequence[SentenceSource]) -> list[SentenceSource]:
    """Return the sentences that rest on nothing that was said or written."""
    return [source for source in sources if not source.messages and not source.places]


async def _each(room: CruxRoom, part: str, text: str, name: str, cites: Sequence[Sequence[str]]) -> list[_Sought]:
    """Return the sentences of a part; the n-th has the n-th's citations, and what is over shares the last's."""
    return [
        await _sought(room, part, sentence, name, cites[min(place, len(cites) - 1)] if cites else ())
        for place, sentence in enumerate(sentences(text))
    ]


async def _sought(room: CruxRoom, part: str, sentence: str, name: str, cited: Sequence[str]) -> _Sought:
    sought = _Sought(part, sentence, name)
    spoken = {message.id: message.text for message in room.messages if name in ("", message.persona)}
    likeness = room.debate.groundings[name or room.pair.personas[0]].likeness
    near = sorted(spoken, key=lambda key: -likeness(sentence, spoken[key]))
    near = [key for key in near if likeness(sentence, spoken[key]) >= _LEAST_LIKENESS]
    chosen = list(dict.fromkeys([*(key for key in cited if key in spoken), *near]))[:_MESSAGES]
    sought.candidates += [(spoken[key], key, "", None) for key in chosen]
    for speaker in [name] if name else room.pair.personas:
        grounding = room.debate.groundings[speaker]
        nodes = grounding.nearest_beliefs(sentence, 1)
        places = [(node.id, place) for node in nodes for place in grounding.nearest_places(sentence, node)[:1]]
        places = places or [("", place) for place in await grounding.quotes(sentence, 1)]
        sought.candidates += [(place.quote, "", belief, place) for belief, place in places[:_PLACES]]
    return sought


def _sourced(sought: _Sought, verdicts: Sequence[Verdict]) -> SentenceSource:
    # A question is borne by whatever answers it, either way.
    kinds = BEARING | {"contradicts", "undermines"} if sought.part == "question" else BEARING
    bearing = [one for one, verdict in zip(sought.candidates, verdicts, strict=True) if verdict.kind in kinds]
    return SentenceSource(
        part=sought.part,
        sentence=sought.sentence,
        persona=sought.persona,
        messages=tuple(key for _, key, _, _ in bearing if key),
        beliefs=tuple(belief for _, _, belief, _ in bearing if belief),
        places=tuple(place for _, _, _, place in bearing if place is not None),
    )
