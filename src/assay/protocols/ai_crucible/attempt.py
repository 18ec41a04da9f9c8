"""One attempt at a sealed puzzle as a run of its own, as the jobs of a batch are.

Inspect runs whole trials. Here the model calls tools by the text protocol, so any model can try.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

from pydantic import Field

from assay.fields import Ui, read_ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.ai_crucible.trials import PuzzleName, need_box
from assay.report.standing import RunVerdict
from assay.report.units import count_noun
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import CallLabel, Generate, Message, Request
from llm_runtime.models import Model
from llm_runtime.names import ModelName

if TYPE_CHECKING:
    from ai_crucible.types import GateResult, Line, Puzzle, Turn
    from llm_runtime.tool_calls import ToolSpec


FIELDS = read_ui(__package__ or "")


class Task(Model):
    """One puzzle."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["attempt"]

    puzzle: PuzzleName = Field(min_length=1)
    """An id, or a folder."""
    digest: Annotated[str, Ui(hidden=True)] = ""
    """What the puzzle held when it was asked for."""


class Options(Model):
    """Who attempts it."""

    solver: ModelName = "openrouter/auto"
    """The model that attempts it, unless the terms name one."""


class AttemptHooks(Hooks[Task, Options]):
    """What an attempt does."""

    extra = False
    older = ("puzzle",)
    older_looked = True
    measures = {
        # An anchor calibrates: that everyone solves it, or nobody, says nothing of a model.
        "passed": lambda result: None if result.get("anchor") else result.get("passed"),
        "turns": lambda result: result.get("turns"),
        "tool calls": lambda result: result.get("tool_calls"),
    }

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
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

        puzzle = load(task.puzzle)
        if task.digest and task.digest != puzzle.digest:
            raise ConfigurationError(f"the puzzle {puzzle.meta.id} is not what it was when this was asked for")
        solver = _Solver(context.generate, options.solver, context.seed)
        grader = SealedGrader(seed=context.seed)
        puzzle = await grader.draw(puzzle)
        framing = Framing(seed=context.seed, tool_text=describe_tools(TOOLS))
        state = await run_attempt(puzzle, solver, grader, framing=framing, clock=solver.clock)
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

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Look the puzzle up, and say what it holds; look once whether this machine gives a box.

        Raises:
            ConfigurationError: the puzzle is not there.
            CannotIsolate: there is no box.
        """
        need_box()
        return task if task.digest else task.model_copy(update={"digest": _digest(task.puzzle)}), options

    def upgrade(self, task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[Data, Data]:
        """Return task and options of an older log or job file, whose engine names ``models = [one]``.

        Raises:
            ConfigurationError: it names several.
        """
        options = dict(settings.get("engine", {}))
        models: Any = options.pop("models", None) or []
        if not isinstance(models, list) or len(cast("list[Any]", models)) > 1:
            raise ConfigurationError("models: an attempt is made by one model; put several into the grid")
        return dict(task), {**options, **({"solver": str(cast("list[Any]", models)[0])} if models else {})}

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return whether the puzzle was solved."""
        turns = f"after {count_noun(result['turns'], 'turn')}"
        if result["passed"]:
            return RunVerdict("passed", turns, leaning="good")
        return RunVerdict("not passed", turns, ", ".join(map(str, result["failed"][:3])), "bad")


@lru_cache(maxsize=1024)
def _digest(puzzle: str) -> str:
    return load(puzzle).digest


def load(name: str) -> Puzzle:
    """One puzzle, by id or folder.

    Raises:
        ConfigurationError: there is none, or several, or it cannot be loaded.
    """
    from ai_crucible.catalog_paths import resolve_puzzles
    from ai_crucible.puzzle_loader import load_puzzles

    puzzles = load_puzzles(resolve_puzzles([name]))
    if len(puzzles) != 1:
        raise ConfigurationError(f"{name!r} names {len(puzzles)} puzzles; an attempt is at one")
    return puzzles[0]


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
        from ai_crucible.text_protocol import as_plain
        from ai_crucible.types import Turn
        from llm_runtime.tool_calls import parse_call

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
