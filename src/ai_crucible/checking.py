"""Whether a puzzle can be trusted: its gold must pass the gate, and nothing, and every wrong way, must fail it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ai_crucible.attempt import untouched_copy
from ai_crucible.box.bwrap import probe
from ai_crucible.grading.edge import SealedGrader
from ai_crucible.oracle_scorer import gate
from ai_crucible.puzzle_box import order_of
from ai_crucible.types import GateResult, Puzzle, Verdict

NOOP = "no-op"
GOLD = "gold"


@dataclass(frozen=True, slots=True)
class PuzzleCheck:
    """What ``check`` found.

    Args:
        puzzle: its id.
        problems: why it must not be used, one line each; none where it is fine.
        gates: by way (``no-op``, ``gold``, ``wrong/NAME``), what the gate said.
        fail_to_pass: names of the checks that fail on the untouched puzzle.
        pass_to_pass: names of those that pass on it.
    """

    puzzle: str
    problems: tuple[str, ...]
    gates: dict[str, GateResult] = field(default_factory=dict[str, GateResult])
    fail_to_pass: tuple[str, ...] = ()
    pass_to_pass: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the puzzle may be used."""
        return not self.problems


async def check_puzzle(puzzle: Puzzle, grader: SealedGrader | None = None) -> PuzzleCheck:
    """Grade the untouched puzzle, the gold solution and the wrong ones, each as an attempt would be.

    Raises:
        PuzzleRefused: the oracle cannot grade.
        CannotIsolate: this machine gives no box.
    """
    await probe()
    grader = grader or SealedGrader()
    untouched = await untouched_copy(puzzle)
    ways = {NOOP: untouched}
    for name, overlay in (await grader.overlays(puzzle)).items():
        ways[name] = await _laid_on(puzzle, untouched, overlay)
    verdicts = {name: await grader(puzzle, untouched, work) for name, work in ways.items()}
    again = await untouched_copy(puzzle)
    gates = {name: gate(puzzle.meta, verdict, terminated_by=None) for name, verdict in verdicts.items()}
    problems = _problems(puzzle, gates, verdicts)
    if again != untouched:
        problems.append("its setup leaves different files each time, so attempts do not start alike")
    noop = verdicts[NOOP]
    return PuzzleCheck(
        puzzle.meta.id,
        tuple(problems),
        gates,
        tuple(check.name for check in noop.fail_to_pass),
        tuple(check.name for check in noop.pass_to_pass),
    )


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
    problems += [
        f"{name} passes and must not" for name, g in gates.items() if name.startswith("wrong/") and g.passed
    ]
    if not puzzle.meta.source and puzzle.meta.anchor is None:
        problems.append("meta.json names no source; only anchors need none")
    return problems


def _why(result: GateResult, verdict: Verdict) -> str:
    failing = [f"{check.name} ({check.detail})" for check in verdict.checks if not check.after]
    return ", ".join([*result.failed, *failing, *verdict.undeclared, *verdict.adversarial])


async def _laid_on(puzzle: Puzzle, untouched: bytes, overlay: bytes) -> bytes:
    box = await order_of(puzzle).open()
    try:
        await box.unpack(untouched)
        await box.unpack(overlay, overlay=True)
        return await box.pack()
    finally:
        await box.close()
