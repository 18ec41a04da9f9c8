"""The debate, opening to closing, as one async generator of its events (CX14)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, Literal

from crux.anonymity import Panel
from crux.baselines import ask_baselines
from crux.card import extract_card
from crux.claims.judge import Pair
from crux.clash import clash
from crux.closing import position_shifts
from crux.config import CruxConfigurationError, DebateConfig
from crux.crux_room import CruxRoom
from crux.decomposition import decompose
from crux.detection import detect
from crux.ending import answered
from crux.events import (
    CardNoted,
    ClashStart,
    CruxCardPosted,
    CruxMessagePosted,
    CruxRoomComplete,
    CruxRoomSpawning,
    DebateComplete,
    DebateEnded,
    DebateError,
    DebateEvent,
    DebateStart,
    DisagreementDetected,
    MessagePosted,
    Posted,
    RoundEnd,
    RoundStart,
)
from crux.flipping import flip_test
from crux.panel_turns import closing_plan, opening_plan, take_plan
from crux.personas.corpus import shared_texts
from crux.personas.persona import Persona
from crux.results import (
    CardNotes,
    CruxCard,
    CruxMessage,
    DebateAspect,
    DebateResult,
    DialogueMessage,
    DisagreementCandidate,
    Phase,
    Spend,
    State,
)
from crux.retrieval.embed import Embed
from crux.retrieval.grounding import Grounding
from crux.summary import summarise
from crux.transcript import Evidence, SeatedTranscript
from crux.turns import DebateContext, Skipped, Spoken, TurnAnswer, TurnPlan
from llm_runtime.clock import now_ms
from llm_runtime.errors import BudgetExceeded, CallError, DeadlineExceeded, LlmRuntimeError, StructuredOutputError
from llm_runtime.events import Emit, silent, tee
from llm_runtime.messages import CallLabel, Generate
from llm_runtime.wrappers.metered import Meter

MAX_TOPIC = 2_000


class Debate:
    """One debate. :meth:`events` runs it; :meth:`result` says what there is, at any time.

    Args:
        topic: the question, best one that can be answered yes or no; 1 to 2,000 characters.
        personas: 2 to 26, in seat order, with distinct names and ids.
        generate: the model.
        config: settings; the defaults are the specification's.
        emit: hears the house events, each wire event among them.
        seed: 0 to 2^53-1; every nonce derives from it.
        clock: milliseconds, stamped on messages and cards; never part of a request.
        evidence: texts that are read out in rooms (CX26).
        embed: a model that knows meaning, for retrieval; None finds passages by their words alone.
        index: the folder where indexes of large corpora, and vectors, are kept; None keeps them in memory.

    Raises:
        CruxConfigurationError: the topic or the panel cannot be used; nothing was asked.
        MissingExtraError: the extra ``debate`` is not installed.
    """

    def __init__(
        self, topic: str, personas: Sequence[Persona], *, generate: Generate,
        config: DebateConfig | None = None, emit: Emit = silent, seed: int = 0,
        clock: Callable[[], int] = now_ms, evidence: Sequence[Evidence] = (), embed: Embed | None = None,
        index: Path | None = None,
    ) -> None:  # fmt: skip
        topic = " ".join(topic.split())
        if not 1 <= len(topic) <= MAX_TOPIC:
            raise CruxConfigurationError(f"topic: it has {len(topic)} characters, 1 to {MAX_TOPIC} are possible")
        _check_panel(personas)
        self.config = config or DebateConfig()
        self.stopped_by: Exception | None = None
        self._meter = Meter(generate)
        self._evidence = tuple(evidence)
        self._state: State = "running"
        names = tuple(persona.name for persona in personas)
        self._transcript = SeatedTranscript(topic, names, seed, panel=Panel(personas), clock=clock)
        self._emit = tee(emit, self._transcript.apply)
        groundings = {persona.name: Grounding(persona, index, embed) for persona in personas}
        self._context = DebateContext(self._meter, self.config, self._transcript, groundings, self._emit)
        self._silent_rooms = 0
        if not self.config.anyway and all(grounding.outside(topic) for grounding in groundings.values()):
            raise CruxConfigurationError(
                "nothing that any of them wrote bears on this topic, so they would have to make it up; "
                "name another topic, or debate it all the same with --anyway"
            )

    async def events(self) -> AsyncGenerator[DebateEvent]:
        """Run it. Every event is emitted before it is yielded.

        A budget or a deadline, or a refusal that every call would meet, ends the debate with an ``error`` event;
        :meth:`result` then has what there was, and ``state`` says so. What a replay or a store raises is raised.
        """
        try:
            async for event in self._steps():
                yield self._posted(event)
            if self._silent_rooms and self._silent_rooms == len(self._transcript.rooms):
                raise StructuredOutputError("in no room did both sides give a usable turn: there is no card", "")
            self._state = "finished"
        except (BudgetExceeded, DeadlineExceeded) as over:
            self._state, self.stopped_by = "stopped", over
        except (CallError, StructuredOutputError) as fault:
            self._state, self.stopped_by = "failed", fault
        because = self.result().stopped_because
        if self.stopped_by is not None:
            yield self._posted(DebateError(error=f"the debate {self._state}: {because}"))
        self._emit(DebateEnded(state=self._state, because=because, result=self.result()))

    def result(self) -> DebateResult:
        """Return everything so far."""
        said = {"state": self._state, "stopped_because": " ".join(str(self.stopped_by or "").split())[:300]}
        shifts = position_shifts(self._transcript, self._context.groundings)
        spend = Spend.model_validate(self._meter, from_attributes=True)
        return self._transcript.result().model_copy(update={**said, "shifts": shifts, "spend": spend})

    async def _steps(self) -> AsyncGenerator[DebateEvent]:
        transcript = self._transcript
        aspects = await decompose(self._context)
        yield DebateStart(topic=transcript.topic, aspects=tuple(aspects), personas=transcript.personas)
        for warning in _shared(transcript.panel):
            yield DebateError(error=warning)
        openings = [opening_plan(self._context, persona.name) for persona in transcript.panel.personas]
        async for event in self._parallel(openings, "opening"):
            yield event
        if not transcript.messages:
            raise StructuredOutputError(f"nobody gave a usable opening; the last error: {transcript.errors[-1]}", "")
        for number, aspect in enumerate(transcript.aspects, start=1):
            async for event in self._round(aspect, number):
                yield event
        closings = [closing_plan(self._context, persona.name) for persona in transcript.panel.personas]
        async for event in self._parallel(closings, "closing"):
            yield event
        if self.config.flip_test:
            for card in self._transcript.cards:
                kind, flips = await flip_test(self._context, card)
                self._note(self._transcript.noted[card.id], kind=kind, flips=flips or None)
        if self.config.baselines:
            await ask_baselines(self._context)
        yield DebateComplete(shifts=position_shifts(transcript, self._context.groundings))

    async def _round(self, aspect: DebateAspect, number: int) -> AsyncGenerator[DebateEvent]:
        """Run one round: take, detection, clash, crux room."""
        transcript = self._transcript
        yield RoundStart(aspect=aspect, round_number=number)
        plans = [take_plan(self._context, persona.name, aspect, number) for persona in transcript.panel.personas]
        async for event in self._parallel(plans, "take", aspect.id):
            yield event
        takes = [message for message in transcript.messages if message.aspect == aspect.id]
        candidates, fault = await self._detect(aspect, takes, CallLabel("crux", "detection", "", number))
        if fault is not None:
            yield fault
        rooms = 0
        for place, candidate in enumerate(candidates, start=1):
            yield DisagreementDetected(candidate=candidate)
            if not candidate.clashes:
                continue
            name = f"{number}.{place}"
            yield ClashStart(personas=candidate.personas, aspect=aspect.id)
            async for turn in clash(self._context, aspect, candidate, takes, name):
                yield await self._message(turn, "clash", aspect.id)
            again, fault = await self._still(aspect, candidate, name)
            if fault is not None:
                yield fault
            if again is None:
                continue
            queued = rooms < self.config.rooms_per_aspect
            yield DisagreementDetected(candidate=again.model_copy(update={"queued": queued}))
            if queued:
                rooms += 1
                async for event in self._room(aspect, again):
                    yield event
        if missing := await summarise(self._context, aspect, number):
            yield DebateError(error=missing)
        yield RoundEnd(aspect=aspect)

    async def _parallel(
        self, plans: Sequence[TurnPlan[TurnAnswer]], phase: Phase, aspect: str = ""
    ) -> AsyncGenerator[DebateEvent]:
        """Take turns that do not see each other, and post them in seat order; a stop waits until that is done."""
        over: Exception | None = None
        for turn in await self._context.side_by_side(plans):
            if isinstance(turn, Exception):
                over = over or turn
            else:
                yield await self._message(turn, phase, aspect)
        if over is not None:
            raise over

    async def _still(
        self, aspect: DebateAspect, pair: DisagreementCandidate, name: str
    ) -> tuple[DisagreementCandidate | None, DebateEvent | None]:
        """Tell whether the two are still opposed after their clash, by the last message of each (CX2)."""
        of_aspect = [message for message in self._transcript.messages if message.aspect == aspect.id]
        last = {message.persona: message for message in of_aspect if message.persona in pair.personas}
        spoken = sorted(last.values(), key=lambda message: pair.personas.index(message.persona))
        candidates, fault = await self._detect(aspect, spoken, CallLabel("crux", "detection", f"clash-{name}"), most=1)
        return next((one for one in candidates if one.clashes), None), fault

    async def _detect(
        self, aspect: DebateAspect, spoken: Sequence[DialogueMessage], label: CallLabel, most: int | None = None
    ) -> tuple[list[DisagreementCandidate], DebateEvent | None]:
        if len({message.persona for message in spoken}) < 2:
            return [], None
        found = await answered(detect(self._context, aspect, spoken, label, most or self.config.detected_pairs))
        if not isinstance(found, LlmRuntimeError):
            return found, None
        where = f"{aspect.id}: detection gave nothing usable, so there is no clash"
        return [], DebateError(error=f"{where}: {' '.join(str(found).split())[:200]}")

    async def _room(self, aspect: DebateAspect, pair: DisagreementCandidate) -> AsyncGenerator[DebateEvent]:
        """Run one room: spawn, turns, card, complete. One that the budget cuts short leaves what was said in it."""
        transcript = self._transcript
        number = len(transcript.rooms) + 1
        evidence = [one for one in self._evidence if one.room == f"room-{number}" or (not one.room and number == 1)]
        room = CruxRoom(self._context, pair, aspect, number, evidence)
        yield CruxRoomSpawning(room_id=room.id, question=room.question, personas=pair.personas)
        async for turn in room.turns():
            if isinstance(turn, CruxMessage):
                yield CruxMessagePosted(room_id=room.id, message=turn)
            else:
                yield DebateError(error=turn.error)
        if {message.persona for message in room.messages} >= set(pair.personas):
            extracted = await answered(extract_card(room))
            if isinstance(extracted, LlmRuntimeError):
                yield DebateError(error=f"{room.id} has no card: {' '.join(str(extracted).split())[:200]}")
            else:
                card, notes = extracted
                twin = await self._twin(card)
                if twin is not None:
                    flags = (*transcript.noted[twin.id].flags, f"{room.id} came to the same question again")
                    self._note(transcript.noted[twin.id], flags=flags)
                    yield CruxRoomComplete(room_id=room.id)
                    return
                self._note(notes, seen_in=await self._seen_in(card))
                yield CruxCardPosted(card=card)
        else:
            silent = [name for name in pair.personas if name not in {message.persona for message in room.messages}]
            self._silent_rooms += 1
            yield DebateError(error=f"{room.id} has no card: {' and '.join(silent)} gave no usable turn in it")
        yield CruxRoomComplete(room_id=room.id)

    async def _twin(self, card: CruxCard) -> CruxCard | None:
        """Return the card of the same two that asks the same, as the judge reads it both ways."""
        others = [one for one in self._transcript.cards if one.personas.keys() == card.personas.keys()]
        pairs = [Pair(card.question, one.question) for one in others]
        verdicts = await self._context.judge.relate(pairs, f"same-{card.crux_room_id}", strict=True)
        return next((one for one, v in zip(others, verdicts, strict=True) if v.kind == "same"), None)

    def _note(self, notes: CardNotes, **update: Any) -> None:
        """Say what is noted on a card."""
        self._emit(CardNoted(notes=notes.model_copy(update=update)))

    async def _seen_in(self, card: CruxCard) -> Literal["debate", "both"] | None:
        """Tell whether a card's question was among those found in the texts; None where none were given."""
        if not self.config.questions:
            return None
        pairs = [Pair(card.question, question) for question in self.config.questions]
        verdicts = await self._context.judge.relate(pairs, f"seen-{card.crux_room_id}", strict=True)
        return "both" if any(verdict.kind == "same" for verdict in verdicts) else "debate"

    async def _message(self, turn: Spoken[TurnAnswer] | Skipped, phase: Phase, aspect: str) -> DebateEvent:
        if isinstance(turn, Skipped):
            return DebateError(error=turn.error)
        message = DialogueMessage(**await self._context.track(turn), phase=phase, aspect=aspect)
        return MessagePosted(message=message, phase=phase)

    def _posted(self, event: DebateEvent) -> DebateEvent:
        self._emit(Posted(event=event))
        return event


def _check_panel(personas: Sequence[Persona]) -> None:
    if not 2 <= len(personas) <= 26:
        raise CruxConfigurationError(f"a debate needs 2 to 26 personas, not {len(personas)}")
    for kind, names in (("name", [p.name for p in personas]), ("id", [p.id for p in personas])):
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise CruxConfigurationError(f"two personas have the {kind} {twice}; a debate needs distinct ones")
    for persona in personas:
        if not persona.corpus.items:
            raise CruxConfigurationError(f"{persona.name} has no texts; import some")


def _shared(panel: Panel) -> Iterator[str]:
    """Yield a line for each two personas that share texts: what such a text says cannot tell them apart."""
    for first, second in combinations(panel.personas, 2):
        if texts := shared_texts(first.corpus, second.corpus):
            yield (
                f"{first.name} and {second.name} share {len(texts)} of {len(first.corpus.items)} texts "
                f"({', '.join(texts[:3])}): where they argue from these, their agreement means nothing"
            )
