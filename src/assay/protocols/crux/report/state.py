"""A debate as its events tell it: at any moment a ``DebateResult``, and the texts that its quotations open to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from assay.registry import find, opened
from assay.report.run import RunTotals, timed_events
from crux import events
from crux.config import DebateConfig
from crux.personas.corpus import CorpusItem
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
    TrackedStance,
)
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Event, RunResumed, RunStarted

if TYPE_CHECKING:
    from llm_runtime.store import RunStore

M = TypeVar("M", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Belief:
    """A belief as a reader sees it."""

    concept: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Room:
    """A crux room: its id, its question, who sits in it."""

    id: str
    question: str
    personas: tuple[str, ...]


class DebateState:
    """The fold. A resumed run tells its debate again from the start, and so begins anew.

    Args:
        keep: how many settled calls to remember one by one.
    """

    def __init__(self, keep: int | None = None) -> None:
        self.run = RunTotals(keep)
        self.topic = ""
        self.personas: tuple[str, ...] = ()
        self.ids: dict[str, str] = {}
        """Persona id -> name, for the labels of calls."""
        self.texts: dict[str, dict[str, CorpusItem]] = {}
        """Name -> text id -> text."""
        self.beliefs: dict[str, dict[str, Belief]] = {}
        self.config: DebateConfig | None = None
        self._begin()

    def _begin(self) -> None:
        self.aspects: tuple[DebateAspect, ...] = ()
        self.round = 0
        self.messages: list[DialogueMessage] = []
        self.room_messages: list[CruxMessage] = []
        self.rooms: list[Room] = []
        self.candidates: list[DisagreementCandidate] = []
        self.cards: list[CruxCard] = []
        self.notes: dict[str, CardNotes] = {}
        self.stances: list[TrackedStance] = []
        self.ledger: list[LedgerEntry] = []
        self.shifts: tuple[PositionShift, ...] = ()
        self.summaries: dict[str, str] = {}
        self.baselines: list[Baseline] = []
        self.errors: list[str] = []
        self.ended: DebateResult | None = None

    def apply(self, event: Event, at: int) -> None:
        """Take in the next event; data of an event that does not fit is passed over."""
        self.run.apply(event, at)
        match event:
            case RunStarted():
                self._open(event)
            case RunResumed():
                self._begin()
            case events.Posted():
                wire = _fitting(events.read_event, event.event)
                if wire is not None:
                    self._posted(wire)
            case events.TurnTaken():
                self._add(self.stances, TrackedStance, event.stance)
            case events.ConcessionEntered():
                self._add(self.ledger, LedgerEntry, event.entry)
            case events.RoundSummarised():
                self.summaries[event.aspect] = event.summary
            case events.CardNoted():
                notes = _fitting(CardNotes.model_validate, event.notes)
                if notes is not None:
                    self.notes[notes.card_id] = notes
            case events.BaselineAnswered():
                self._add(self.baselines, Baseline, event.baseline)
            case events.DebateEnded():
                ended = _fitting(DebateResult.model_validate, event.result)
                if ended is not None:
                    cards = tuple(_seated(card, ended.personas) for card in ended.cards)
                    self.ended = ended.model_copy(update={"cards": cards})
            case _:
                pass

    @property
    def result(self) -> DebateResult:
        """The debate so far; the engine's own account once it has ended."""
        if self.ended is not None:
            return self.ended
        return DebateResult(
            debate_id="",
            topic=self.topic,
            personas=self.personas,
            seed=self.run.started.seed if self.run.started else 0,
            state=self.run.state,
            stopped_because=self.run.message,
            aspects=self.aspects,
            messages=tuple(self.messages),
            room_messages=tuple(self.room_messages),
            candidates=tuple(self.candidates),
            cards=tuple(self.cards),
            notes=tuple(self.notes.values()),
            stances=tuple(self.stances),
            ledger=tuple(self.ledger),
            shifts=self.shifts,
            summaries=self.summaries,
            baselines=tuple(self.baselines),
            errors=tuple(self.errors),
        )

    def accent(self, persona: str) -> str:
        """Return a persona's colour class, by seat."""
        return f"c{self.personas.index(persona) % 6}" if persona in self.personas else "quiet"

    def text(self, persona: str, item: str) -> CorpusItem | None:
        """Return a text of a persona, where the run has it."""
        return self.texts.get(persona, {}).get(item)

    def _open(self, event: RunStarted) -> None:
        from assay.protocols.crux.task import Options, seated

        self.topic = str(event.task.get("topic", event.title))
        try:
            options = cast("Options", opened(event).options)
            panel, self.config = seated(options), options.config()
        except ConfigurationError:
            return  # an imported log may hold anything; the debate itself is told by its own events
        self.personas = tuple(persona.name for persona in panel)
        self.ids = {persona.id: persona.name for persona in panel}
        self.texts = {persona.name: dict(persona.corpus.by_id) for persona in panel}
        self.beliefs = {
            persona.name: {node.id: Belief(node.concept, node.confidence) for node in persona.beliefs.nodes}
            for persona in panel
            if persona.beliefs
        }

    def _posted(self, wire: events.DebateEvent) -> None:
        match wire:
            case events.DebateStart():
                self.topic, self.aspects = wire.topic, wire.aspects
                self.personas = self.personas or wire.personas
            case events.RoundStart():
                self.round = wire.round_number
            case events.MessagePosted():
                self.messages.append(wire.message)
            case events.CruxRoomSpawning():
                self.rooms.append(Room(wire.room_id, wire.question, wire.personas))
            case events.CruxMessagePosted():
                self.room_messages.append(wire.message)
            case events.CruxCardPosted():
                self.cards.append(_seated(wire.card, self.personas))
            case events.DisagreementDetected():
                self.candidates.append(wire.candidate)
            case events.DebateComplete():
                self.shifts = wire.shifts
            case events.DebateError():
                self.errors.append(wire.error)
            case _:
                pass

    def _add(self, entries: list[M], model: type[M], data: dict[str, Any]) -> None:
        entry = _fitting(model.model_validate, data) if data else None
        if entry is not None:
            entries.append(entry)


def result_of(store: RunStore, run_id: str) -> DebateResult:
    """Return a debate as its run tells it, as far as it came.

    Raises:
        ConfigurationError: the run is no debate.
        StoreError: it is not there, or damaged.
    """
    return state_of(store, run_id).result


def state_of(store: RunStore, run_id: str) -> DebateState:
    """Return the fold over a stored debate; errors as for :func:`result_of`."""
    state = DebateState()
    for event, at in timed_events(store.records(run_id)):
        if isinstance(event, RunStarted) and event.protocol not in find("crux.debate").names:
            raise ConfigurationError(f"run {run_id} is no debate; list those there are with: assay runs list")
        state.apply(event, at)
    return state


def _seated(card: CruxCard, seats: tuple[str, ...]) -> CruxCard:
    """Return a card with its sides as they sit; a log keeps the keys of an object in alphabetical order."""
    order = sorted(card.personas, key=lambda name: seats.index(name) if name in seats else len(seats))
    return card.model_copy(update={"personas": {name: card.personas[name] for name in order}})


def _fitting(read: Callable[[dict[str, Any]], M], data: dict[str, Any]) -> M | None:
    try:
        return read(data)
    except ValidationError:
        return None
