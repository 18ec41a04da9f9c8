"""From a room to a crux card: extracted, then checked against what was said, written and tracked.

CX5, CX10, CX22.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import BaseModel, Field

from crux.behaviour import BEHAVIOUR
from crux.budget import clip, fitting
from crux.crux_room import CruxRoom
from crux.history import judged
from crux.provenance import sources_of, texts_alone, unsourced
from crux.requests import entry_line, request
from crux.results import (
    CardLabel,
    CardNotes,
    CruxCard,
    DisagreementType,
    PersonaPosition,
    Place,
    SentenceSource,
    Stance,
)
from llm_runtime.messages import CallLabel, Request
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct
from llm_runtime.structured import ask

_SAID_TOKENS = 2_400
_QUOTES = 6
_QUOTES_TOKENS = 450
_MOST_QUOTES = 3


class Sentence(BaseModel):
    """A sentence with the messages that it rests on."""

    sentence: str = Field(min_length=1, max_length=1_500)
    messages: list[str] = Field(default_factory=list, max_length=20)


class Side(BaseModel):
    """One speaker's side as the model reads it."""

    speaker: str
    position: CardLabel
    condition: str = Field(default="", max_length=1_500)
    messages: list[str] = Field(default_factory=list, max_length=20)
    reasoning: list[Sentence] = Field(min_length=1, max_length=6)
    falsifier: str = Field(default="", max_length=1_500)
    quotes: list[str] = Field(default_factory=list, max_length=12)


class CardAnswer(BaseModel):
    """The answer."""

    question: str = Field(min_length=8, max_length=1_000)
    disagreement_type: DisagreementType
    diagnosis: list[Sentence] = Field(min_length=1, max_length=4)
    resolved: bool
    resolution: str = Field(default="", max_length=2_000)
    sides: list[Side] = Field(min_length=2, max_length=2)


async def extract_card(room: CruxRoom) -> tuple[CruxCard, CardNotes]:
    """Write the card of a finished room.

    Raises:
        StructuredOutputError, CallError: no usable answer, even when asked again.
    """
    panel = room.debate.transcript.panel

    def both_sides(answer: CardAnswer) -> str | None:
        if {panel.named(side.speaker) for side in answer.sides} != set(room.pair.personas):
            return f"sides must be those of {' and '.join(map(panel.alias, room.pair.personas))}"
        if any(side.position == "NUANCED" and not side.condition.strip() for side in answer.sides):
            return "a NUANCED position needs its condition"
        return None

    answer = (await ask(room.debate.generate, await card_request(room), CardAnswer, check=both_sides)).value
    return await _checked(room, answer)


async def card_request(room: CruxRoom) -> Request:
    """Return the question for a room's card, with real sentences of both corpora to choose quotations from."""
    debate, transcript = room.debate, room.debate.transcript
    label = CallLabel("crux", "card", room.id)
    fence, mask = Fence(transcript.seed, label), transcript.panel.mask()
    named: list[str] = []
    for name, one in room.outcome.named.items():
        core = {"speaker": transcript.panel.alias(name), "core": mask(one.core.statement), "type": one.core.type}
        named.append(entry_line(**core, **({"answers": one.stance} if one.stance else {})))
    offered: list[str] = []
    for name in room.pair.personas:
        quotes = [place.quote for place in await offered_quotes(room, name) if mask(place.quote) == place.quote]
        lines = [entry_line(speaker=transcript.panel.alias(name), wrote=quote) for quote in quotes]
        offered += fitting(lines, _QUOTES_TOKENS)
    text = load_prompt("crux", "card").render(
        topic=fence("DEBATE QUESTION", clip(mask(transcript.topic), 400)),
        question=fence("QUESTION OF THE ROOM", mask(room.question)),
        said=fence("WHAT WAS SAID", judged(room.messages, mask, _SAID_TOKENS)),
        named=fence("CORE AS EACH SIDE NAMED IT", "\n".join(named) or "neither side named one"),
        quotes=fence("SENTENCES FROM THEIR OWN WRITINGS", "\n".join(offered) or "none"),
        outcome="Both named the same thing."
        if room.outcome.converged
        else "They did not come to name the same thing: `resolved` is false.",
    )
    return request(debate.config.models, "card", label, text)


async def offered_quotes(room: CruxRoom, name: str) -> list[Place]:
    """Return the sentences of a person's corpus nearest to the room's question, its core and their words there."""
    spoken = [message.text for message in room.messages if message.persona == name]
    core = [one.core.statement for who, one in room.outcome.named.items() if who == name]
    claim = " ".join([room.question, *core, *spoken[:1], *spoken[-1:]])
    return await room.debate.groundings[name].quotes(claim, _QUOTES)


def _cited(sentences: Sequence[Sentence]) -> list[list[str]]:
    return [one.messages for one in sentences]


