"""The grading edge: plans in the box with the oracle, exercises in a box without it, judges in the first again.

The kernel passes bytes between the two and opens neither the oracle nor the work copy.
"""

from __future__ import annotations

import ast
import asyncio
import base64
import hashlib
import json
import math
import os
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib import resources
from itertools import islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pydantic import Field, ValidationError

from ai_crucible.puzzle_box import BoxOrder, open_box, order_of
from ai_crucible.puzzle_loader import SEALED, PuzzleRefused
from ai_crucible.types import Puzzle, Verdict
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.http.shape import mapping
from llm_runtime.models import Model
from llm_runtime.tasks import gather
from sandbox import PYTHON, Box, BoxDied, BoxLimits, Root
from sandbox.limits import MIB

_GRADER = "/tmp/grader.py"
_GRADERS = {f"/tmp/{name}.py": name for name in ("grader", "answers", "draws", "work_copy")}
_DRIVER = "/tmp/.driver/driver.py"
_DRIVEN = {f"/tmp/.driver/{name}.py": name for name in ("driver", "answers", "suite")}
_PIPED = {f"/tmp/.driver/{name}.py": name for name in ("pipe", "stand_ins", "sealed")}
_GRADING = BoxLimits(output=128 * MIB, seconds=120.0, memory=1024 * MIB)
_SEEN = 64 * 1024
_WIDE = 8.0
"""By the clock an exercise may take so many times the seconds of a processor that it has: load is no fault of it."""
_BENCHES = min(4, os.cpu_count() or 1)
"""Copies that one sitting exercises side by side at the most."""
_TOGETHER, _TOGETHER_BYTES = 16, 16 * MIB
"""Copies that one start of the grader judges at the most, and how large they are together."""
_Answer = TypeVar("_Answer", bound=Model)
_Observed: TypeAlias = "dict[str, Any]"


class GradingFailed(LlmRuntimeError):
    """The grading process gave no verdict; the attempt is neither passed nor failed."""


class _Call(Model):
    module: str
    function: str
    cases: list[list[Any]]


class Step(Model):
    """One exercise, without what is expected of it."""

    name: str
    seconds: float = Field(gt=0, le=3600)
    put: dict[str, str] = {}
    argv: list[str] = []
    stdin: str = ""
    take: list[str] = []
    call: _Call | None = None


class _Plan(Model):
    """What the oracle wants exercised, and which solutions it keeps."""

    steps: list[Step]
    oracle_digest: str
    overlays: list[str]


class StatementClause(Model):
    """A clause of a statement: words of it, and the wrong solutions that break it."""

    says: str = Field(min_length=1)
    wrong: list[str]


class Admission(Model):
    """What an oracle tells of itself: how many checks draw inputs without end, mutants that are none, and clauses."""

    drawn: int
    equivalent: dict[str, str]
    clauses: dict[str, StatementClause]


class _Drawn(Model):
    work: dict[str, str] = {}
    prompt: dict[str, str] = {}


