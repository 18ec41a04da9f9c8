"""One attempt at a sealed puzzle from a run's opening: ``task`` holds the puzzle, ``settings`` the model.

Inspect runs whole trials; here one attempt is a run of its own, as the jobs of a batch are. The model calls tools
by the text protocol, so any model can try. ``task`` is ``{"puzzle", "digest"}``, an id or a folder and what it
held; ``settings["engine"]`` is ``{"models": [one]}``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, cast

from llm_runtime.errors import ConfigurationError
from llm_runtime.events import Emit, RunStarted
from llm_runtime.messages import CallLabel, Generate, Message, Request

if TYPE_CHECKING:
    from ai_crucible.types import GateResult, Line, Puzzle, ToolSpec, Turn


async def run(started: RunStarted, generate: Generate, emit: Emit) -> dict[str, Any]:
    """Let the model attempt the puzzle; the result is the gate's verdict and what the attempt used.

    Raises:
        ConfigurationError: the puzzle is not there, or is not what it was.
        CannotIsolate: this machine gives no box.
        LlmRuntimeError: whatever ended a call; the attempt has no verdict then.
    """
    from ai_crucible.attempt import Framing, run_attempt
    from ai_crucible.grading.edge import SealedGrader
    from ai_crucible.text_protocol import describe_tools
    from ai_crucible.tools import TOOLS

    puzzle = load(started.task["puzzle"])
    if started.task.get("digest", puzzle.digest) != puzzle.digest:
        raise ConfigurationError(f"the puzzle {puzzle.meta.id} is not what it was when this was asked for")
    models = started.settings.get("engine", {}).get("models") or ("openrouter/auto",)
    solver = _Solver(generate, models[0], started.seed)
    framing = Framing(seed=started.seed, tool_text=describe_tools(TOOLS))
    state = await run_attempt(puzzle, solver, SealedGrader(), framing=framing, clock=solver.clock)
    gate: GateResult = state.scores["oracle"]
    return {
        "puzzle": puzzle.meta.id,
        "kind": puzzle.meta.kind,
        "anchor": puzzle.meta.anchor,
        "passed": gate.passed,
        "failed": list(gate.failed),
        "terminated_by": state.terminated_by,
        "turns": solver.turns,
        "tool_calls": sum(event.kind == "tool_call" for event in state.events),
        "submission": state.submission,
    }


def load(name: str) -> Puzzle:
    """One puzzle, by id or folder.

    Raises:
        ConfigurationError: there is none, or several, or it cannot be loaded.
    """
    from ai_crucible.catalog_paths import resolve_puzzles
    from ai_crucible.puzzle_loader import load_puzzles

    found = load_puzzles(resolve_puzzles([name]))
    if len(found) != 1:
        raise ConfigurationError(f"{name!r} names {len(found)} puzzles; an attempt is at one")
    return found[0]


class _Solver:
    """The way to a model for the kernel of attempts.

    Its clock is what the model has thought so far: recorded with the answers, so that a replay takes as long as its
    recording, and waiting for another's turn at a provider is not held against an attempt.
    """

    def __init__(self, generate: Generate, model: str, seed: int) -> None:
        self.turns = 0
        self._generate = generate
        self._model = model
        self._seed = seed
        self._milliseconds = 0

    async def __call__(self, lines: Sequence[Line], tools: Sequence[ToolSpec], role: str) -> Turn:
        from ai_crucible.text_protocol import as_plain, parse_call
        from ai_crucible.types import Turn

        self.turns += 1
        label = CallLabel("ai_crucible", "attempt", role, round=self.turns)
        reply = await self._generate(Request(self._model, _messages(as_plain(lines, self._seed)), label))
        self._milliseconds += reply.latency_ms
        calls = parse_call(reply.text, self.turns)
        return Turn(reply.text, calls, reply.usage.input_tokens, reply.usage.output_tokens, reply.model)

    def clock(self) -> float:
        """Seconds of thought."""
        return self._milliseconds / 1000


def _messages(lines: Sequence[Line]) -> tuple[Message, ...]:
    # Of lines made plain, none is a tool's any more.
    return tuple(Message(cast('Literal["system", "user", "assistant"]', line.role), line.content) for line in lines)
