"""The grading edge: plans in the box with the oracle, exercises in a box without it, judges in the first again.

The kernel passes bytes between the two and opens neither the oracle nor the work copy.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, cast

from pydantic import Field, ValidationError

from ai_crucible.box import Box, BoxDied, BoxLimits
from ai_crucible.box.bwrap import PYTHON, open_box
from ai_crucible.box.limits import MIB
from ai_crucible.box.root import Root
from ai_crucible.puzzle_box import order_of
from ai_crucible.puzzle_loader import SEALED, PuzzleRefused
from ai_crucible.types import Puzzle, Verdict
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.models import Model

_GRADER = "/tmp/grader.py"
_WORK_COPY = "/tmp/work_copy.py"
_DRIVER = "/tmp/.driver.py"
_GRADING = BoxLimits(output=128 * MIB, seconds=120.0, memory=1024 * MIB)
_SEEN = 64 * 1024


class GradingFailed(LlmRuntimeError):
    """The grading process gave no verdict; the attempt is neither passed nor failed."""


class _Call(Model):
    module: str
    function: str
    cases: list[list[Any]]


class Step(Model):
    """One exercise, without what is expected of it."""

    name: str
    seconds: float = Field(gt=0, le=300)
    put: dict[str, str] = {}
    argv: list[str] = []
    stdin: str = ""
    take: list[str] = []
    call: _Call | None = None
    literal: bool = False


class Plan(Model):
    """What the oracle wants exercised, and which solutions it keeps."""

    steps: list[Step]
    oracle_digest: str
    overlays: list[str]
    copy_: str = Field(default="", alias="copy")
    """The untouched work folder with the solver's declared changes, in base64; empty where there are none."""


@dataclass
class SealedGrader:
    """An :data:`~ai_crucible.types.OracleRunner` for puzzles with a sealed folder.

    What the untouched puzzle shows is kept for the next attempt on the same bytes.

    Args:
        root: what its boxes are made of; the host's programs where left out.
        oracles: by puzzle, the digest that its oracle must have; any for those that are not named.
    """

    root: Root | None = None
    oracles: dict[str, str] = field(default_factory=dict[str, str])
    _baselines: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict[tuple[str, str], dict[str, Any]])

    async def __call__(self, puzzle: Puzzle, untouched: bytes, work: bytes) -> Verdict:
        """Grade a work copy.

        Raises:
            PuzzleRefused: the oracle cannot grade.
            GradingFailed: the grading process gave no verdict.
            CannotIsolate: this machine gives no box.
        """
        grading = await open_box(_GRADING, oracle=Path(puzzle.folder) / SEALED, root=self.root)
        try:
            evidence: dict[str, Any] = {
                "before": {"archive": _text(untouched)},
                "after": {"archive": _text(work)},
                "editable": list(puzzle.meta.editable),
                "leftovers": puzzle.meta.leftovers,
            }
            plan = Plan.model_validate(await _ask(grading, puzzle, "plan", evidence=evidence))
            before = await self._baseline(puzzle, plan, untouched)
            declared = base64.b64decode(plan.copy_)
            after = await exercise(puzzle, plan, declared, self.root) if declared else before
            evidence["before"]["observed"], evidence["after"]["observed"] = before, after
            verdict = Verdict.model_validate(await _ask(grading, puzzle, "judge", evidence=evidence))
        except ValidationError as fault:
            raise GradingFailed(
                f"{puzzle.meta.id}: the grading process answered with no verdict: {fault}"
            ) from None
        finally:
            await grading.close()
        if {plan.oracle_digest, self.oracles.get(puzzle.meta.id, plan.oracle_digest)} != {verdict.oracle_digest}:
            raise GradingFailed(f"{puzzle.meta.id}: the oracle is not the one that it was when the trial began")
        return verdict

    async def overlays(self, puzzle: Puzzle) -> dict[str, bytes]:
        """Return the solutions that the oracle keeps, as archives: ``gold`` and ``wrong/NAME``."""
        grading = await open_box(_GRADING, oracle=Path(puzzle.folder) / SEALED, root=self.root)
        try:
            plan = Plan.model_validate(await _ask(grading, puzzle, "plan"))
            archives: dict[str, bytes] = {}
            for name in plan.overlays:
                answer = await _ask(grading, puzzle, "overlay", name)
                archives[name] = base64.b64decode(str(answer["archive"]), validate=True)
            return archives
        finally:
            await grading.close()

    async def _baseline(self, puzzle: Puzzle, plan: Plan, untouched: bytes) -> dict[str, Any]:
        key = (plan.oracle_digest, hashlib.sha256(puzzle.digest.encode() + untouched).hexdigest())
        if key not in self._baselines:
            self._baselines[key] = await exercise(puzzle, plan, untouched, self.root)
        return self._baselines[key]


