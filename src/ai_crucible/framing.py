"""The scored context: the task (tier 1) in one of three framings (tier 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, NamedTuple

from ai_crucible.types import Arm, Budget, Line, Puzzle, PuzzleMeta
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import CallLabel
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structs import Struct

_PACKAGE = "ai_crucible"


class PastAttempt(NamedTuple):
    """One attempt of the same model on the same puzzle, as it really happened: what a personal best rests on."""

    passed: bool
    seconds: float
    tool_calls: int


class Rival(NamedTuple):
    """Other solvers' real results on the puzzle: a name, attempts and passes. For the social arm only."""

    name: str
    attempts: int
    passed: int


class Framing(Struct):
    """How an attempt is framed.

    Args:
        arm: the framing arm.
        seed: of the run, 0 to 2^53-1; fences derive from it.
        chrome: rank, leaderboard, standings: kept beside the attempt, never in its messages.
        history: this model's earlier attempts on this puzzle; the self-referential arm needs one.
        standings: others' results; the social arm needs one.
        tool_text: how to call tools in text, for models without native calls.
        judged: whether judges rule on a claim of novelty.
        agent: whether an agent with tools of its own attempts it.
    """

    arm: Arm = "neutral"
    seed: int = 0
    chrome: dict[str, Any] = field(default_factory=dict[str, Any])
    history: Sequence[PastAttempt] = ()
    standings: Sequence[Rival] = ()
    tool_text: str = ""
    judged: bool = False
    agent: bool = False


def render_context(puzzle: Puzzle, framing: Framing) -> list[Line]:
    """Return the messages that an attempt at a puzzle starts with.

    Raises:
        ConfigurationError: an arm without the history that it refers to; nothing is made up.
    """
    fence = Fence(framing.seed, CallLabel("ai_crucible", "task", puzzle.meta.id))
    stated, budget = fence("TASK", f"{puzzle.meta.title}\n\n{puzzle.prompt}"), puzzle.meta.budget
    if framing.agent:
        whole = load_prompt(_PACKAGE, "agent").render(
            framing=_framed(puzzle, framing),
            files=_rule(puzzle.meta, fence),
            budget=f"{budget.turns} questions to your model, {budget.seconds:g} seconds of wall time",
            task=stated,
        )
        return [Line("user", whole)]
    system = load_prompt(_PACKAGE, "solver").render(
        framing=_framed(puzzle, framing),
        files=_rule(puzzle.meta, fence),
        budget=describe(budget),
        tools=framing.tool_text,
        novelty=load_prompt(_PACKAGE, "novelty_judged" if framing.judged else "novelty_unjudged").render().strip(),
    )
    return [Line("system", system.strip()), Line("user", load_prompt(_PACKAGE, "task").render(task=stated))]


def describe(budget: Budget) -> str:
    """Return a budget in words."""
    return (
        f"{budget.exec} commands (exec), {budget.read_file} reads (read_file), {budget.write_file} writes "
        f"(write_file), {budget.turns} turns, {budget.seconds:g} seconds of wall time"
    )


def _rule(meta: PuzzleMeta, fence: Fence) -> str:
    """Say which files may change, and what becomes of others."""
    if "*" in meta.editable:
        return load_prompt(_PACKAGE, "files_all").render().strip()
    listed = fence("FILES", "\n".join(meta.editable))
    return load_prompt(_PACKAGE, f"files_{meta.leftovers}").render(files=listed).strip()


def _framed(puzzle: Puzzle, framing: Framing) -> str:
    if framing.arm == "neutral":
        return load_prompt(_PACKAGE, "framing_neutral").render()
    if framing.arm == "self_referential":
        if not framing.history:
            raise ConfigurationError(
                f"{puzzle.meta.id}: the self-referential arm needs attempts of this model; run neutral first"
            )
        return load_prompt(_PACKAGE, "framing_self_referential").render(best=personal_best(framing.history))
    if not framing.standings:
        raise ConfigurationError(
            f"{puzzle.meta.id}: the social-standings arm needs results of other models; run some first"
        )
    table = "\n".join(f"- {row.name}: solved {row.passed} of {row.attempts}" for row in framing.standings)
    return load_prompt(_PACKAGE, "framing_social_standings").render(standings=table)


def personal_best(history: Sequence[PastAttempt]) -> str:
    """Return the best of earlier attempts in words: solved first, then fewer tool calls, then less time."""
    solved = sum(attempt.passed for attempt in history)
    best = min(history, key=lambda attempt: (not attempt.passed, attempt.tool_calls, attempt.seconds))
    tally = f"Of your {len(history)} earlier attempts at this task {solved} passed."
    if not best.passed:
        return f"{tally} None has passed yet."
    return f"{tally} Your best took {best.tool_calls} tool calls and {best.seconds:.0f} seconds."
