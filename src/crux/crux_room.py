"""A crux room: positions, exchange, convergence (CX4)."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel

from crux.anonymity import Mask
from crux.budget import ROOM_TOKENS, clip
from crux.history import View, judged
from crux.results import CruxMessage, DebateAspect, DisagreementCandidate, RoomPhase, Stance
from crux.transcript import Evidence
from crux.turns import ConvergenceAnswer, Core, DebateContext, Skipped, Spoken, TurnAnswer, TurnPlan, TurnSaid
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt

A = TypeVar("A", bound=TurnAnswer)

_JUDGED_TOKENS = 1_000
#: A position is shown whole to the other side for the whole room; one that is longer is asked for shorter.
POSITION_WORDS = 80


class ExitCheck(BaseModel):
    """Whether a room has gone as deep as it will."""

    exit: bool


class SameThing(BaseModel):
    """Whether both sides named the same thing; and whether one worded it as the denial of the other."""

    same: bool
    opposite_wording: bool = False


@dataclass(slots=True)
class _Named:
    """What a side named at convergence, and how it answered its own question."""

    core: Core
    stance: Stance | None
    message: str = ""


@dataclass(slots=True)
class RoomOutcome:
    """What a room came to.

    Args:
        converged: both sides named the same thing.
        named: by persona, the last that was named.
        opposite_wording: the second side's question is the denial of the first's.
    """

    converged: bool = False
    named: dict[str, _Named] = field(default_factory=dict[str, _Named])
    opposite_wording: bool = False


@dataclass(eq=False, repr=False)
class CruxRoom:
    """Two personas on one claim. :meth:`turns` yields each turn; whoever takes it posts it through :meth:`post`.

    Args:
        debate: where turns are taken.
        pair: who, and on what.
        aspect: the round that it came from.
        number: 1-based, in the debate.
        evidence: what is read out in the course of it.
    """

    debate: DebateContext
    pair: DisagreementCandidate
    aspect: DebateAspect
    number: int
    evidence: Sequence[Evidence] = ()

    def __post_init__(self) -> None:
        self.id = f"room-{self.number}"
        self.question = self.pair.claim
        self.outcome = RoomOutcome()
        self.messages: list[CruxMessage] = []
        self._evidence = list(self.evidence)
        self._read_out: list[Evidence] = []
        self._exchanged = 0
        self._asked = 0

    async def turns(self) -> AsyncGenerator[CruxMessage | Skipped]:
        """Yield every message of the room as it is posted, and every turn that was skipped."""
        async for turn in self._positions():
            yield turn
        async for turn in self._exchange(self.debate.config.exchange_turns[1], checked=True):
            yield turn
        for extension in range(self.debate.config.extensions + 1):
            async for turn in self._convergence(extension + 1):
                yield turn
            if await self._same_thing(extension + 1):
                self.outcome.converged = True
                return
            if extension == self.debate.config.extensions or self._left() < 4:
                return
            async for turn in self._exchange(self._exchanged + 2, checked=False):
                yield turn

    @property
    def turn(self) -> int:
        """Turns asked for so far, skipped ones included."""
        return self._asked

    def _left(self) -> int:
        return self.debate.config.room_turns - self._asked

    async def _positions(self) -> AsyncGenerator[CruxMessage | Skipped]:
        """Ask both at once: neither sees what the other locks in."""
        for message in self._due_evidence():
            yield message
        plans = [self._plan(name, "position", "room_position", 1, TurnAnswer) for name in self.pair.personas]
        self._asked += 2
        for turn in await self.debate.side_by_side(plans):
            yield await self._posted(turn, "position")

    async def _exchange(self, limit: int, *, checked: bool) -> AsyncGenerator[CruxMessage | Skipped]:
        config = self.debate.config
        while self._exchanged < limit and self._left() > 2:
            for message in self._due_evidence():
                yield message
            self._exchanged += 1
            self._asked += 1
            number = self._exchanged
            name = self.pair.personas[(number - 1) % 2]
            late = number > config.steelman_after
            prompt = "room_steelman" if late else "room_exchange"
            plan = self._plan(name, "exchange", prompt, number, TurnAnswer, steelmanned=late)
            yield await self._posted(await self.debate.speak(plan), "exchange")
            enough = number >= config.exit_check_from and (number - config.exit_check_from) % 2 == 0
            if checked and enough and number < limit and await self._exit(number):
                return

    async def _convergence(self, turn: int) -> AsyncGenerator[CruxMessage | Skipped]:
        for message in self._due_evidence():
            yield message
        self.outcome.named.clear()
        plans = [
            self._plan(name, "convergence", "room_convergence", turn, ConvergenceAnswer, steelmanned=True)
            for name in self.pair.personas
        ]
        self._asked += 2
        for spoken in await self.debate.side_by_side(plans):
            posted = await self._posted(spoken, "convergence")
            yield posted
            if isinstance(spoken, Spoken) and isinstance(posted, CruxMessage):
                self.outcome.named[spoken.plan.persona] = _Named(spoken.answer.core, posted.stance, posted.id)

    def _plan(
        self, name: str, phase: RoomPhase, prompt: str, number: int, answer: type[A], *, steelmanned: bool = False
    ) -> TurnPlan[A]:
        panel = self.debate.transcript.panel
        other = next(one for one in self.pair.personas if one != name)
        last = self.messages[-1].text if self.messages else ""
        shown = list(self.messages)

        def context(view: View, tokens: int) -> tuple[list[str], list[str]]:
            return view.room_context(self.question, other, shown, list(self._read_out), self.id, tokens)

        return TurnPlan(
            persona=name,
            task="room_turn",
            prompt=prompt,
            label=CallLabel("crux", f"room_{phase}", f"{panel.seat(name)}@{self.id}", number),
            answer=answer,
            # At convergence each side answers a question of its own making, which nothing before can contradict.
            question=f"{self.id}/core-{number}" if phase == "convergence" else self.id,
            claim=f"{self.question} {last}",
            about=(self.question, f"{self.aspect.label} {self.aspect.description}"),
            context=context,
            tokens=ROOM_TOKENS,
            fills={"opponent": panel.alias(other)} | ({"number": str(number)} if phase == "exchange" else {}),
            steelmanned=steelmanned,
            most_words=POSITION_WORDS if phase == "position" else 0,
        )

    async def _posted(self, turn: Spoken[Any] | Skipped | LlmRuntimeError, phase: RoomPhase) -> CruxMessage | Skipped:
        if isinstance(turn, LlmRuntimeError):
            raise turn
        return turn if isinstance(turn, Skipped) else self._add(await self.debate.track(turn), phase)

    def _due_evidence(self) -> list[CruxMessage]:
        spoken = sum(bool(message.persona) for message in self.messages)
        due = [one for one in self._evidence if one.after_turn <= spoken]
        self._evidence = [one for one in self._evidence if one not in due]
        self._read_out += due
        clock = self.debate.transcript.clock
        told = (TurnSaid(id=e.id, persona="", text=e.text, stance=None, timestamp=clock(), flags=()) for e in due)
        return [self._add(one, "evidence") for one in told]

    def _add(self, told: TurnSaid, phase: RoomPhase) -> CruxMessage:
        message = CruxMessage(**told, room_id=self.id, phase=phase, turn=len(self.messages) + 1)
        self.messages.append(message)
        return message

    async def _exit(self, number: int) -> bool:
        """Ask cheaply whether to go to the last phase, which is all it can do; unanswered, the room goes on."""
        label = CallLabel("crux", "exit_check", self.id, number)
        fence, mask = self._judge(label)
        text = load_prompt("crux", "exit_check").render(
            question=fence("QUESTION OF THE ROOM", mask(self.question)),
            said=fence("WHAT WAS SAID", judged([one for one in self.messages if one.persona], mask, _JUDGED_TOKENS)),
        )
        answer = await self.debate.asking.tried("exit_check", label, text, ExitCheck)
        return answer is not None and answer.exit

    async def _same_thing(self, turn: int) -> bool:
        """Ask the judge; where a side named nothing, or the judge gives no answer, it is False."""
        first, second = map(self.outcome.named.get, self.pair.personas)
        if first is None or second is None:
            return False
        label = CallLabel("crux", "convergence_judge", self.id, turn)
        fence, mask = self._judge(label)
        text = load_prompt("crux", "convergence_judge").render(
            question=fence("QUESTION OF THE ROOM", mask(self.question)),
            first=fence("FIRST", clip(mask(f"{first.core.statement} ({first.core.type})"), 120)),
            second=fence("SECOND", clip(mask(f"{second.core.statement} ({second.core.type})"), 120)),
        )
        answer = await self.debate.asking.tried("exit_check", label, text, SameThing)
        if answer is None:
            return False
        self.outcome.opposite_wording = answer.opposite_wording
        return answer.same

    def _judge(self, label: CallLabel) -> tuple[Fence, Mask]:
        transcript = self.debate.transcript
        return Fence(transcript.seed, label), transcript.panel.mask()