async def _checked(room: CruxRoom, answer: CardAnswer) -> tuple[CruxCard, CardNotes]:
    """Return the card of an answer, and what of it code does not bear out."""
    panel = room.debate.transcript.panel
    by_name = {panel.named(side.speaker) or "": side for side in answer.sides}
    sides = [_Sided.of(room, name, by_name[name]) for name in room.pair.personas]
    places = {side.name: side.places for side in sides}
    card = _card(room, answer, {side.name: side.position for side in sides})
    cites = {name: _cited(side.reasoning) for name, side in by_name.items()} | {"diagnosis": _cited(answer.diagnosis)}
    people = [] if BEHAVIOUR.before(6) else [panel.by_name[name] for name in by_name]
    living = {one.name: places[one.name] for one in people if not one.contract.invented}
    sources, stand = await sources_of(card, room, cites, living)
    notes = CardNotes(
        card_id=card.id,
        flags=tuple(_flags(room, answer, card, sides, sources)),
        dropped_quotes=sum(side.dropped + len(side.places) - len((places | stand)[side.name]) for side in sides),
        places=places | stand,
        sources=sources,
        texts={one.name: len(one.corpus.items) for one in people},
    )
    return texts_alone(card, notes, living), notes


class _Sided(Struct):
    """One side of a card as far as code bears it out: its quotations are in the texts, its messages are its own."""

    name: str
    position: PersonaPosition
    places: tuple[Place, ...]
    dropped: int
    flags: tuple[str, ...]

    @classmethod
    def of(cls, room: CruxRoom, name: str, side: Side) -> _Sided:
        """Check what the card writer says of a side."""
        quoted = list(filter(None, map(room.debate.transcript.panel.by_name[name].corpus.find, side.quotes)))
        places = tuple(dict.fromkeys(quoted))[:_MOST_QUOTES]
        own = {message.id for message in room.messages if message.persona == name}
        position = PersonaPosition(
            position=side.position,
            reasoning=_named(room, " ".join(" ".join(one.sentence for one in side.reasoning).split())),
            falsifier=_named(room, side.falsifier) or None,
            grounding_quotes=tuple(place.quote for place in places) or None,
            condition=_named(room, " ".join(side.condition.split())) or None,
            messages=tuple(dict.fromkeys(key for key in side.messages if key in own)),
        )
        return cls(name, position, places, len(side.quotes) - len(quoted), tuple(_doubts(room, name, position)))


def _doubts(room: CruxRoom, name: str, said: PersonaPosition) -> Iterator[str]:
    if not said.messages:
        yield f"the label of {name} cites no message of theirs"
    expected = expected_label(room, name)
    if expected is not None and "NUANCED" not in (expected, said.position) and expected != said.position:
        yield f"the label of {name} is {said.position}; the last tracked position was {expected}"


def _flags(
    room: CruxRoom, answer: CardAnswer, card: CruxCard, sides: list[_Sided], sources: Sequence[SentenceSource]
) -> Iterator[str]:
    for side in sides:
        yield from side.flags
    if answer.resolved and not card.resolved:
        yield "said to be resolved, and the sides do not answer alike"
    if card.resolved and not _earned_in(room):
        yield "resolved without an earned concession"
    empty = unsourced(sources)
    for source in empty:
        if source.part == "falsifier":
            yield f"the falsifier of {source.persona} was proposed by the card writer"
    if empty:
        yield f"{len(empty)} of {len(sources)} sentences have no source"


def _card(room: CruxRoom, answer: CardAnswer, personas: dict[str, PersonaPosition]) -> CruxCard:
    transcript, alike = room.debate.transcript, len({one.position for one in personas.values()}) == 1
    return CruxCard(
        id=f"{transcript.debate_id}-{room.id}",
        question=_named(room, answer.question),
        disagreement_type=answer.disagreement_type,
        diagnosis=_named(room, " ".join(one.sentence for one in answer.diagnosis)),
        resolved=answer.resolved and room.outcome.converged and alike,
        resolution=_named(room, answer.resolution) or None,
        personas=personas,
        source_aspect=room.aspect.id,
        source_messages=tuple(message.id for message in room.messages if message.phase != "evidence"),
        crux_room_id=room.id,
        timestamp=transcript.clock(),
    )


def expected_label(room: CruxRoom, name: str) -> Stance | None:
    """Return how a person last answered the card's question: at convergence, else on the room's; else None.

    The card is worded like the first side's question; where the second side's is its denial, its answer is turned.
    """
    named = room.outcome.named.get(name)
    if not room.outcome.converged or named is None or named.stance is None:
        return None
    if name == room.pair.personas[1] and room.outcome.opposite_wording:
        turned: dict[Stance, Stance] = {"YES": "NO", "NO": "YES"}
        return turned.get(named.stance, named.stance)
    return None if named.stance == "NONE" else named.stance


def _earned_in(room: CruxRoom) -> bool:
    ids = {message.id for message in room.messages}
    return any(entry.earned and entry.message in ids for entry in room.debate.transcript.ledger)


def _named(room: CruxRoom, text: str) -> str:
    """Return a judge's text with real names in place of letters: cards are for people."""
    return " ".join(room.debate.transcript.panel.named_text(text).split())
