"""Everything that was said in a debate so far, and what was made of it; ids are given in the order of posting."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from crux.anonymity import Panel
from crux.positions import Claims
from crux.results import (
    CardNotes,
    CruxCard,
    CruxMessage,
    DebateAspect,
    DialogueMessage,
    DisagreementCandidate,
    LedgerEntry,
    TrackedStance,
)

TOPIC = "topic"
"""The id of the question that opening and closing answer."""


@dataclass(frozen=True, slots=True)
class Evidence:
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


@dataclass(slots=True)
class Transcript:
    """The record that every step reads and writes.

    Args:
        topic: the question of the debate.
        panel: who sits.
        seed: 0 to 2^53-1.
        clock: milliseconds; stamped on messages and cards, never part of a request.
    """

    topic: str
    panel: Panel
    seed: int
    clock: Callable[[], int]
    aspects: list[DebateAspect] = field(default_factory=list[DebateAspect])
    messages: list[DialogueMessage] = field(default_factory=list[DialogueMessage])
    room_messages: list[CruxMessage] = field(default_factory=list[CruxMessage])
    candidates: list[DisagreementCandidate] = field(default_factory=list[DisagreementCandidate])
    cards: list[CruxCard] = field(default_factory=list[CruxCard])
    notes: dict[str, CardNotes] = field(default_factory=dict[str, CardNotes])
    stances: list[TrackedStance] = field(default_factory=list[TrackedStance])
    ledger: list[LedgerEntry] = field(default_factory=list[LedgerEntry])
    summaries: dict[str, str] = field(default_factory=dict[str, str])
    errors: list[str] = field(default_factory=list[str])
    beliefs_shown: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    rooms: int = 0
    _ids: int = 0

    @property
    def debate_id(self) -> str:
        """Drawn from topic, panel and seed: the same debate has the same id."""
        names = "\0".join(persona.name for persona in self.panel.personas)
        return hashlib.sha256(f"{self.seed}\0{self.topic}\0{names}".encode()).hexdigest()[:10]

    def next_id(self) -> str:
        """Return the id of the message that is posted next."""
        self._ids += 1
        return f"m{self._ids}"

    def utterances(self) -> dict[str, tuple[str, str]]:
        """Return who spoke, and what, by message id; evidence has nobody's name."""
        everything: Sequence[DialogueMessage | CruxMessage] = (*self.messages, *self.room_messages)
        return {message.id: (message.persona, message.text) for message in everything}

    def last_stance(self, persona: str, question: str = "") -> TrackedStance | None:
        """Return where a persona last stood on a question; without one, on any."""
        own = (s for s in reversed(self.stances) if s.persona == persona and question in ("", s.question))
        return next(own, None)

    def claims(self, persona: str, visible: Sequence[str], *, steelmanned: bool) -> Claims:
        """Return what ``persona`` may name as a cause: of the messages it was shown, those of others."""
        utterances = self.utterances()
        shown = {key: utterances[key] for key in visible if key in utterances}
        contract = self.panel.by_name[persona].contract
        return Claims(
            heard={key: text for key, (who, text) in shown.items() if who != persona},
            own=frozenset(key for key, (who, _) in utterances.items() if who == persona),
            evidence=frozenset(key for key, (who, _) in shown.items() if not who),
            flips={flip.id: flip.text for flip in contract.flip_conditions},
            steelmanned=steelmanned,
        )
