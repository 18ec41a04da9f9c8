"""From a room to a crux card: extracted, then checked against what was said, written and tracked.

CX5, CX10, CX22.
"""

from __future__ import annotations

import json

from pydantic import BaseModel, Field

from crux.budget import clip, fitting
from crux.crux_room import CruxRoom
from crux.history import judged
from crux.provenance import sources_of, unsourced
from crux.requests import request
from crux.results import CardLabel, CardNotes, CruxCard, DisagreementType, PersonaPosition, Place, Stance
from llm_runtime.messages import CallLabel, Request
from llm_runtime.prompts import Fence, load_prompt
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
        names = {panel.named(side.speaker) for side in answer.sides}
        wanted = " and ".join(map(panel.alias, room.pair.personas))
        if names != set(room.pair.personas):
            return f"sides must be those of {wanted}"
        if any(side.position == "NUANCED" and not side.condition.strip() for side in answer.sides):
            return "a NUANCED position needs its condition"
        return None

    asked = await card_request(room)
    answer = (await ask(room.debate.generate, asked, CardAnswer, check=both_sides)).value
    return await _checked(room, answer)


async def card_request(room: CruxRoom) -> Request:
    """Return the question for a room's card, with real sentences of both corpora to choose quotations from."""
    debate, transcript = room.debate, room.debate.transcript
    label = CallLabel("crux", "card", room.id)
    fence, mask = Fence(transcript.seed, label), transcript.panel.mask()
    named = [
        json.dumps(
            {"speaker": transcript.panel.alias(name), "core": mask(one.core.statement), "type": one.core.type}
            | ({"answers": one.stance} if one.stance else {}),
            ensure_ascii=False,
        )
        for name, one in room.outcome.named.items()
    ]
    offered: list[str] = []
    for name in room.pair.personas:
        places = await offered_quotes(room, name)
        quotes = [place.quote for place in places if mask(place.quote) == place.quote]
        lines = [
            json.dumps({"speaker": transcript.panel.alias(name), "wrote": quote}, ensure_ascii=False)
            for quote in quotes
        ]
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


async def _checked(room: CruxRoom, answer: CardAnswer) -> tuple[CruxCard, CardNotes]:
    transcript = room.debate.transcript
    flags: list[str] = []
    places: dict[str, tuple[Place, ...]] = {}
    personas: dict[str, PersonaPosition] = {}
    dropped = 0
    known = {message.id for message in room.messages}
    for side in sorted(
        answer.sides, key=lambda side: room.pair.personas.index(transcript.panel.named(side.speaker) or "")
    ):
        name = transcript.panel.named(side.speaker) or ""
        corpus = transcript.panel.by_name[name].corpus
        quoted = [place for quote in side.quotes if (place := corpus.find(quote)) is not None]
        dropped += len(side.quotes) - len(quoted)
        places[name] = tuple(dict.fromkeys(quoted))[:_MOST_QUOTES]
        own = {message.id for message in room.messages if message.persona == name}
        cited = tuple(dict.fromkeys(key for key in side.messages if key in own))
        if not cited:
            flags.append(f"the label of {name} cites no message of theirs")
        expected = expected_label(room, name)
        if expected is not None and "NUANCED" not in (expected, side.position) and expected != side.position:
            flags.append(f"the label of {name} is {side.position}; the last tracked position was {expected}")
        personas[name] = PersonaPosition(
            position=side.position,
            reasoning=" ".join(" ".join(one.sentence.split()) for one in side.reasoning),
            falsifier=_named(room, side.falsifier) or None,
            grounding_quotes=tuple(place.quote for place in places[name]) or None,
            condition=" ".join(side.condition.split()) or None,
            messages=cited,
        )
    labels = {position.position for position in personas.values()}
    resolved = answer.resolved and room.outcome.converged and len(labels) == 1
    if answer.resolved and not resolved:
        flags.append("said to be resolved, and the sides do not answer alike")
    if resolved and not _earned_in(room):
        flags.append("resolved without an earned concession")
    card = CruxCard(
        id=f"{transcript.debate_id}-{room.id}",
        question=_named(room, answer.question),
        disagreement_type=answer.disagreement_type,
        diagnosis=_named(room, " ".join(one.sentence for one in answer.diagnosis)),
        resolved=resolved,
        resolution=_named(room, answer.resolution) or None,
        personas={
            name: position.model_copy(
                update={
                    "reasoning": _named(room, position.reasoning),
                    "condition": _named(room, position.condition) if position.condition else None,
                }
            )
            for name, position in personas.items()
        },
        source_aspect=room.aspect.id,
        source_messages=tuple(
            key for message in room.messages if (key := message.id) in known and message.phase != "evidence"
        ),
        crux_room_id=room.id,
        timestamp=transcript.clock(),
    )
    cites = {
        "diagnosis": [one.messages for one in answer.diagnosis],
        **{
            transcript.panel.named(side.speaker) or "": [one.messages for one in side.reasoning]
            for side in answer.sides
        },
    }
    sources = await sources_of(card, room, cites)
    empty = unsourced(sources)
    flags += [
        f"the falsifier of {source.persona} was proposed by the card writer"
        for source in empty
        if source.part == "falsifier"
    ]
    if empty:
        flags.append(f"{len(empty)} of {len(sources)} sentences have no source")
    notes = CardNotes(
        card_id=card.id,
        flags=tuple(flags),
        dropped_quotes=dropped,
        places=places,
        sources=sources,
    )
    return card, notes


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
