"""The council: its seats, and the two ways to hear them.

Everything is keyed by a seat's index in the triaged council, because two seats may share a role.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from itertools import cycle
from typing import Literal, TypeAlias, TypeVar

from crucible.config import CouncilRole, EngineConfig
from crucible.events import Critiqued, SeatAnswered, SeatFailed
from crucible.openrouter.client import OpenRouterClient
from crucible.red_team.prompts import system_prompt
from crucible.schemas import TriageOutput
from crucible.transcript import CouncilTranscript, Loop
from llm_runtime.errors import BudgetExceeded, CallError, LlmRuntimeError, StructuredOutputError
from llm_runtime.events import Emit, ModelSubstituted
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import Fence
from llm_runtime.structs import Struct
from llm_runtime.tasks import gather

S = TypeVar("S")
T = TypeVar("T")
Phase: TypeAlias = Literal["position", "defence", "draft"]

LEAST_VOICES = 2
"""Deliberating seats that a loop needs; with fewer there is nothing to deliberate."""


class CouncilFailed(LlmRuntimeError):
    """The council cannot go on: its red team is silent, or fewer than two other seats still answer."""

    exit_code = CallError.exit_code


class Seat(Struct):
    """A triaged seat; ``label`` is ``"INDEX:ROLE"``, by its 0-based place in the council: its name everywhere.

    ``model`` is the user's choice and beats the hint; empty where there is none.
    """

    label: str
    role: CouncilRole
    system_prompt: str
    model_hint: str | None
    model: str = ""


def panel_models(roles: Sequence[CouncilRole], models: Sequence[str]) -> list[str]:
    """Return each seat's model of a panel: in turn, and for the red team the least used; empty without a panel.

    >>> panel_models([CouncilRole.PRAGMATIST, CouncilRole.RED_TEAM, CouncilRole.CREATIVE], ["a", "b", "c"])
    ['a', 'c', 'b']
    """
    if not models:
        return [""] * len(roles)
    turns = cycle(models)
    chosen = ["" if role is CouncilRole.RED_TEAM else next(turns) for role in roles]
    return [model or min(models, key=chosen.count) for model in chosen]


class CouncilRun(Struct):
    """What the parts of one run share.

    Args:
        config: models, observability and delta strategy.
        client: makes the calls.
        transcript: hears all that is emitted, and tells what was said so far.
        emit: hears the story of the run; what was said, in seat order whoever answered first.
        seed: the fences around what models wrote are drawn from it.
    """

    config: EngineConfig
    client: OpenRouterClient
    transcript: CouncilTranscript
    emit: Emit
    seed: int


class SeatedCouncil:
    """The seats of one run, and the two ways to hear them.

    Args:
        triage: the council's configuration; the red team's own system prompt is not used.
        run: that they sit in.
    """

    def __init__(self, triage: TriageOutput, run: CouncilRun) -> None:
        panel = panel_models([seat.role for seat in triage.council], run.config.models)
        seats = [
            Seat(f"{index}:{seat.role.value}", seat.role, seat.system_prompt, seat.model_hint, panel[index])
            for index, seat in enumerate(triage.council)
        ]
        self.query = triage.reconstructed_query
        self.deliberating = tuple(seat for seat in seats if seat.role is not CouncilRole.RED_TEAM)
        (self.red_team,) = (seat for seat in seats if seat.role is CouncilRole.RED_TEAM)
        self._red_team_prompt = system_prompt(triage.red_team_flavor)
        self._run = run

    async def hear(
        self, loop: int, phase: Phase, seats: Sequence[Seat], compose: Callable[[Seat, Fence], Sequence[Message]]
    ) -> None:
        """Ask ``seats`` at once; the transcript has what they said, and who failed.

        Args:
            loop: 1-based.
            phase: what they are asked for.
            seats: in seat order.
            compose: a seat and the fence of its call -> the conversation that follows its system prompt.

        Raises:
            CouncilFailed: fewer than two deliberating seats are left in this loop.
            BudgetExceeded, DeadlineExceeded, ...: whatever is not the failure of one call.
        """

        async def ask(seat: Seat) -> str:
            label = CallLabel("crucible", phase, seat.label, loop)
            messages = [Message("system", seat.system_prompt), *compose(seat, Fence(self._run.seed, label))]
            return await self._call(seat, messages, label)

        def settle(seat: Seat, text: str) -> None:
            self._run.emit(SeatAnswered(loop=loop, seat=seat.label, role=seat.role.value, kind=phase, text=text))

        await side_by_side(
            seats, ask, settle, lambda seat, fault: self._run.emit(left_out(loop, seat.label, seat.role, fault))
        )
        require_voices(self._run.transcript.loops[loop], len(self.deliberating))

    async def critique(
        self, loop: int, compose: Callable[[Fence], str], *, step: int = 1,
        targets_in: Callable[[str], Sequence[Seat]] | None = None,
    ) -> None:  # fmt: skip
        """Ask the red team.

        Args:
            loop: 1-based.
            compose: the fence of the call -> the task.
            step: 1-based; which critique of the loop this is.
            targets_in: reads from a critique whom it names, for the record.

        Raises:
            CouncilFailed: the red team gave no answer; a loop without a critique does not count.
        """
        label = CallLabel("crucible", "critique", self.red_team.label, loop, step)
        task = compose(Fence(self._run.seed, label))
        try:
            asked = [Message("system", self._red_team_prompt), Message("user", task)]
            text = await self._call(self.red_team, asked, label)
        except CallError as fault:
            raise silent(self.red_team.label, loop, fault) from fault
        targets = [seat.label for seat in targets_in(text)] if targets_in else []
        self._run.emit(Critiqued(loop=loop, step=step, seat=self.red_team.label, text=text, targets=targets))

    async def _call(self, seat: Seat, messages: Sequence[Message], label: CallLabel) -> str:
        model, *fallbacks = own_models(seat.model, seat.model_hint or "", self._run.config.default_model)
        if seat.model_hint and not seat.model and not is_model_id(seat.model_hint):
            asked, why = seat.model_hint, "the hint is no model id"
            self._run.emit(ModelSubstituted(label=str(label), asked=asked, used=model, reason=why))
        return await self._run.client.call_openrouter(model, messages, label=label, fallbacks=fallbacks)


def own_models(chosen: str, hint: str, default_model: str) -> tuple[str, ...]:
    """Return whom a seat's calls go to: whom the user chose, else the hint; then who stands in for that one."""
    first = chosen or (hint if is_model_id(hint) else "") or default_model
    return (first,) if chosen or first == default_model else (first, default_model)


