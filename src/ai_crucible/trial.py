"""A trial as an Inspect task: ``inspect eval ai_crucible/trial -T puzzles=all -T k=5 --model ...``.

Inspect runs the samples and epochs, enforces its own limits, reduces the scores and writes the log. What is ours
goes where Inspect keeps such things: a sample's metadata, its scores and its transcript.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from inspect_ai import Epochs, Task, task
from inspect_ai._util.working import sample_waiting_time
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import transcript
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, ScoreReducer, Target, accuracy, mean, mean_score, pass_at, pass_k, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import LimitExceededError, SandboxEnvironmentSpec, registry_info, sandbox

from ai_crucible import roles
from ai_crucible.agent_attempt import AgentSolver
from ai_crucible.agents import AgentCommand, agent_name, find_agent, order_for
from ai_crucible.attempt import begin, grade, halt, prepare
from ai_crucible.attestation import TrialKeeper
from ai_crucible.boundary import leaked
from ai_crucible.budget_governor import Governor, Halt
from ai_crucible.catalog_paths import resolve_puzzles
from ai_crucible.framing import Framing, PastAttempt, Rival
from ai_crucible.grading.edge import SealedGrader
from ai_crucible.inspect_bridge import inspect_generate, inspect_hands, to_chat
from ai_crucible.inspect_sandbox import BwrapSandbox, InspectWorkBox
from ai_crucible.judge_panel import Judge, Reducer
from ai_crucible.keeping import keep
from ai_crucible.leaving_out import LeavingOut
from ai_crucible.purse import PURSE
from ai_crucible.puzzle_box import order_of, root_at
from ai_crucible.puzzle_loader import in_drawn_order, load_puzzles
from ai_crucible.text_protocol import describe_tools
from ai_crucible.tools import TOOLS
from ai_crucible.trace_writer import score_digest, write_trace
from ai_crucible.types import ARMS, AttemptState, Puzzle
from ai_crucible.versions import environment, oracle_digest, self_reported
from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct

T = TypeVar("T", bound=str)
_Rows: TypeAlias = "dict[str, list[Any]]"
"""By puzzle, rows of results."""
_REDUCERS: tuple[Reducer, ...] = ("median", "majority")
GRADED: ContextVar[Callable[[str, bool, int], None] | None] = ContextVar("graded", default=None)
"""Who is told of each graded attempt: its puzzle, whether it passed, and its epoch."""

KEEPER: ContextVar[TrialKeeper | None] = ContextVar("keeper", default=None)
"""Who writes down, before the log is, that an attempt began, what it left, and that it was graded."""

LEFT_OUT: ContextVar[Callable[[str, int], str] | None] = ContextVar("left_out", default=None)
"""Who tells, before each attempt, why it is not made; empty where it is."""


class _Panel(Struct):
    """Who has a part in an attempt besides the solver."""

    judges: tuple[str, ...]
    untagged: bool
    reducer: Reducer
    critic: str
    cohort: tuple[str, ...]
    agent: AgentCommand | None = None


class _Desk:
    """What one run of the task holds: its puzzles, its grader, and the attempts in flight by sample."""

    def __init__(self, puzzles: Sequence[Puzzle], framing: Framing, panel: _Panel, grader: SealedGrader) -> None:
        self.puzzles = {puzzle.meta.id: puzzle for puzzle in puzzles}
        self.framing = framing
        self.panel = panel
        self.grader = grader
        self.attempts: dict[str, tuple[AttemptState, Governor]] = {}

    def puzzle(self, state: TaskState) -> Puzzle:
        return self.puzzles[str(state.sample_id)]

    def attempt(self, state: TaskState) -> tuple[AttemptState, Governor]:
        return self.attempts[state.uuid]


@task
def trial(
    puzzles: str | list[str] = "all", k: int = 1, arm: str = "neutral", protocol: str = "native",
    seed: int | None = None, judges: str | list[str] = "", chrome: dict[str, Any] | None = None,
    history: _Rows | None = None, standings: _Rows | None = None, sandbox: str = "bwrap", box_root: str = "",
    untagged: bool = False, reducer: str = "median", critic: str = "", cohort: str | list[str] = "",
    agent: str = "", shuffled: bool = False,
) -> Task:  # fmt: skip
    """Attempt sealed puzzles k times each, each attempt in a box of its own.

    Args:
        puzzles: ``all``, ids of built-in puzzles, folders of puzzles, or a list of those; commas part them in text.
        k: attempts at each puzzle.
        arm: ``neutral``, ``self_referential`` or ``social_standings``.
        protocol: ``native`` tool calls, or ``text`` for models that have none.
        seed: 0 to 2^53-1; fences derive from it, so it is drawn where left out: no author can foresee one.
        judges: model ids of the panel; none where empty.
        chrome: rank, leaderboard, standings: kept beside every attempt; an attempt into which it leaks is halted.
        history: for the self-referential arm: by puzzle, the model's own attempts [passed, seconds, tool calls].
        standings: for the social arm: by puzzle, others' results [name, attempts, passed].
        sandbox: the kind of box; ``bwrap``, or ``docker`` where that is at hand.
        box_root: an unpacked or OCI image, of which boxes are made; ``host`` for all programs of this machine, as
            agents have them where it is empty; else it is a small root of them.
        untagged: seat judges whose family nobody knows.
        reducer: of the judges' scores: ``median`` or ``majority``.
        critic: a model that comments on each finished attempt, into the trace; none where empty.
        cohort: models that take turns with the solver in one attempt.
        agent: whose command line attempts it with the model, by name or in words; see ``agents.toml``.
        shuffled: the puzzles' order is drawn from the seed; by id where left out.
    """
    arm, reducer = _one_of("framing arm", arm, ARMS), _one_of("reducer", reducer, _REDUCERS)
    _one_of("protocol", protocol, ("native", "text"))
    seed = secrets.randbelow(2**53) if seed is None else seed
    if sandbox == "local":
        raise ConfigurationError("the local sandbox isolates nothing, so no attempt is run in it; use bwrap or docker")
    loaded = load_puzzles([Path(folder) for folder in resolve_puzzles(_listed(puzzles))])
    loaded = in_drawn_order(loaded, seed) if shuffled else loaded
    root = root_at(box_root, whole=bool(agent))
    grader = SealedGrader(root, {puzzle.meta.id: oracle_digest(puzzle) for puzzle in loaded}, seed)
    loaded = _draw_all(grader, loaded)
    text = describe_tools(TOOLS) if protocol == "text" else ""
    framing = Framing(arm, seed, dict(chrome or {}), tool_text=text, judged=bool(_listed(judges)), agent=bool(agent))
    command = _agent(agent, sandbox, cohort)
    panel = _Panel(tuple(_listed(judges)), untagged, reducer, critic, tuple(_listed(cohort)), command)
    desk = _Desk(loaded, framing, panel, grader)
    framings = {name: _of_puzzle(framing, name, history or {}, standings or {}) for name in desk.puzzles}
    samples = [_sample(puzzle, framings[puzzle.meta.id], sandbox, desk) for puzzle in loaded]
    reducers: list[ScoreReducer] = [mean_score(), pass_at(k), pass_k(k)] if k > 1 else [mean_score()]
    scorers: list[Scorer] = [oracle_scorer(desk)]
    if desk.panel.judges:
        scorers.append(panel_scorer(desk))
    return Task(
        dataset=MemoryDataset(samples, name="puzzles"),
        setup=fill_box(desk, framings),
        solver=attempt_solver(desk, protocol == "text"),
        cleanup=_forget(desk),
        scorer=scorers,
        epochs=Epochs(k, reducers),
        # One attempt's error stops no other, and leaves a log that a further sitting completes.
        fail_on_error=True,
        continue_on_fail=True,
        metadata={"ai_crucible": _conditions(desk, protocol) | ({"agent": agent_name(agent)} if agent else {})},
        version=1,
        early_stopping=LeavingOut(reason) if (reason := LEFT_OUT.get()) else None,
    )


if registry_info(trial).name == "trial":
    # Inspect puts the package's name before the task's, except where it finds no distribution of that name, as in
    # an editable install of Assay; by name it is ai_crucible/trial either way.
    trial = task(name="ai_crucible/trial")(cast(Any, trial).__wrapped__)


def _of_puzzle(framing: Framing, puzzle: str, history: _Rows, standings: _Rows) -> Framing:
    past = [PastAttempt(*each) for each in history.get(puzzle, ())]
    return replace(framing, history=past, standings=[Rival(*each) for each in standings.get(puzzle, ())])


def _conditions(desk: _Desk, protocol: str) -> dict[str, object]:
    """Return what the log says of all attempts."""
    told = {"arm": desk.framing.arm, "protocol": protocol, "seed": desk.framing.seed}
    cohort = {"cohort": list(desk.panel.cohort)} if desk.panel.cohort else {}
    return {**told, "environment": environment(desk.grader.root), **cohort}


def _one_of(what: str, value: str, known: Sequence[T]) -> T:
    """Return a value as one of those that there are."""
    if value not in known:
        raise ConfigurationError(f"no {what} {value!r}; there are: {', '.join(map(str, known))}")
    return known[known.index(value)]


def _draw_all(grader: SealedGrader, puzzles: Sequence[Puzzle]) -> list[Puzzle]:
    async def each() -> list[Puzzle]:
        return [await grader.draw(puzzle) for puzzle in puzzles]

    if not any(puzzle.meta.drawn for puzzle in puzzles):
        return list(puzzles)
    # In a thread, for Inspect may make the task where an event loop runs already.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, each()).result()


def _listed(value: str | list[str]) -> list[str]:
    return [part.strip() for part in (value.split(",") if isinstance(value, str) else value) if part.strip()]


def _agent(words: str, sandbox: str, cohort: str | list[str]) -> AgentCommand | None:
    if words and (sandbox != "bwrap" or cohort):
        raise ConfigurationError("an agent sits alone, without a cohort, and in the box of bwrap")
    return find_agent(words) if words else None


def _sample(puzzle: Puzzle, framing: Framing, kind: str, desk: _Desk) -> Sample:
    state, agent = begin(puzzle, framing), desk.panel.agent
    order = order_of(puzzle, desk.grader.root) if kind == "bwrap" else None
    meta = puzzle.meta
    return Sample(
        id=meta.id,
        input=[to_chat(line) for line in state.messages],
        target="the sealed oracle",
        metadata={
            "kind": meta.kind,
            "difficulty": meta.difficulty,
            "anchor": meta.anchor,
            "puzzle_digest": puzzle.digest,
            "oracle_digest": desk.grader.oracles[meta.id],
            "self_reported": self_reported(puzzle),
            "hours": meta.hours,
            "budget": meta.budget.model_dump(),
            "arm": framing.arm,
            "seed": framing.seed,
        },
        sandbox=SandboxEnvironmentSpec(kind, order_for(order, agent) if agent and order else order),
    )


@solver
def fill_box(desk: _Desk, framings: dict[str, Framing]) -> Solver:
    """Fill the fresh box and copy what the solver will find, whatever solver is chosen."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        if purse := PURSE.get():
            purse.need_open()
        puzzle = desk.puzzle(state)
        if keeper := KEEPER.get():
            await asyncio.to_thread(keeper.begun, puzzle, state.epoch, state.uuid)
        # An oracle that cannot grade is told before a model is asked.
        await desk.grader.ready(puzzle)
        box = InspectWorkBox(sandbox())
        await prepare(box, puzzle)
        attempt = begin(puzzle, framings[puzzle.meta.id])
        attempt.untouched = await box.pack()
        desk.attempts[state.uuid] = (attempt, Governor(puzzle.meta.budget))
        return state

    return solve


