"""Whether a puzzle can be trusted: its gold must pass the gate, and nothing, and every wrong way, must fail it.

A puzzle is admitted only where its checks were tried themselves: on mutants of the gold, on wrong and on right
solutions written with care, and on many inputs that a second implementation answers too.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import field, replace
from functools import partial
from itertools import chain, compress
from typing import TypeAlias

from ai_crucible.archives import archive_of, files_of
from ai_crucible.attempt import untouched_copy
from ai_crucible.cheats import cheats
from ai_crucible.grading.edge import Admission, GradingFailed, SealedGrader
from ai_crucible.mutation import mutants
from ai_crucible.oracle_scorer import gate
from ai_crucible.puzzle_box import probe
from ai_crucible.types import GateResult, Puzzle, Verdict
from llm_runtime.structs import Struct

NOOP = "no-op"
GOLD = "gold"
_Covered: TypeAlias = "dict[str, tuple[int, int]]"
_PROGRAMS = (".py", ".sh", ".sql")
_PATIENCE = 2.0
"""Seconds by the clock that a mutant has at the least for each exercise."""
_FEW = 20
"""Inputs of each check that a mutant meets before it meets all."""


class Bar(Struct):
    """What the checks of an admitted puzzle must do.

    Args:
        killed: share of the gold's mutants that they refuse, 0 to 1.
        wrong: wrong solutions that the oracle keeps, all refused.
        right: differently written right ones, all accepted.
        inputs: generated inputs that a gold program survives.
        draws: times that a task without a program is drawn anew, its gold accepted each time.
        written: mutants are made in the lines alone that the gold has otherwise than the untouched puzzle.
        most: of the mutants that are tried at the most, spread evenly.
        early: cheats are tried only where enough mutants are refused.
    """

    killed: float = 0.95
    wrong: int = 5
    right: int = 3
    inputs: int = 10_000
    draws: int = 20
    written: bool = False
    most: int = 100_000
    early: bool = False


class _Tried(Struct):
    """What the checks did when they were tried themselves.

    Args:
        mutants: mistakes made in the gold, one each, without those that the oracle knows to be none.
        survivors: where the mistakes are that no check noticed.
        inputs: generated inputs that the gold survived.
        equivalent: mutants that survived and are none, as the oracle says with a reason for each.
        cheats: solutions that go for the grading in place of the task.
        passed: those that it accepts.
    """

    mutants: int
    survivors: tuple[str, ...]
    inputs: int
    equivalent: tuple[str, ...] = ()
    cheats: int = 0
    passed: tuple[str, ...] = ()

    @property
    def killed(self) -> float:
        """Share of the mutants that were refused, 0 to 1; 0 where there is none."""
        return (self.mutants - len(self.survivors)) / self.mutants if self.mutants else 0.0


class PuzzleCheck(Struct):
    """What ``check`` found.

    Args:
        puzzle: its id.
        problems: why it must not be used, one line each; none where it is fine.
        gates: by way (``no-op``, ``gold``, ``wrong/NAME``, ``right/NAME``), what the gate said.
        fail_to_pass: names of the checks that fail on the untouched puzzle.
        pass_to_pass: names of those that pass on it.
        clauses: by clause of the statement, how many wrong solutions of it are refused, and how many inputs reach
            it: those that some wrong solution of it answers otherwise than the oracle.
        tried: what came of trying the checks; ``None`` where they were not tried.
    """

    puzzle: str
    problems: tuple[str, ...]
    gates: dict[str, GateResult] = field(default_factory=dict[str, GateResult])
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()
    clauses: _Covered = field(default_factory=dict[str, "tuple[int, int]"])
    tried: _Tried | None = None

    @property
    def ok(self) -> bool:
        """Whether the puzzle may be used."""
        return not self.problems

    def count(self, kind: str, *, passed: bool) -> tuple[int, int]:
        """Return how many solutions of a kind (``wrong``, ``right``) came out so, and how many there are."""
        gates = [gate for name, gate in self.gates.items() if name.startswith(f"{kind}/")]
        return sum(gate.passed is passed for gate in gates), len(gates)


async def check_puzzle(puzzle: Puzzle, grader: SealedGrader | None = None, *, bar: Bar | None = None) -> PuzzleCheck:
    """Grade the untouched puzzle and the solutions that its oracle keeps, each as an attempt would be.

    Args:
        puzzle: as it was loaded; what it draws is drawn here.
        grader: its seed says what is drawn.
        bar: try the checks themselves and hold them to this; left out, they are not tried.

    Raises:
        PuzzleRefused: the oracle cannot grade.
        CannotIsolate: this machine gives no box.
        GradingFailed: its gold does not pass every time.
    """
    await probe()
    grader = grader or SealedGrader()
    drawn = await grader.draw(puzzle)
    untouched = await untouched_copy(drawn)
    overlays = await grader.overlays(puzzle)
    ways = {NOOP: b"", **overlays}
    known, missed = await grader.admission(puzzle), list[list[str]]()
    async with grader.sitting(drawn, untouched, missed=missed) as grade:
        graded = await grade(laid_on(untouched, overlay) for overlay in ways.values())
    verdicts = dict(zip(ways, graded, strict=True))
    gates = {name: gate(puzzle.meta, verdict, terminated_by=None) for name, verdict in verdicts.items()}
    clauses = _covered(known, gates, dict(zip(ways, missed, strict=True)))
    problems = [*_problems(puzzle, gates, verdicts), *_uncovered(puzzle, known, clauses)]
    if await untouched_copy(drawn) != untouched:
        problems.append("its setup leaves different files each time, so attempts do not start alike")
    noop = verdicts[NOOP]
    failing, passing = (tuple(one.name for one in checks) for checks in (noop.fail_to_pass, noop.pass_to_pass))
    check = PuzzleCheck(puzzle.meta.id, tuple(problems), gates, failing, passing, clauses)
    if bar is None or GOLD not in overlays or not gates[GOLD].passed:
        return check
    tried = await _tried(drawn, grader, untouched, overlays[GOLD], bar, known)
    return replace(check, tried=tried, problems=(*problems, *_below(check, tried, bar)))


async def _tried(
    puzzle: Puzzle, grader: SealedGrader, untouched: bytes, gold: bytes, bar: Bar, known: Admission
) -> _Tried:
    made = list(_mutants(puzzle, gold, bar.written))
    made = made[:: max(1, -(-len(made) // bar.most))]
    async with grader.sitting(puzzle, untouched, patience=math.inf) as grade:
        await grade([laid_on(untouched, gold)])
        # Now that its boxes are there.
        started = time.monotonic()
        await grade([laid_on(untouched, gold)])
    unnoticed = partial(_unnoticed, puzzle, untouched, gold, max(_PATIENCE, 4 * (time.monotonic() - started)))
    # What the first few inputs refuse, all of them refuse; where none have to be drawn, they are all.
    left = await unnoticed(replace(grader, draws=-_FEW), made)
    left = await unnoticed(grader, left) if bar.inputs else left
    same = tuple(where for where, _ in left if where in known.equivalent)
    survivors = tuple(where for where, _ in left if where not in known.equivalent)
    tried = _Tried(len(made) - len(same), survivors, await _inputs(puzzle, grader, gold, bar, known.drawn), same)
    if bar.early and tried.killed < bar.killed:
        return tried
    tricks = list(cheats(files_of(untouched), files_of(gold)))
    return replace(tried, cheats=len(tricks), passed=tuple(name for name, _ in await unnoticed(grader, tricks)))


async def _unnoticed(
    puzzle: Puzzle, untouched: bytes, gold: bytes, patience: float, grader: SealedGrader, made: list[tuple[str, bytes]]
) -> list[tuple[str, bytes]]:
    """Return the mutants that pass; one that takes much longer than the gold does not.

    Raises:
        GradingFailed: the gold does not pass any more after them, so that nothing is known of them.
    """
    if not made:
        return []
    async with grader.sitting(puzzle, untouched, patience=patience) as grade:
        verdicts = await grade(laid_on(untouched, overlay) for _, overlay in [*made, (GOLD, gold)])
    *passed, right = (gate(puzzle.meta, verdict, terminated_by=None).passed for verdict in verdicts)
    if not right:
        raise GradingFailed(f"{puzzle.meta.id}: its gold does not pass beside others, so its checks cannot be tried")
    return list(compress(made, passed))


async def _inputs(puzzle: Puzzle, grader: SealedGrader, gold: bytes, bar: Bar, checks: int) -> int:
    """Return how many generated inputs the gold survived; without a program, how many draws of the task."""
    if not any(name.endswith(_PROGRAMS) for name in files_of(gold)):
        if not puzzle.meta.drawn:
            return bar.draws
        for seed in range(1, bar.draws + 1):
            verdict = await _of_gold(puzzle, SealedGrader(seed=grader.seed + seed))
            if not gate(puzzle.meta, verdict, terminated_by=None).passed:
                return seed - 1
        return bar.draws
    if not checks:
        return 0
    verdict = await _of_gold(puzzle, SealedGrader(seed=grader.seed + 1, draws=-(-bar.inputs // checks)))
    return bar.inputs if all(check.after for check in verdict.checks) else 0


async def _of_gold(puzzle: Puzzle, grader: SealedGrader) -> Verdict:
    """Return what a grader says of the gold on the task as it draws it."""
    drawn = await grader.draw(puzzle)
    start = await untouched_copy(drawn)
    return await grader(drawn, start, laid_on(start, (await grader.overlays(puzzle, GOLD))[GOLD]))


def _below(check: PuzzleCheck, tried: _Tried, bar: Bar) -> Iterator[str]:
    """Yield where a puzzle falls short of the bar."""
    if tried.passed:
        yield f"{len(tried.passed)} of {tried.cheats} cheats pass: {', '.join(tried.passed)}"
    if tried.killed < bar.killed:
        killed = tried.mutants - len(tried.survivors)
        yield f"its checks refuse {killed} of {tried.mutants} mutants of the gold, below {bar.killed:.0%}"
    wrong, right = (check.count(kind, passed=False)[1] for kind in ("wrong", "right"))
    if wrong < bar.wrong:
        yield f"it keeps {wrong} wrong solutions of {bar.wrong}"
    if right < bar.right:
        yield f"it keeps {right} right solutions of {bar.right} besides the gold"
    if tried.inputs < min(bar.inputs, bar.draws):
        yield f"its gold does not survive {bar.inputs} generated inputs, or no check draws any"


def _problems(puzzle: Puzzle, gates: dict[str, GateResult], verdicts: dict[str, Verdict]) -> list[str]:
    problems: list[str] = []
    if gates[NOOP].passed:
        problems.append("doing nothing passes")
    if not verdicts[NOOP].fail_to_pass:
        problems.append("no check fails on the untouched puzzle, so there is nothing to solve")
    if not verdicts[NOOP].pass_to_pass:
        problems.append("no check passes on the untouched puzzle, so no regression could be seen")
    if GOLD not in gates:
        problems.append("it keeps no gold solution (oracle/gold), so nobody knows that it can be solved")
    elif not gates[GOLD].passed:
        problems.append(f"its gold solution fails: {_why(gates[GOLD], verdicts[GOLD])}")
    elif left := verdicts[GOLD].leftovers:
        problems.append(f"its gold solution holds what it does not declare editable: {', '.join(left)}")
    for name, result in gates.items():
        if name.startswith("wrong/") and result.passed:
            problems.append(f"{name} passes and must not")
        if name.startswith("right/") and not result.passed:
            problems.append(f"{name} fails and must not: {_why(result, verdicts[name])}")
    if not puzzle.meta.source and puzzle.meta.anchor is None:
        problems.append("meta.json names no source; only anchors need none")
    return problems


def _covered(known: Admission, gates: dict[str, GateResult], missed: dict[str, list[str]]) -> _Covered:
    """Return, by clause, how many wrong solutions of it are refused, and how many inputs any of them answers wrong."""
    refused = {name.removeprefix("wrong/"): missed[name] for name in missed if not gates[name].passed}
    told = {name: [refused[each] for each in clause.wrong if each in refused] for name, clause in known.clauses.items()}
    return {name: (len(wrong), len({*chain(*wrong)})) for name, wrong in told.items()}


def _uncovered(puzzle: Puzzle, known: Admission, covered: _Covered) -> Iterator[str]:
    for name, clause in known.clauses.items():
        if clause.says not in puzzle.prompt:
            yield f"clause {name} says what the statement does not say"
        if not covered[name][0]:
            yield f"clause {name}: no wrong solution of it is refused"


def _why(result: GateResult, verdict: Verdict) -> str:
    failing = [f"{check.name} ({check.detail})" for check in verdict.checks if not check.after]
    return ", ".join([*result.failed, *failing, *verdict.undeclared, *verdict.adversarial])


def laid_on(untouched: bytes, overlay: bytes) -> bytes:
    """Return a work folder, as an archive, with the files of a solution in place of its own."""
    return archive_of({**files_of(untouched), **files_of(overlay)}) if overlay else untouched


def _mutants(puzzle: Puzzle, gold: bytes, written: bool) -> Iterator[tuple[str, bytes]]:
    """Yield where a mistake was made in the gold solution, and the solution with it."""
    files = files_of(gold)
    for name, data in files.items():
        before = puzzle.files.get(name, b"").decode("utf-8", "replace")
        for where, text in mutants(name, data.decode("utf-8", "replace"), before, written=written):
            yield where, archive_of({**files, name: text.encode()})
