"""Verdicts made again from a bundle: what each attempt left is laid over its task and graded anew, on any machine."""

from __future__ import annotations

import zipfile
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from ai_crucible.archives import with_changes
from ai_crucible.attempt import untouched_copy
from ai_crucible.bundle import trials_in
from ai_crucible.catalog_paths import built_in_ids, resolve_puzzles
from ai_crucible.events import AttemptGraded, TrialPlanned
from ai_crucible.grading.edge import GradingFailed, SealedGrader
from ai_crucible.keeping import MOST_BYTES, work_from
from ai_crucible.oracle_scorer import OF_THE_RUN, gate
from ai_crucible.puzzle_loader import load_puzzles
from ai_crucible.types import Puzzle, PuzzleMeta, Verdict
from ai_crucible.versions import changed_parts, environment, oracle_digest, seed_of
from llm_runtime.errors import ConfigurationError
from llm_runtime.structs import Struct
from sandbox import Root

Tasks: TypeAlias = "Mapping[str, Puzzle]"
_LOST = f"its work was more than {MOST_BYTES >> 20} MiB and was not kept"


class Regraded(Struct):
    """One attempt, judged again.

    Args:
        trial: its id.
        puzzle: the task's.
        epoch: which attempt at it, from 1.
        told: conditions of the gate that failed, as the bundle has it.
        now: those that fail now.
        unknown: why nobody can tell; empty where it was graded.
    """

    trial: str
    puzzle: str
    epoch: int
    told: tuple[str, ...]
    now: tuple[str, ...]
    unknown: str = ""

    @property
    def same(self) -> bool:
        """Whether the verdict is the one that was told."""
        return not self.unknown and bool(self.told) == bool(self.now)


def planned_in(path: Path) -> list[tuple[TrialPlanned, list[AttemptGraded]]]:
    """Return the trials that a bundle was made for, each with its attempts that have a verdict; it was verified before.

    Raises:
        ConfigurationError: it was made before work was kept.
    """
    found: list[tuple[TrialPlanned, list[AttemptGraded]]] = []
    for trial in trials_in(path):
        if trial.plan is None or trial.plan.seed is None:
            raise ConfigurationError(f"{path} carries no work to judge again: it was made before work was kept")
        graded = sorted(trial.graded.values(), key=lambda event: (event.puzzle, event.epoch))
        found.append((trial.plan, [event for event in graded if event.passed is not None]))
    return found


def tasks_for(plans: Sequence[TrialPlanned], folders: Sequence[str] = ()) -> Tasks:
    """Return the tasks of trials by id: those in folders, and of the others those that come with this package.

    Raises:
        ConfigurationError: one is not here.
    """
    wanted = {name for plan in plans for name in plan.puzzles}
    own = {one.meta.id: one for one in (load_puzzles(resolve_puzzles(folders)) if folders else ())}
    here = sorted(wanted & {*built_in_ids()} - own.keys())
    own |= {one.meta.id: one for one in (load_puzzles(resolve_puzzles(here)) if here else ())}
    if missing := ", ".join(sorted(wanted - own.keys())):
        raise ConfigurationError(f"no task {missing} is here; name the folder that has it (--tasks)")
    return own


def others(plans: Sequence[TrialPlanned], tasks: Tasks, root: Root | None = None) -> Iterator[str]:
    """Yield what is other here than trials were planned with, a line each."""
    for plan in plans:
        puzzles = {name: tasks[name].digest for name in plan.puzzles}
        oracles = {name: oracle_digest(tasks[name]) for name in plan.puzzles}
        here = {"puzzles": puzzles, "oracles": oracles, "environment": environment(root)}
        if changed := ", ".join(changed_parts(plan, plan.model_copy(update=here))):
            yield f"{plan.trial} is graded here with another {changed}"


async def regraded(
    path: Path, plan: TrialPlanned, graded: Sequence[AttemptGraded], tasks: Tasks, root: Root | None = None
) -> AsyncIterator[Regraded]:
    """Yield each attempt of a trial, judged again.

    Args:
        path: the bundle that has the work.
        plan: of the trial.
        graded: its attempts.
        tasks: by id.
        root: what boxes are made of; the host's programs where left out.

    Raises:
        PuzzleRefused: an oracle cannot grade.
        CannotIsolate: this machine gives no box.
    """
    grader = SealedGrader(root, seed=seed_of(plan.trial, plan.nonce) if plan.nonce else plan.seed or 0)
    for name in sorted({event.puzzle for event in graded}):
        puzzle = await grader.draw(tasks[name])
        untouched = await untouched_copy(puzzle, root)
        async with grader.sitting(puzzle, untouched) as grade:
            for event in (event for event in graded if event.puzzle == name):
                now, why = (), _LOST
                if event.work is not None:
                    with zipfile.ZipFile(path) as archive:
                        work = with_changes(untouched, work_from(event.work, archive.read))
                    now, why = await _now(puzzle.meta, grade([work]), OF_THE_RUN.intersection(event.failed))
                yield Regraded(plan.trial, name, event.epoch, tuple(event.failed), now, why)


async def _now(
    meta: PuzzleMeta, grading: Awaitable[list[Verdict]], told: frozenset[str]
) -> tuple[tuple[str, ...], str]:
    """Return which conditions fail now, or why nobody can tell.

    How an attempt ended is no matter of what it left: what was told of that stands.
    """
    try:
        holds = gate(meta, (await grading)[0], terminated_by=None).conditions
        return tuple(name for name, good in holds.items() if not good or name in told), ""
    except GradingFailed as fault:
        return (), str(fault)