async def exercise(puzzle: Puzzle, plan: Plan, work: bytes, root: Root | None = None) -> dict[str, Any]:
    """Run every step on a fresh copy, in a box that has no oracle; a copy that kills its box gets a new one."""
    observed: dict[str, Any] = {}
    box: Box | None = None
    order = order_of(puzzle, root)
    try:
        for step in plan.steps:
            if box is None or not box.alive:
                box = await order.open()
            try:
                await box.unpack(work)
            except (OSError, BoxDied):
                # What the last exercise left cannot be taken away.
                await box.close()
                box = await order.open()
                await box.unpack(work)
            try:
                observed[step.name] = await _exercise(box, step)
            except BoxDied:
                observed[step.name] = {"exit": -9, "stdout": "", "stderr": "", "ended": "box", "files": {}}
    finally:
        if box is not None:
            await box.close()
    return observed


async def _exercise(box: Box, step: Step) -> dict[str, Any]:
    for path, content in step.put.items():
        await box.write(path, content.encode())
    argv, stdin = step.argv, step.stdin.encode()
    if step.call is not None:
        await box.write(_DRIVER, _program("driver"))
        argv, stdin = [PYTHON, "-I", "-S", _DRIVER], json.dumps(step.call.model_dump()).encode()
    done = await box.run(argv, stdin=stdin, seconds=step.seconds)
    files: dict[str, str | None] = {}
    for path in step.take:
        try:
            files[path] = _text(await box.read(path, _SEEN))
        except (OSError, ValueError):
            files[path] = None
    return {
        "exit": done.code,
        "stdout": done.stdout.decode("utf-8", "replace"),
        "stderr": done.stderr[-_SEEN:].decode("utf-8", "replace"),
        "ended": done.ended,
        "files": files,
    }


async def _ask(box: Box, puzzle: Puzzle, *words: str, evidence: dict[str, Any] | None = None) -> dict[str, Any]:
    await box.write(_GRADER, _program("grader"))
    await box.write(_WORK_COPY, _program("work_copy"))
    stdin = (await asyncio.to_thread(json.dumps, evidence)).encode() if evidence else b""
    done = await box.run([PYTHON, "-I", "-S", _GRADER, *words], stdin=stdin)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        complaint = done.stderr[-300:].decode("utf-8", "replace").strip().replace("\n", " / ")
        raise GradingFailed(f"{puzzle.meta.id}: grading ended with {done.code} {done.ended}: {complaint}") from None
    if not isinstance(answer, dict):
        raise GradingFailed(f"{puzzle.meta.id}: the grading process answered with no object")
    answer = cast(dict[str, Any], answer)
    if "bad_oracle" in answer:
        raise PuzzleRefused(f"{puzzle.folder}: the oracle cannot grade: {answer['bad_oracle']}")
    return answer


@cache
def _program(name: str) -> bytes:
    return resources.files("ai_crucible.grading").joinpath(f"{name}.py").read_bytes()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
