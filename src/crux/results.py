"""What a debate leaves behind, under the wire names of the specification.

In Python the fields have Python's names; ``model_dump()`` gives the wire's, with unset optional keys left out.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer
from pydantic.alias_generators import to_camel

from crux.words import WORDS

Phase: TypeAlias = Literal["opening", "take", "clash", "closing"]
RoomPhase: TypeAlias = Literal["position", "exchange", "convergence", "evidence"]
DisagreementType: TypeAlias = Literal["premise", "evidence", "values", "definition", "horizon", "claim"]
CoarseType: TypeAlias = Literal["factual", "values", "definitional"]
CardLabel: TypeAlias = Literal["YES", "NO", "NUANCED"]
Stance: TypeAlias = Literal["YES", "NO", "NUANCED", "NONE"]
"""An answer to a yes/no question; NONE where nothing on record bears on it."""
State: TypeAlias = Literal["running", "finished", "stopped", "failed"]
CruxKind: TypeAlias = Literal["double crux", "single crux", "not a crux", "not tested"]

RESOLVABLE: dict[DisagreementType, str] = WORDS["resolvable"]
"""What further work on each kind of disagreement would be good for."""


class CamelModel(BaseModel):
    """Base of everything that leaves the library as data."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, serialize_by_alias=True
    )

    @model_serializer(mode="wrap")
    def _without_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {key: value for key, value in handler(self).items() if value is not None}


class DebateAspect(CamelModel):
    """A sub-question of the topic. ``label`` is an arguable yes/no question, ``description`` one sentence."""

    id: str
    label: str
    description: str


class DialogueMessage(CamelModel):
    """What a persona said on the panel.

    Args:
        id: ``"m1"``, ``"m2"``, ... in the order of posting, rooms included.
        persona: who said it, by real name.
        aspect: id of the aspect, empty in opening and closing.
        stance: the tracked answer to the question at hand.
        timestamp: milliseconds of the injected clock.
        flags: what the checks found: ``polite phrase``, ``unearned concession``, ``outside the corpus``, ...
    """

    id: str
    persona: str
    text: str
    phase: Phase
    aspect: str = ""
    stance: Stance | None = None
    timestamp: int = 0
    flags: tuple[str, ...] = ()


class CruxMessage(CamelModel):
    """What was said in a crux room; ``turn`` counts from 1, ``persona`` is empty for injected evidence."""

    id: str
    room_id: str
    persona: str
    text: str
    phase: RoomPhase
    turn: int
    stance: Stance | None = None
    timestamp: int = 0
    flags: tuple[str, ...] = ()


Said: TypeAlias = DialogueMessage | CruxMessage
"""What somebody said, to the panel or in a room."""


class DisagreementCandidate(CamelModel):
    """A pair that may disagree, by three booleans.

    The booleans and the pair keep the names that the specification gives them. ``queued`` is False for one that
    found no room (CX3), and unset where no room was called for.
    """

    model_config = ConfigDict(alias_generator=None)

    has_direct_opposition: bool
    has_specific_claim: bool
    topic_relevant: bool
    personas: tuple[str, str]
    claim: str
    queued: bool | None = None

    @property
    def clashes(self) -> bool:
        """Whether all three booleans are true."""
        return self.has_direct_opposition and self.has_specific_claim and self.topic_relevant


class PersonaPosition(CamelModel):
    """One side of a card.

    Args:
        position: the answer to the card's question.
        reasoning: 2-3 sentences.
        falsifier: "I would change my mind if ...".
        grounding_quotes: verbatim substrings of the person's corpus.
        condition: what the answer depends on; always set for NUANCED (CX10).
        messages: ids of the messages that the label rests on.
    """

    position: CardLabel
    reasoning: str
    falsifier: str | None = None
    grounding_quotes: tuple[str, ...] | None = None
    condition: str | None = None
    messages: tuple[str, ...] = ()


class CruxCard(CamelModel):
    """A premise that drives a disagreement. ``timestamp`` is milliseconds of the injected clock."""

    id: str
    question: str
    disagreement_type: DisagreementType
    diagnosis: str
    resolved: bool
    resolution: str | None = None
    personas: dict[str, PersonaPosition]
    source_aspect: str
    source_messages: tuple[str, ...]
    crux_room_id: str
    timestamp: int


class Place(CamelModel):
    """A place in a corpus: ``item.text[start:end] == quote``. ``url`` and ``date`` are the item's.

    ``before`` is the sentence before it, in the same paragraph, where it was looked for and there is one.
    """

    item: str
    start: int
    end: int
    quote: str
    title: str = ""
    date: str = ""
    url: str = ""
    before: str | None = None

    @property
    def shown(self) -> str:
        """The sentence with the one before it: what a judge and a reader are shown."""
        return f"{self.before} {self.quote}" if self.before else self.quote


class SentenceSource(CamelModel):
    """Where one sentence of a card comes from: message, belief, and the place in the text (CX22)."""

    part: str
    sentence: str
    persona: str = ""
    messages: tuple[str, ...] = ()
    beliefs: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()


