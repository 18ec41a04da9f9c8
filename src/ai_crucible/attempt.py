"""One attempt, from the scored context to the gate: the kernel that both Inspect's task and a bare loop run."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from ai_crucible.budget_governor import Governor
from ai_crucible.framing import Framing, render_context
from ai_crucible.judge_panel import Judge, Reducer, convene
from ai_crucible.oracle_scorer import gate
from ai_crucible.puzzle_box import order_of
from ai_crucible.roles import CohortSolver, Critic, Recorder, Solver
from ai_crucible.tools import WorkBox, carry_out
from ai_crucible.trace_writer import change_of
from ai_crucible.types import AttemptState, GateResult, Hands, OracleRunner, Prompting, Puzzle
from llm_runtime.errors import ConfigurationError
from llm_runtime.tasks import gather
from sandbox import Box, BoxDied, Root

_SETUP = "/tmp/.setup.sh"
_MOST_ADDED = 16 * 1024 * 1024


def begin(puzzle: Puzzle, framing: Framing) -> AttemptState:
    """Return a state with its scored context, chrome beside it."""
    lines = render_context(puzzle, framing)
    return AttemptState(puzzle, framing.arm, framing.seed, lines, chrome=dict(framing.chrome))


async def prepare(box: WorkBox, puzzle: Puzzle) -> None:
    """Fill a fresh box: the puzzle's files, then its setup script.

    Raises:
        ConfigurationError: the setup script fails.
    """
    for name, data in puzzle.files.items():
        await box.write(name, data)
    if not puzzle.setup_script:
        return
    await box.write(_SETUP, puzzle.setup_script.encode())
    done = await box.run(["/bin/sh", _SETUP])
    await box.run(["/bin/rm", "-f", _SETUP])
    if done.code != 0 or done.ended:
        complaint = done.stderr[-200:].decode("utf-8", "replace").strip()
        raise ConfigurationError(f"{puzzle.meta.id}: setup.sh ended with {done.code} {done.ended}: {complaint}")


async def untouched_copy(puzzle: Puzzle, root: Root | None = None) -> bytes:
    """Return the work folder that every attempt of a puzzle starts from, in boxes made of a root."""
    box = await order_of(puzzle, root).open()
    try:
        await prepare(box, puzzle)
        return await box.pack()
    finally:
        await box.close()


async def grade(
    state: AttemptState, governor: Governor | None, oracle: OracleRunner, *, judges: Sequence[Judge] = (),
    family: str = "", allow_untagged: bool = False, reducer: Reducer = "median",
) -> GateResult:  # fmt: skip
    """Grade a halted attempt: verdict, panel, gate; all of it is kept in ``state.scores``.

    Raises:
        PanelEmpty: judges were given and every one is excluded.
        GradingFailed, PuzzleRefused: the oracle gave no verdict.
    """
    record = Recorder(state, governor or Governor(state.puzzle.meta.budget))
    seconds = governor.seconds if governor else 0.0
    state.scores["change"] = await asyncio.to_thread(change_of, state.untouched, state.work)
    record("copied", sha256=hashlib.sha256(state.work).hexdigest(), change=state.scores["change"])
    verdict = await oracle(state.puzzle, state.untouched, state.work)
    record("graded", **verdict.model_dump(mode="json"))
    panel = None
    if judges:
        panel = await convene(judges, state, family=family, allow_untagged=allow_untagged, reducer=reducer)
        state.scores["panel"] = panel
        record("panel", **panel.model_dump(mode="json"))
    result = gate(
        state.puzzle.meta,
        verdict,
        terminated_by=state.terminated_by,
        novelty_claim=state.novelty_claim,
        panel=panel,
        seconds=seconds,
    )
    state.scores["verdict"], state.scores["oracle"] = verdict, result
    record("gate", **result.model_dump(mode="json"))
    return result


async def run_attempt(
    puzzle: Puzzle, generate: Prompting | Sequence[Prompting], oracle: OracleRunner, *,
    framing: Framing | None = None, judges: Sequence[Judge] = (), family: str = "",
    critic: Prompting | None = None, box: Box | None = None, hands: Callable[[WorkBox], Hands] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> AttemptState:  # fmt: skip
    """Run one attempt without Inspect: with a fake ``generate`` it runs in a test, without any model.

    Args:
        puzzle: what is attempted.
        generate: the way to a model; several make a cohort.
        oracle: the grading edge.
        framing: how it is put.
        judges: the panel; empty for none.
        family: of the solver's model, for exclusion.
        critic: a critic's way to a model; off by default.
        box: a fresh box; one is opened and closed where left out.
        hands: carries out tool calls in the box.
        clock: seconds, monotonic.
    """
    own = box is None
    box = box or await order_of(puzzle).open()
    try:
        await prepare(box, puzzle)
        state = begin(puzzle, framing or Framing())
        state.untouched = await box.pack()
        governor = Governor(puzzle.meta.budget, clock)
        act = hands(box) if hands else partial(carry_out, box)
        solver = Solver(generate, act, governor) if callable(generate) else CohortSolver(generate, act, governor)
        await solver(state)
        state.work = await halt(state, box.pack)
    finally:
        if own:
            await box.close()
    await grade(state, governor, oracle, judges=judges, family=family)
    if critic is not None:
        await Critic(critic)(state, Recorder(state, governor))
    return state


async def halt(state: AttemptState, pack: Callable[[], Any]) -> bytes:
    """Copy out the work folder; where none can be graded return the untouched one, which solves nothing."""
    try:
        work = await pack()
        if len(work) <= len(state.untouched) + _MOST_ADDED:
            return work
        state.terminated_by = "work_refused"
    except BoxDied:
        state.terminated_by = "box_died"
    except (OSError, ValueError):
        state.terminated_by = "work_refused"
    return state.untouched


async def run_pass_hat_k(k: int, attempt: Callable[[int], Any], *, at_once: int = 1) -> list[AttemptState]:
    """Run ``k`` sibling attempts, each from nothing, and return them in order; ``attempt(1)`` runs the first."""
    turn = asyncio.Semaphore(at_once)

    async def one(number: int) -> AttemptState:
        async with turn:
            return await attempt(number)

    return await gather(one(number) for number in range(1, k + 1))