@solver
def attempt_solver(desk: _Desk, in_text: bool) -> Solver:
    """Run the solver role under the governor, its model calls and tool calls by way of Inspect."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        attempt, _ = desk.attempt(state)
        # The clock starts here: filling the box is not the solver's time.
        governor = Governor(attempt.puzzle.meta.budget, working_time)
        desk.attempts[state.uuid] = (attempt, governor)
        hands = inspect_hands(InspectWorkBox(sandbox()))
        models = [get_model(), *(get_model(name) for name in desk.panel.cohort)]
        asks = [inspect_generate(one, state, in_text=in_text, seed=desk.framing.seed) for one in models]
        try:
            if desk.panel.agent:
                await AgentSolver(desk.panel.agent, sandbox().as_type(BwrapSandbox).box, governor)(attempt)
            elif desk.panel.cohort:
                await roles.CohortSolver(asks, hands, governor)(attempt)
            else:
                await roles.Solver(asks[0], hands, governor)(attempt)
        except LimitExceededError:
            attempt.terminated_by = "inspect_limit"
            raise
        finally:
            state.messages = [to_chat(line) for line in attempt.messages]
        state.completed = True
        return state

    return solve


@scorer(metrics=[accuracy()])
def oracle_scorer(desk: _Desk) -> Scorer:
    """Grade out-of-band and apply the gate: 1 where the attempt passed."""

    async def score_attempt(state: TaskState, target: Target) -> Score:
        attempt, governor = desk.attempt(state)
        if not attempt.work:
            # The solver is at its end, whichever it was: nothing of it runs while its work is copied and graded.
            governor.stop()
            attempt.work = await halt(attempt, InspectWorkBox(sandbox()).pack)
            if leaked(attempt) and attempt.terminated_by != "chrome_leak":
                attempt.terminated_by = "chrome_leak"
        panel = desk.panel
        result = await grade(
            attempt,
            governor,
            desk.grader,
            judges=[Judge(inspect_generate(get_model(name)), str(get_model(name))) for name in panel.judges],
            family=str(state.model),
            allow_untagged=panel.untagged,
            reducer=panel.reducer,
        )
        if panel.critic:
            # What it says goes to the trace alone; where it brings standings in, the alarm stands there too.
            with suppress(Halt):
                ask = inspect_generate(get_model(panel.critic))
                await roles.Critic(ask)(attempt, roles.Recorder(attempt, governor))
        write_trace(attempt, transcript())
        if notify := GRADED.get():
            notify(attempt.puzzle.meta.id, result.passed, state.epoch)
        keeper = KEEPER.get()
        folder = keeper and keeper.ledger.path.parent
        score = Score(
            value=1.0 if result.passed else 0.0,
            answer=attempt.submission or None,
            explanation="passed" if result.passed else "failed: " + ", ".join(result.failed),
            metadata={
                "gate": result.model_dump(mode="json"),
                "verdict": attempt.scores["verdict"].model_dump(mode="json"),
                "terminated_by": attempt.terminated_by,
                "novelty_claim": attempt.novelty_claim,
                "seconds": round(governor.seconds, 3),
                "tool_calls": dict(governor.used),
                "turns": governor.turns,
                "work": await asyncio.to_thread(keep, folder, attempt.untouched, attempt.work) if folder else None,
            },
        )
        if keeper:
            await asyncio.to_thread(keeper.graded, state.uuid, score_digest(score))
        return score

    return score_attempt


@scorer(metrics=[mean()])
def panel_scorer(desk: _Desk) -> Scorer:
    """Return the panel's score beside the gate's; it decides nothing but claimed novelty."""

    async def score(state: TaskState, target: Target) -> Score:
        attempt, _ = desk.attempt(state)
        panel = attempt.scores["panel"]
        return Score(value=float("nan") if panel.value is None else panel.value, metadata=panel.model_dump(mode="json"))

    return score


def working_time() -> float:
    """Return seconds as a solver's clock counts them: without what Inspect knows to be waiting for a provider."""
    return time.monotonic() - sample_waiting_time()


def _forget(desk: _Desk) -> Any:
    async def cleanup(state: TaskState) -> None:
        desk.attempts.pop(state.uuid, None)

    return cleanup
