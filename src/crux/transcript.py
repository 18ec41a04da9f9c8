"""A debate as its events tell it: the engine's own record while it runs, and the report's ever after."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

from crux import events
from crux.anonymity import Panel
from crux.positions import Claims
from crux.results import (
    Baseline,
    CardNotes,
    CruxCard,
    CruxMessage,
    DebateAspect,
    DebateResult,
    DialogueMessage,
    DisagreementCandidate,
    LedgerEntry,
    PositionShift,
    Spend,
    State,
    TrackedStance,
)
from llm_runtime.events import Event
from llm_runtime.structs import Struct

TOPIC = "topic"
"""The id of the question that opening and closing answer."""


class Evidence(Struct):
    """A text that a reader puts into a room (CX26).

    Args:
        id: ``"e1"``, ...; turns may name it as what moved them.
        text: what it says.
        room: the id of the room, or empty for the first room that opens.
        after_turn: it is read out before the turn after this one; 0 is before anybody has spoken.
    """

    id: str
    text: str
    room: str = ""
    after_turn: int = 2


class Room(Struct):
    """A crux room: its id, its question, who sits in it."""

    id: str
    question: str
    personas: tuple[str, ...]


@dataclass(slots=True)
class DebateTranscript:
    """The fold over a debate's events: what was said, and what was made of it.

    Args:
        topic: the question of the debate.
        personas: the names of those who sit, in seat order.
        seed: 0 to 2^53-1.
    """

    topic: str = ""
    personas: tuple[str, ...] = ()
    seed: int = 0
    aspects: tuple[DebateAspect, ...] = ()
    round: int = 0
    messages: list[DialogueMessage] = field(default_factory=list[DialogueMessage])
    room_messages: list[CruxMessage] = field(default_factory=list[CruxMessage])
    rooms: list[Room] = field(default_factory=list[Room])
    candidates: list[DisagreementCandidate] = field(default_factory=list[DisagreementCandidate])
    cards: list[CruxCard] = field(default_factory=list[CruxCard])
    noted: dict[str, CardNotes] = field(default_factory=dict[str, CardNotes])
    stances: list[TrackedStance] = field(default_factory=list[TrackedStance])
    ledger: list[LedgerEntry] = field(default_factory=list[LedgerEntry])
    shifts: tuple[PositionShift, ...] = ()
    summaries: dict[str, str] = field(default_factory=dict[str, str])
    baselines: list[Baseline] = field(default_factory=list[Baseline])
    errors: list[str] = field(default_factory=list[str])
    state: State = "running"
    stopped_because: str = ""
    spend: Spend = field(default_factory=Spend)

    def apply(self, event: Event) -> None:
        """Take in the next event; what is no debate's changes nothing."""
        match event:
            case events.Posted():
                self._posted(event.event)
            case events.TurnTaken(stance=TrackedStance() as stance):
                self.stances.append(stance)
            case events.ConcessionEntered():
                self.ledger.append(event.entry)
            case events.RoundSummarised():
                ids = f" [{', '.join(event.messages)}]" if event.messages else ""
                self.summaries[event.aspect] = event.summary + ids
            case events.CardNoted():
                self.noted[event.notes.card_id] = event.notes
            case events.BaselineAnswered():
                self.baselines.append(event.baseline)
            case events.DebateEnded():
                self.state, self.stopped_because = event.state, event.because
                self.shifts, self.spend = event.result.shifts, event.result.spend
            case _:
                pass

    def _posted(self, wire: events.DebateEvent) -> None:
        match wire:
            case events.DebateStart():
                self.topic, self.aspects, self.personas = wire.topic, wire.aspects, wire.personas
            case events.RoundStart():
                self.round = wire.round_number
            case events.MessagePosted():
                self.messages.append(wire.message)
            case events.CruxRoomSpawning():
                self.rooms.append(Room(wire.room_id, wire.question, wire.personas))
            case events.CruxMessagePosted():
                self.room_messages.append(wire.message)
            case events.CruxCardPosted():
                self.cards.append(self._seated(wire.card))
            case events.DisagreementDetected():
                self.candidates.append(wire.candidate)
            case events.DebateComplete():
                self.shifts = wire.shifts
            case events.DebateError():
                self.errors.append(wire.error)
            case _:
                pass

    def _seated(self, card: CruxCard) -> CruxCard:
        """Return a card with its sides as they sit; a log keeps the keys of an object in alphabetical order."""
        order = [name for name in self.personas if name in card.personas]
        return card.model_copy(update={"personas": {name: card.personas[name] for name in (*order, *card.personas)}})

    def result(self) -> DebateResult:
        """Return the debate so far."""
        return DebateResult.model_validate(self, from_attributes=True)

    @property
    def notes(self) -> tuple[CardNotes, ...]:
        """What is noted on the cards, in their order."""
        return tuple(self.noted[card.id] for card in self.cards if card.id in self.noted)

    @property
    def debate_id(self) -> str:
        """Drawn from topic, panel and seed: the same debate has the same id."""
        names = "\0".join(self.personas)
        return hashlib.sha256(f"{self.seed}\0{self.topic}\0{names}".encode()).hexdigest()[:10]

    def next_id(self) -> str:
        """Return the id of the message that is posted next; evidence has its own."""
        return f"m{len(self.messages) + sum(bool(message.persona) for message in self.room_messages) + 1}"

    def utterances(self) -> dict[str, tuple[str, str]]:
        """Return who spoke, and what, by message id; evidence has nobody's name."""
        return {message.id: (message.persona, message.text) for message in (*self.messages, *self.room_messages)}

    def last_stance(self, persona: str, question: str = "") -> TrackedStance | None:
        """Return where a persona last stood on a question; without one, on any."""
        return next((s for s in reversed(self.stances) if s.persona == persona and question in ("", s.question)), None)


@dataclass(slots=True)
class SeatedTranscript(DebateTranscript):
    """The transcript of a debate that is held: who sits, and the clock that stamps what they say.

    Args:
        clock: milliseconds; never part of a request.
    """

    panel: Panel = field(kw_only=True)
    clock: Callable[[], int] = field(kw_only=True)

    def claims(self, persona: str, visible: tuple[str, ...], *, steelmanned: bool) -> Claims:
        """Return what ``persona`` may name as a cause: of the messages it was shown, those of others."""
        utterances = self.utterances()
        shown = {key: utterances[key] for key in visible if key in utterances}
        return Claims(
            heard={key: text for key, (who, text) in shown.items() if who != persona},
            own=frozenset(key for key, (who, _) in utterances.items() if who == persona),
            evidence=frozenset(key for key, (who, _) in shown.items() if not who),
            flips={flip.id: flip.text for flip in self.panel.by_name[persona].contract.flip_conditions},
            steelmanned=steelmanned,
        )