async def side_by_side(
    seats: Sequence[S],
    ask: Callable[[S], Awaitable[T]],
    settle: Callable[[S, T], None],
    fail: Callable[[S, LlmRuntimeError], object],
) -> None:
    """Ask seats at once, and settle what they say in seat order; who fails is told of.

    Raises:
        BudgetExceeded, DeadlineExceeded, ...: whatever is not the failure of one call.
    """

    async def heard(seat: S) -> T | LlmRuntimeError:
        try:
            return await ask(seat)
        except (CallError, StructuredOutputError, BudgetExceeded) as fault:
            # The others' calls are paid for already: what they answer is not thrown away with this one.
            return fault

    for seat, said in zip(seats, await gather(heard(seat) for seat in seats), strict=True):
        if isinstance(said, BudgetExceeded):
            raise said
        if isinstance(said, LlmRuntimeError):
            fail(seat, said)
        else:
            settle(seat, said)


def require_voices(loop: Loop, seats: int) -> None:
    """Refuse to go on with a loop in which fewer than two of so many deliberating seats have answered.

    Raises:
        CouncilFailed: it is so.
    """
    left = seats - len(loop.left_out)
    if loop.left_out and left < LEAST_VOICES:
        causes = "; ".join(f"{one.seat}: {one.error}: {one.message}" for one in loop.left_out)
        raise CouncilFailed(f"loop {loop.number} needs {LEAST_VOICES} deliberating seats and has {left} left: {causes}")


def left_out(loop: int, seat: str, role: CouncilRole, fault: LlmRuntimeError) -> SeatFailed:
    """Tell of a seat that gave no answer."""
    return SeatFailed(loop=loop, seat=seat, role=role.value, error=type(fault).__name__, message=str(fault))


def silent(critic: str, loop: int, fault: CallError) -> CouncilFailed:
    """Return the failure of a council whose critic says nothing."""
    return CouncilFailed(f"the red team ({critic}) gave no critique in loop {loop}: {reason_of(fault)}")


def reason_of(fault: LlmRuntimeError) -> str:
    """Name a failure and say what it was."""
    return f"{type(fault).__name__}: {fault}"


def is_model_id(hint: str) -> bool:
    """Tell whether a hint is ``author/model[:variant]`` or a bare name.

    Hints are written by a model. The runtime also understands ``mailbox:DIR`` and the like, which only the
    user may choose.
    """
    return len(hint) <= 200 and hint.isprintable() and " " not in hint and ":" not in hint.partition("/")[0]
