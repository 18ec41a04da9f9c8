"""What a debate says while it runs: the wire events, and what displays need beside them.

``Debate.events()`` yields the wire events and nothing else; their names and keys are the specification's. Each is
also emitted, inside :class:`Posted`, so that the log of a run holds the whole debate; the further house events
carry what the wire has no room for. :class:`crux.transcript.DebateTranscript` is the fold over them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from crux.results import (
    Baseline,
    CamelModel,
    CardNotes,
    CruxCard,
    CruxMessage,
    DebateAspect,
    DebateResult,
    DialogueMessage,
    DisagreementCandidate,
    LedgerEntry,
    Phase,
    PositionShift,
    State,
    TrackedStance,
)
from llm_runtime.events import Event


class DebateStart(CamelModel):
    """The topic is decomposed and the panel sits."""

    type: Literal["debate_start"] = "debate_start"
    topic: str
    aspects: tuple[DebateAspect, ...]
    personas: tuple[str, ...]


class DebateComplete(CamelModel):
    """The last event of a debate that came to its end."""

    type: Literal["debate_complete"] = "debate_complete"
    shifts: tuple[PositionShift, ...]


class DebateError(CamelModel):
    """A turn was skipped; or, as the last event, the debate was stopped or failed."""

    type: Literal["error"] = "error"
    error: str


class RoundStart(CamelModel):
    """A themed round begins; ``round_number`` counts from 1."""

    type: Literal["round_start"] = "round_start"
    aspect: DebateAspect
    round_number: int


class RoundEnd(CamelModel):
    """A themed round is over."""

    type: Literal["round_end"] = "round_end"
    aspect: DebateAspect


class MessagePosted(CamelModel):
    """A persona spoke on the panel."""

    type: Literal["message_posted"] = "message_posted"
    message: DialogueMessage
    phase: Phase


class ClashStart(CamelModel):
    """Two personas rebut each other; ``aspect`` is the aspect's id."""

    type: Literal["clash_start"] = "clash_start"
    personas: tuple[str, ...]
    aspect: str


class CruxRoomSpawning(CamelModel):
    """A room opens on ``question``."""

    type: Literal["crux_room_spawning"] = "crux_room_spawning"
    room_id: str
    question: str
    personas: tuple[str, ...]


class CruxMessagePosted(CamelModel):
    """A turn of a room."""

    type: Literal["crux_message"] = "crux_message"
    room_id: str
    message: CruxMessage


class CruxCardPosted(CamelModel):
    """A room's card."""

    type: Literal["crux_card_posted"] = "crux_card_posted"
    card: CruxCard


class CruxRoomComplete(CamelModel):
    """A room is closed, with or without a card."""

    type: Literal["crux_room_complete"] = "crux_room_complete"
    room_id: str


class DisagreementDetected(CamelModel):
    """A pair was found to disagree."""

    type: Literal["disagreement_detected"] = "disagreement_detected"
    candidate: DisagreementCandidate


_OfDebate: TypeAlias = DebateStart | DebateComplete | DebateError
_OfRound: TypeAlias = RoundStart | RoundEnd | MessagePosted | DisagreementDetected | ClashStart
_OfRoom: TypeAlias = CruxRoomSpawning | CruxMessagePosted | CruxCardPosted | CruxRoomComplete
DebateEvent: TypeAlias = Annotated[_OfDebate | _OfRound | _OfRoom, Field(discriminator="type")]


class Posted(Event, type="crux.posted"):
    """A wire event."""

    event: DebateEvent


class TurnTaken(Event, type="crux.turn_taken"):
    """What stood behind a message.

    Args:
        stance: None where none was stated; older logs have an empty object.
        beliefs: ids of the belief nodes that the speaker was shown.
        chunks: ids of the corpus chunks that the speaker was shown.
        flags: as on the message.
        regenerated: the turn was asked for again because of a polite phrase.
    """

    message: str
    persona: str
    stance: Annotated[TrackedStance | None, BeforeValidator(lambda stance: stance or None)]
    beliefs: list[str]
    chunks: list[str]
    flags: list[str]
    regenerated: bool


class ConcessionEntered(Event, type="crux.concession"):
    """The ledger has a new entry; live, so that an unearned one is seen as it happens."""

    entry: LedgerEntry


class RoundSummarised(Event, type="crux.round_summarised"):
    """The internal summary of a round; never part of the debate itself (CX13)."""

    aspect: str
    summary: str
    messages: list[str]


class CardNoted(Event, type="crux.card_noted"):
    """Flags, dropped quotes and provenance of a card; again when the flip test is done."""

    notes: CardNotes


class BaselineAnswered(Event, type="crux.baseline"):
    """The topic was answered without a debate."""

    baseline: Baseline


class DebateEnded(Event, type="crux.debate_ended"):
    """The explicit final state."""

    state: State
    because: str
    result: DebateResult


class PersonaStep(Event, type="crux.persona_step"):
    """A step of a persona build moved on: ``done`` of ``of`` questions are answered."""

    persona: str
    step: str
    done: int
    of: int


class PersonaBuilt(Event, type="crux.persona_built"):
    """A persona is built. ``gate`` is ``Standing`` data; ``counts``: claims, passages unread, quotes lost."""

    persona: str
    gate: dict[str, Any]
    counts: dict[str, Any]