class FlipTally(CamelModel):
    """How one side closed when the other answer to a card's question was granted.

    Args:
        samples: how often it was asked, under the premise and under the placebo each.
        answered: the smaller number of usable answers of the two.
        flips: answers with the opposite label; ``weakened``, with NUANCED.
        placebo: answers under the placebo with another label than before.
    """

    samples: int
    answered: int
    flips: int
    weakened: int
    placebo: int


class CardNotes(CamelModel):
    """What is known about a card beside its own fields.

    Args:
        kind: what the flip test found (CX21).
        flags: contradictions between the card and what was tracked.
        dropped_quotes: quotes that stand nowhere in the person's corpus; they are not on the card.
        sources: one entry for every sentence of the card.
        places: by persona, where each of the card's quotes stands.
        flips: by persona, what the flip test counted; unset where it was not made.
        seen_in: where the card's question was met, where a comparison of the texts was at hand: ``both`` where
            that had it too, ``debate`` where it had not.
        texts: by persona, how many texts of the person the model spoke from.
    """

    card_id: str
    kind: CruxKind = "not tested"
    flags: tuple[str, ...] = ()
    dropped_quotes: int = 0
    sources: tuple[SentenceSource, ...] = ()
    places: dict[str, tuple[Place, ...]] = Field(default_factory=dict)
    flips: dict[str, FlipTally] | None = None
    seen_in: Literal["debate", "both"] | None = None
    texts: dict[str, int] = Field(default={}, exclude_if=lambda texts: not texts)

    @property
    def spoken(self) -> str:
        """Who speaks here: never the person."""
        many = (f"{count} text{'s' if count != 1 else ''} of {name}" for name, count in self.texts.items())
        told = " and ".join(many)
        return f"Spoken by a model{f' from {told}' if told else ''}; nobody named here said this."


class TrackedStance(CamelModel):
    """A position as its owner stated it before speaking (CX6).

    Args:
        question: id of what is answered: ``"topic"``, an aspect's or a room's.
        updated: whether the speaker says that this turn changed the position.
        claim_ref: the message, evidence or flip condition that the speaker names as the cause.
    """

    persona: str
    message: str
    question: str
    stance: Stance
    position: str
    challenge: str = ""
    updated: bool = False
    because: str = ""
    claim_ref: str = ""


class LedgerEntry(CamelModel):
    """A concession, and whether it was earned (CX23).

    ``reason`` says by what it was earned (``named claim``, ``flip condition``) or why it was not.
    """

    persona: str
    message: str
    question: str
    before: Stance
    after: Stance
    claim_ref: str
    because: str
    earned: bool
    reason: str


class PositionShift(CamelModel):
    """From opening to closing on the topic, with the rooms and claims that lie between.

    ``drift`` is the distance between the two texts, 0 to 1; shown as drift only, never read as a shift.
    """

    persona: str
    before: Stance
    after: Stance
    shifted: bool
    opening: str
    closing: str
    because: str = ""
    claim_ref: str = ""
    earned: bool | None = None
    rooms: tuple[str, ...] = ()
    drift: float | None = None


class Baseline(CamelModel):
    """The same topic without a debate (CX24). ``cost`` is micro-dollars; None where no price is known."""

    method: Literal["one call", "chain of thought"]
    answer: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost: int | None = None


class Spend(CamelModel):
    """What was used. ``cost`` is micro-dollars; None as soon as one call has no known price."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: int | None = 0


class DebateResult(CamelModel):
    """A whole debate, as far as it came.

    Args:
        state: ``finished``; ``stopped`` by a budget or a deadline, with what there was; ``failed`` when it could
            not go on.
        summaries: by aspect id, the internal summary of its round with the ids of the messages it rests on.
        errors: one line for each turn that was skipped, and the reason of a stop.
    """

    debate_id: str
    topic: str
    personas: tuple[str, ...]
    seed: int
    state: State
    stopped_because: str = ""
    aspects: tuple[DebateAspect, ...] = ()
    messages: tuple[DialogueMessage, ...] = ()
    room_messages: tuple[CruxMessage, ...] = ()
    candidates: tuple[DisagreementCandidate, ...] = ()
    cards: tuple[CruxCard, ...] = ()
    notes: tuple[CardNotes, ...] = ()
    stances: tuple[TrackedStance, ...] = ()
    ledger: tuple[LedgerEntry, ...] = ()
    shifts: tuple[PositionShift, ...] = ()
    summaries: dict[str, str] = Field(default_factory=dict)
    baselines: tuple[Baseline, ...] = ()
    errors: tuple[str, ...] = ()
    spend: Spend = Field(default_factory=Spend)

    @property
    def texts_alone(self) -> tuple[str, ...]:
        """The questions found in the texts on which the debate came to no card."""
        met = {card.source_aspect for card in self.cards}
        grounded = any(note.seen_in for note in self.notes)
        return tuple(aspect.label for aspect in self.aspects if grounded and aspect.id not in met)
