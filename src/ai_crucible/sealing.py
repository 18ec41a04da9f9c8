"""Seals hidden tests: they run in a box of their own, which alone can read them, and reach the solver's over a pipe.

Whether that can be done shows in boxes: the gold must pass so. What its tests ask of it is written into the checks,
and whatever else a solution would have them ask is refused. Of tests that pass before a repair and after it a few may
be left out; the check says so.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ai_crucible.attempt import untouched_copy
from ai_crucible.checking import GOLD, laid_on
from ai_crucible.grading.edge import SealedGrader
from ai_crucible.puzzle_files import as_json
from ai_crucible.puzzle_loader import SEALED, load_puzzle
from llm_runtime.files import write_atomic

_LOST = {"pass to pass": 0.2}
"""What share of the tests of a check may be left out: those that pass before a repair too guard, and show no work."""


async def seal(folder: Path, grader: SealedGrader | None = None) -> str:
    """Rewrite the checks of a puzzle so that no process that runs a solver's code tells what came of them.

    Args:
        folder: the puzzle's; its ``checks.json`` is replaced where that can be done.
        grader: in whose boxes it is tried.

    Returns:
        Why it cannot be done; empty where it was, or there is nothing to seal. Nothing is written otherwise.

    Raises:
        PuzzleRefused: it cannot be loaded or graded.
        CannotIsolate: this machine gives no box.
    """
    place, grader = folder / SEALED / "checks.json", grader or SealedGrader()
    oracle: dict[str, Any] = json.loads(place.read_bytes())
    suites = {check["name"]: check for check in oracle["checks"] if check.get("target") in (":tests", ":sealed")}
    puzzle = await grader.draw(load_puzzle(folder))
    gold = (await grader.overlays(puzzle)).get(GOLD)
    if gold is None or not all("cases" in check for check in suites.values()):
        return "no gold solution shows what its tests ask, or which of them run is drawn"
    untouched = await untouched_copy(puzzle)
    learned = await grader.learned(puzzle, untouched, laid_on(untouched, gold), [*suites])
    for name, check in suites.items():
        case, outcomes = check["cases"][0], learned[name]
        came = {test: outcomes.get(test, ("it did not run", []))[0] for test in case["expect"]}
        lost = [f"{test}: {outcome}" for test, outcome in came.items() if outcome != "passed"]
        if len(lost) > _LOST.get(name, 0) * len(came):
            return f"over a pipe its gold does not pass {lost[0]}"
        if lost:
            check["name"] = f"{name}, {len(came) - len(lost)} of {len(came)}"
        kept = [test for test, outcome in came.items() if outcome == "passed"]
        asks = {test: asks for test, (_, asks) in outcomes.items()}
        case |= {"args": kept, "expect": dict.fromkeys(kept, "passed"), "kwargs": {"asks": asks}}
        check["target"] = ":sealed"
    write_atomic(place, as_json(oracle).encode())
    return ""
