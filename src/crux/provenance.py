"""Every sentence of a card opens to message, belief, and the place in the corpus (CX22)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from crux.quotes import sentences
from crux.results import CruxCard, Place, SentenceSource

if TYPE_CHECKING:
    from crux.crux_room import CruxRoom

_MOST_PLACES = 2


async def sources_of(
    card: CruxCard, room: CruxRoom, cites: Mapping[str, Sequence[Sequence[str]]]
) -> tuple[SentenceSource, ...]:
    """Return one entry for every sentence, in the order of the card.

    Args:
        card: the card.
        room: where it comes from.
        cites: under ``"diagnosis"`` and each persona's name, the ids that the model gave for each sentence.
    """
    core = [named.message for named in room.outcome.named.values()]
    sources = [await _source(room, "question", card.question, "", core)]
    sources += await _each(room, "diagnosis", card.diagnosis, "", cites.get("diagnosis", ()))
    if card.resolution:
        sources += await _each(room, "resolution", card.resolution, "", ())
    for name, side in card.personas.items():
        sources += await _each(room, "reasoning", side.reasoning, name, cites.get(name, ()))
        for part, text in (("falsifier", side.falsifier), ("condition", side.condition)):
            if text:
                sources += await _each(room, part, text, name, ())
    return tuple(sources)


async def _each(
    room: CruxRoom, part: str, text: str, name: str, cites: Sequence[Sequence[str]]
) -> list[SentenceSource]:
    """Return the sentences of a part; the n-th has the n-th's citations, and what is over shares the last's."""
    parts = sentences(text)
    return [
        await _source(room, part, sentence, name, cites[min(place, len(cites) - 1)] if cites else ())
        for place, sentence in enumerate(parts)
    ]


async def _source(room: CruxRoom, part: str, sentence: str, name: str, cited: Sequence[str]) -> SentenceSource:
    spoken = {message.id: message for message in room.messages if message.persona and name in ("", message.persona)}
    messages = tuple(dict.fromkeys(key for key in cited if key in spoken)) or _nearest(room, sentence, name)
    transcript = room.debate.transcript
    beliefs: list[str] = []
    places: list[Place] = []
    for speaker in [name] if name else room.pair.personas:
        grounding = room.debate.groundings[speaker]
        shown = list(dict.fromkeys(belief for key in messages for belief in transcript.beliefs_shown.get(key, ())))
        near = grounding.nearest_beliefs(sentence, 8)
        graph = grounding.persona.beliefs
        behind = [graph.by_id[key] for key in shown if key in graph.by_id] if graph else []
        # Nearest to the sentence among what its speaker was shown; else the first that was shown; else the nearest.
        chosen = ([node for node in near if node in behind] or behind or near)[:1]
        for node in chosen:
            beliefs.append(node.id)
            places += grounding.nearest_places(sentence, node)[:1]
        if not chosen:
            places += await grounding.quotes(sentence, 1)
    return SentenceSource(
        part=part,
        sentence=sentence,
        persona=name,
        messages=messages,
        beliefs=tuple(beliefs),
        places=tuple(places[:_MOST_PLACES]),
    )


def _nearest(room: CruxRoom, sentence: str, name: str) -> tuple[str, ...]:
    """Return the message that says it most nearly, where the model named none."""
    spoken = [message for message in room.messages if message.persona and name in ("", message.persona)]
    if not spoken:
        return ()
    grounding = room.debate.groundings[name or room.pair.personas[0]]
    best = max(enumerate(spoken), key=lambda entry: (grounding.likeness(sentence, entry[1].text), entry[0]))
    return (best[1].id,)
