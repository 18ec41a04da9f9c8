"""The role slots. Each is made with the same injected ``generate`` and reaches models through nothing else.

Only a solver has tools. The judge is in :mod:`ai_crucible.judge_panel`; a designer is a person (AC13).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ai_crucible.boundary import leaked
from ai_crucible.budget_governor import Governor, Halt
from ai_crucible.tools import SUBMIT, TOOLS, faults, tool_class
from ai_crucible.types import AttemptState, Hands, Line, Prompting, TraceEvent
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.tool_calls import ToolCall
from sandbox import BoxDied

_NUDGES = 2


class Recorder:
    """Writes what the kernel sees into an attempt's events; the only place where they are made."""

    def __init__(self, state: AttemptState, governor: Governor) -> None:
        self._state = state
        self._governor = governor

    def __call__(self, kind: Any, **data: Any) -> None:
        self._state.events.append(TraceEvent(kind=kind, at_ms=int(self._governor.elapsed * 1000), data=data))


class Solver:
    """Works in the box until it submits, stops talking, or is stopped.

    Args:
        generate: the way to the model.
        hands: carries out an admitted tool call.
        governor: the budget.
        name: the role under which its calls are recorded.
    """

    def __init__(self, generate: Prompting, hands: Hands, governor: Governor, name: str = "solver") -> None:
        self._generate = generate
        self._hands = hands
        self._governor = governor
        self._name = name

    async def __call__(self, state: AttemptState) -> AttemptState:
        """Run the attempt. How it ended is in ``terminated_by``; a stop is no exception."""
        record = Recorder(state, self._governor)
        try:
            sound_andon(state, record, "before the first call")
            record("started", arm=state.arm, budget=self._governor.budget.model_dump())
            await self._work(state, record)
        except Halt as halt:
            state.terminated_by = halt.terminated_by
            record("terminated", by=halt.terminated_by, detail=halt.detail)
        except BoxDied as fault:
            state.terminated_by = "box_died"
            record("terminated", by="box_died", detail=str(fault))
        else:
            record("terminated", by=state.terminated_by, detail="")
        finally:
            self._governor.stop()
        return state

    async def _work(self, state: AttemptState, record: Recorder) -> None:
        silent = 0
        while state.terminated_by is None:
            self._governor.begin_turn()
            turn = await self._generate(state.messages, TOOLS, self._name)
            record(
                "model_call",
                model=turn.model,
                input_tokens=turn.input_tokens,
                output_tokens=turn.output_tokens,
                calls=len(turn.calls),
            )
            state.messages.append(Line("assistant", turn.text, turn.calls))
            sound_andon(state, record, "after a turn")
            self._governor.check_clock()
            if not turn.calls:
                silent += 1
                if silent > _NUDGES:
                    state.terminated_by = "stopped_talking"
                    return
                state.messages.append(Line("user", load_prompt("ai_crucible", "nudge").render()))
                continue
            silent = 0
            for call in turn.calls:
                await self._call(state, call, record)
                if state.terminated_by is not None:
                    return

    async def _call(self, state: AttemptState, call: ToolCall, record: Recorder) -> None:
        fault = faults(call)
        kind = tool_class(call)
        if fault or kind is None:
            self._governor.check_clock()
            self._governor.notice(call)
            if not fault and call.name == SUBMIT:
                state.submission = str(call.arguments["summary"])
                state.novelty_claim = str(call.arguments.get("novelty", "")).strip()
                state.terminated_by = "submitted"
            result = fault or "submitted"
        else:
            self._governor.admit(call, kind)
            result = await self._hands(call)
        record("tool_call", name=call.name, arguments=call.arguments, result=result, refused=bool(fault))
        state.messages.append(Line("tool", f"{result}\n{self._governor.shown()}", answers=call.id))
        sound_andon(state, record, "after a tool call")


class CohortSolver(Solver):
    """Several solvers that take turns in one box, on one budget and one conversation.

    Args:
        generates: one way to a model for each member, at least one.
    """

    def __init__(self, generates: Sequence[Prompting], hands: Hands, governor: Governor) -> None:
        if not generates:
            raise ValueError("a cohort has at least one member")
        turn = 0

        async def in_turn(lines: Sequence[Line], tools: Any, role: str) -> Any:
            nonlocal turn
            member = turn % len(generates)
            turn += 1
            return await generates[member](lines, tools, f"{role}:{member}")

        super().__init__(in_turn, hands, governor, name="cohort")


class Critic:
    """Reserved and off unless asked for: reads a finished attempt and comments. It has no tools and no vote."""

    def __init__(self, generate: Prompting) -> None:
        self._generate = generate

    async def __call__(self, state: AttemptState, record: Callable[..., None]) -> str:
        """Return what the critic says; it goes to the trace and never into the scored context."""
        lines = [Line("system", load_prompt("ai_crucible", "critic").render()), *_conversation_of(state)]
        turn = await self._generate(lines, (), "critic")
        record("critic", text=turn.text)
        sound_andon(state, record, "after the critic")
        return turn.text


def _conversation_of(state: AttemptState) -> list[Line]:
    fence = Fence(state.seed, CallLabel("ai_crucible", "critic", state.puzzle.meta.id))
    story = "\n\n".join(f"{line.role}: {line.content}" for line in state.messages if line.role != "system")
    return [Line("user", fence("ATTEMPT", story))]


def sound_andon(state: AttemptState, record: Callable[..., None], when: str) -> None:
    """Stop an attempt whose scored context holds chrome.

    Raises:
        Halt: it does.
    """
    phrases = leaked(state)
    if phrases:
        record("andon", when=when, phrases=phrases)
        raise Halt("chrome_leak", f"standings stand in the scored context {when}")