@dataclass
class SealedGrader:
    """An :data:`~ai_crucible.types.OracleRunner` for puzzles with a sealed folder.

    What the untouched puzzle shows is kept for the next attempt on the same bytes.

    Args:
        root: what its boxes are made of; the host's programs where left out.
        oracles: by puzzle, the digest that its oracle must have; any for those that are not named.
        seed: of the trial, 0 to 2^53-1: what a task draws anew for each trial, and the inputs of its checks, derive
            from it.
        draws: how many inputs each drawn check tries at least; 0 leaves it to the check, below 0 it tries so
            many at the most, the first ones.
    """

    root: Root | None = None
    oracles: dict[str, str] = field(default_factory=dict[str, str])
    seed: int = 0
    draws: int = 0
    _plans: dict[tuple[str, int, int], _Plan] = field(default_factory=dict[tuple[str, int, int], "_Plan"])
    _baselines: dict[tuple[str, str], _Observed] = field(default_factory=dict[tuple[str, str], "_Observed"])

    async def __call__(self, puzzle: Puzzle, untouched: bytes, work: bytes) -> Verdict:
        """Grade a work copy.

        Raises:
            PuzzleRefused: the oracle cannot grade.
            GradingFailed: the grading process gave no verdict.
            CannotIsolate: this machine gives no box.
        """
        async with self.sitting(puzzle, untouched) as grade:
            return (await grade([work]))[0]

    @asynccontextmanager
    async def sitting(
        self, puzzle: Puzzle, untouched: bytes, *, patience: float = 0.0, missed: list[list[str]] | None = None
    ) -> AsyncGenerator[Callable[[Iterable[bytes]], Awaitable[list[Verdict]]]]:
        """Open the oracle for many work copies; each is exercised in a box of its own, unless in haste.

        Args:
            puzzle: whose oracle it is.
            untouched: its untouched work folder.
            patience: seconds, by the clock, that any one exercise may take, where that is less than its check
                allows; a copy that takes more is exercised no further, and boxes serve one after another. 0 leaves it
                to the checks.
            missed: gets, for each copy, the inputs that it answers otherwise than the oracle.
        """
        words = (str(self.seed), str(self.draws), *([] if missed is None else ["missed"]))
        all_missed = [] if missed is None else missed
        async with AsyncExitStack() as stack:
            first = Bench(self._order(puzzle), untouched)
            stack.push_async_callback(first.close)
            # While the oracle's box starts, and that says what is to be exercised.
            first.open_early()
            ask = await stack.enter_async_context(self._oracle(puzzle))
            plan = await self._plan(puzzle, ask)
            before = await self._baseline(puzzle, plan, untouched)
            seen = await stack.enter_async_context(side_by_side(first, plan, patience))

            async def some(works: Sequence[bytes]) -> list[Verdict]:
                copies: list[dict[str, Any]] = [{"archive": _text(work)} for work in works]
                evidence: dict[str, Any] = {
                    "before": {"archive": _text(untouched), "observed": before},
                    "after": copies,
                    "editable": list(puzzle.meta.editable),
                    "leftovers": puzzle.meta.leftovers,
                    "installed": order_of(puzzle, self.root).root.modules(),
                }
                declared = map(base64.b64decode, (await ask("declared", evidence=evidence))["copies"])
                showed = await gather(seen(files, before) for files in declared)
                for copy, observed in zip(copies, showed, strict=True):
                    copy["observed"] = observed
                judged = await ask("judge", *words, evidence=evidence)
                all_missed.extend(judged["missed"])
                verdicts = [_read(Verdict, puzzle, verdict) for verdict in judged["verdicts"]]
                wanted = self.oracles.get(puzzle.meta.id, plan.oracle_digest)
                if {plan.oracle_digest, wanted} != {verdict.oracle_digest for verdict in verdicts}:
                    raise GradingFailed(f"{puzzle.meta.id}: the oracle is not the one that it was when the trial began")
                return verdicts

            async def grade(works: Iterable[bytes]) -> list[Verdict]:
                left, verdicts = iter(works), list[Verdict]()
                while batch := list(islice(left, max(1, min(_TOGETHER, _TOGETHER_BYTES // len(untouched))))):
                    verdicts += await some(batch)
                return verdicts

            yield grade

    async def ready(self, puzzle: Puzzle) -> None:
        """Let the oracle say once what is to be exercised.

        Raises:
            PuzzleRefused: it cannot grade.
        """
        if self._key(puzzle) not in self._plans:
            async with self._oracle(puzzle) as ask:
                await self._plan(puzzle, ask)

    def _key(self, puzzle: Puzzle) -> tuple[str, int, int]:
        return puzzle.folder, self.seed, self.draws

    async def _plan(self, puzzle: Puzzle, ask: Callable[..., Awaitable[dict[str, Any]]]) -> _Plan:
        if (plan := self._plans.get(self._key(puzzle))) is None:
            plan = _read(_Plan, puzzle, await ask("plan", str(self.seed), str(self.draws)))
            self._plans[self._key(puzzle)] = plan
        return plan

    async def admission(self, puzzle: Puzzle) -> Admission:
        """Return what an oracle tells of itself to whoever tries its checks."""
        async with self._oracle(puzzle) as ask:
            return _read(Admission, puzzle, await ask("admission", str(self.seed)))

    async def overlays(self, puzzle: Puzzle, *names: str) -> dict[str, bytes]:
        """Return the solutions that the oracle keeps, or those named, as archives.

        They are ``gold``, ``wrong/NAME`` and ``right/NAME``.
        """
        archives: dict[str, bytes] = {}
        async with self._oracle(puzzle) as ask:
            for name in names or (await self._plan(puzzle, ask)).overlays:
                answer = await ask("overlay", name, str(self.seed))
                archives[name] = base64.b64decode(str(answer["archive"]), validate=True)
        return archives

    async def draw(self, puzzle: Puzzle) -> Puzzle:
        """Return a puzzle with the files and the words of its prompt that it draws for this trial.

        The digest stays that of the puzzle: what is drawn follows from it and the seed.
        """
        if not puzzle.meta.drawn:
            return puzzle
        async with self._oracle(puzzle) as ask:
            drawn = _read(_Drawn, puzzle, await ask("draw", str(self.seed)))
        prompt = puzzle.prompt
        for name, text in drawn.prompt.items():
            prompt = prompt.replace("{{" + name + "}}", text)
        files = {**puzzle.files, **{name: text.encode() for name, text in drawn.work.items()}}
        return replace(puzzle, prompt=prompt, files=dict(sorted(files.items())))

    @asynccontextmanager
    async def _oracle(self, puzzle: Puzzle) -> AsyncGenerator[Callable[..., Awaitable[dict[str, Any]]]]:
        # Many inputs take long to judge, too.
        limits = _GRADING.model_copy(update={"seconds": 1800.0}) if self.draws > 0 else _GRADING
        box = await open_box(limits, oracle=Path(puzzle.folder) / SEALED, root=self.root)
        try:
            yield partial(_ask, box, puzzle)
        finally:
            await box.close()

    async def _baseline(self, puzzle: Puzzle, plan: _Plan, untouched: bytes) -> _Observed:
        key = (plan.oracle_digest, hashlib.sha256(puzzle.digest.encode() + untouched).hexdigest())
        if key not in self._baselines:
            self._baselines[key] = await exercise(plan, untouched, Bench(self._order(puzzle), untouched))
        return self._baselines[key]

    def _order(self, puzzle: Puzzle) -> BoxOrder:
        order = order_of(puzzle, self.root)
        return order.model_copy(update={"output": _GRADING.output}) if self.draws > 0 else order

    async def learned(
        self, puzzle: Puzzle, untouched: bytes, gold: bytes, checks: Sequence[str]
    ) -> dict[str, dict[str, tuple[str, list[str]]]]:
        """Return, by check, what comes of hidden tests that reach the gold over a pipe, and what they ask of it.

        A test maps to its outcome and what it asks; the empty name to what is asked while files are loaded.
        """
        async with self._oracle(puzzle) as ask:
            plan = await self._plan(puzzle, ask)
        calls = [(step, step.call) for step in plan.steps if step.call and step.name in checks]
        sealed = {"function": "sealed"}
        steps = [step.model_copy(update={"call": call.model_copy(update=sealed)}) for step, call in calls]
        seen = await exercise(plan.model_copy(update={"steps": steps}), gold, Bench(self._order(puzzle), untouched))
        answers = {name: json.loads(one["stdout"] or '["died", "{}", ""]')[1] for name, one in seen.items()}
        return {name: ast.literal_eval(text) if isinstance(text, str) else {} for name, text in answers.items()}


class Bench:
    """Boxes for one work copy after another: the solver's, and one for sealed tests, with pipes between them.

    Args:
        order: what they are opened with.
        untouched: the work folder that tests find beside them.
    """

    def __init__(self, order: BoxOrder, untouched: bytes) -> None:
        self.order, self.untouched = order, untouched
        self._room = tempfile.TemporaryDirectory(prefix="pipe-")
        Path(self._room.name).chmod(0o755)
        for pipe in ("questions", "answers"):
            os.mkfifo(Path(self._room.name, pipe))
            Path(self._room.name, pipe).chmod(0o666)
        self._boxes, self._laid = dict[str, Box](), dict[str, bytes]()
        self._early: asyncio.Task[Box] | None = None

    def open_early(self) -> None:
        """Begin to open the first box, which nothing is known of yet."""
        self._early = asyncio.create_task(self.order.open(Path(self._room.name)))

    async def tests(self, files: dict[str, bytes]) -> Box:
        """Return the box of sealed tests, with these files beside the untouched ones.

        It stays as it is from copy to copy: no word of a solver's is run there, and byte code of tests is kept.
        """
        if "tests" not in self._boxes or not self._boxes["tests"].alive:
            await self.box("tests", self.untouched)
            self._laid.clear()
        # What is written anew is compiled anew.
        await _lay(self._boxes["tests"], {path: data for path, data in files.items() if self._laid.get(path) != data})
        self._laid |= files
        return self._boxes["tests"]

    async def box(self, name: str, files: bytes) -> Box:
        """Return a box with these files alone; the one there is, where it lives and can be emptied."""
        if name in self._boxes:
            with suppress(OSError, BoxDied):
                await self._boxes[name].unpack(files)
                return self._boxes[name]
            await self._boxes[name].close()
        early, self._early = self._early, None
        self._boxes[name] = await (early or self.order.open(Path(self._room.name)))
        await self._boxes[name].unpack(files)
        return self._boxes[name]

    async def close(self) -> None:
        """End the boxes."""
        if self._early:
            with suppress(LlmRuntimeError):
                self._boxes["early"] = await self._early
        for box in self._boxes.values():
            await box.close()
        self._room.cleanup()


@asynccontextmanager
async def side_by_side(
    first: Bench, plan: _Plan, patience: float
) -> AsyncGenerator[Callable[[bytes, _Observed], Coroutine[Any, Any, _Observed]]]:
    """Give what exercises a copy as soon as there is room for it; of an empty one it tells what it was told."""
    others = [Bench(first.order, first.untouched) if patience else None for _ in range(_BENCHES - 1)]
    idle, room = [*others, first], asyncio.Semaphore(_BENCHES)

    async def seen(files: bytes, before: _Observed) -> _Observed:
        if not files:
            return before
        async with room:
            bench = idle.pop()
            try:
                return await exercise(plan, files, bench or Bench(first.order, first.untouched), patience)
            finally:
                idle.append(bench if patience else None)

    try:
        yield seen
    finally:
        for bench in filter(None, others):
            await bench.close()


async def exercise(plan: _Plan, work: bytes, bench: Bench, patience: float = 0.0) -> _Observed:
    """Run every step on a fresh copy, in a box that has no oracle; a copy that kills its box gets a new one.

    With ``patience`` in seconds no step takes more by the clock, the first one that is ended is the last, and the
    bench is left for the next copy.
    """
    observed: _Observed = {}
    try:
        for step in plan.steps:
            try:
                clock = min(_WIDE * step.seconds, patience or math.inf)
                observed[step.name] = await _exercise(bench, step, work, clock)
            except BoxDied:
                observed[step.name] = {"exit": -9, "stdout": "", "stderr": "", "ended": "box", "files": {}}
            if patience and observed[step.name]["ended"]:
                break
    finally:
        if not patience:
            await bench.close()
    return observed


async def _exercise(bench: Bench, step: Step, work: bytes, clock: float) -> _Observed:
    sealed = step.call is not None and (step.call.module, step.call.function) == ("", "sealed")
    programs = {**(_DRIVEN if step.call else {}), **(_PIPED if sealed else {})}
    files = {**_programs(programs), **{path: content.encode() for path, content in step.put.items()}}
    box = tests = await bench.box("work", work)
    if sealed:
        tests = await bench.tests(files)
    else:
        await _lay(box, files)
    argv, stdin = step.argv, step.stdin.encode()
    python = bench.order.root.isolated
    if step.call is not None:
        argv, stdin = [*python, _DRIVER], json.dumps({**step.call.model_dump(), "own": [*step.put]}).encode()
    async with _serving(box, python, clock, step.seconds) if sealed else nullcontext():
        done = await tests.run(argv, stdin=stdin, seconds=clock, processor=step.seconds)
    return {
        "exit": done.code,
        "stdout": done.stdout.decode("utf-8", "replace"),
        "stderr": done.stderr[-_SEEN:].decode("utf-8", "replace"),
        "ended": done.ended,
        "files": {path: await _taken(box, path) for path in step.take},
    }


@asynccontextmanager
async def _serving(box: Box, python: Sequence[str], clock: float, processor: float) -> AsyncGenerator[None]:
    """Let the solver's end of the pipe answer meanwhile."""
    await _lay(box, _programs(_PIPED))
    serving = asyncio.create_task(box.run([*python, next(iter(_PIPED))], seconds=clock, processor=processor))
    try:
        yield
    finally:
        # Where it does not end by itself when nobody asks any more, its box ends.
        await asyncio.wait({serving}, timeout=1.0)
        serving.cancel()
        await asyncio.wait({serving})


async def _taken(box: Box, path: str) -> str | None:
    with suppress(OSError, ValueError):
        return _text(await box.read(path, _SEEN))
    return None


async def _lay(box: Box, files: dict[str, bytes]) -> None:
    for path, content in files.items():
        await box.write(path, content)


def _programs(names: dict[str, str]) -> dict[str, bytes]:
    return {path: _program(name) for path, name in names.items()}


async def _ask(box: Box, puzzle: Puzzle, *words: str, evidence: dict[str, Any] | None = None) -> dict[str, Any]:
    await _lay(box, _programs(_GRADERS))
    stdin = (await asyncio.to_thread(json.dumps, evidence)).encode() if evidence else b""
    seconds = box.limits.seconds * len(evidence["after"] if evidence else "1")
    done = await box.run([PYTHON, "-I", "-S", _GRADER, *words], stdin=stdin, seconds=seconds)
    try:
        answer = mapping(json.loads(done.stdout))
    except ValueError:
        complaint = done.stderr[-300:].decode("utf-8", "replace").strip().replace("\n", " / ")
        raise GradingFailed(f"{puzzle.meta.id}: grading ended with {done.code} {done.ended}: {complaint}") from None
    if not answer:
        raise GradingFailed(f"{puzzle.meta.id}: the grading process answered with no object")
    if "bad_oracle" in answer:
        raise PuzzleRefused(f"{puzzle.folder}: the oracle cannot grade: {answer['bad_oracle']}")
    return answer


def _read(kind: type[_Answer], puzzle: Puzzle, answer: dict[str, Any]) -> _Answer:
    try:
        return kind.model_validate(answer)
    except ValidationError as fault:
        raise GradingFailed(
            f"{puzzle.meta.id}: the grading process answered with no {kind.__name__}: {fault}"
        ) from None


@cache
def _program(name: str) -> bytes:
    return resources.files("ai_crucible.grading").joinpath(f"{name}.py").read_bytes()


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
