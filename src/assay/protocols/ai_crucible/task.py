"""A trial as a run, in a process of its own: Inspect is heavy, and wants an event loop to itself.

The trial goes by the run's id, so a run that is resumed goes on with the same trial and repeats no attempt. Models
are reached by that process, not through the model function of the run: their answers are in Inspect's own log, from
which the run's events are made.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Literal, cast

from pydantic import Field

from assay.fields import Ui
from assay.protocol import RunContext
from assay.protocols.ai_crucible.events import AttemptEnded, AttemptTold, TrialBegan, TrialSealed
from assay.protocols.ai_crucible.trials import need_box, need_inspect, solver_of
from assay.report.units import count_noun
from assay.terms import Terms
from llm_runtime.errors import BudgetExceeded, ConfigurationError, LlmRuntimeError
from llm_runtime.events import Emit, Event
from llm_runtime.models import Model

_KINDS: dict[str, type[Event]] = {
    "began": TrialBegan,
    "ended": AttemptEnded,
    "attempt": AttemptTold,
    "sealed": TrialSealed,
}
_LINE = 1 << 26
_GRACE_S = 15.0
"""Seconds that a trial has to put its log in order once it is told to stop."""


class TrialFailed(LlmRuntimeError):
    """The trial's process ended without a result."""


class Task(Model):
    """Which puzzles."""

    puzzles: Annotated[
        tuple[str, ...],
        Ui(argument=True, metavar="PUZZLE", suggest="assay.protocols.ai_crucible.trials:known_puzzles"),
    ] = ()
    """Ids, folders, or all."""
    demo: Annotated[bool, Ui(hidden=True)] = False
    """The recorded solvers attempt theirs."""
    speed: Annotated[float, Ui(hidden=True)] = 1.0
    """How many times as fast the recorded solvers are; 0 does not wait."""


class Options(Model):
    """How often, and how."""

    k: Annotated[int, Ui(show_default=True, advanced=False, label="Attempts at each")] = Field(
        default=5, ge=1, le=1000
    )
    """Attempts each."""
    arm: Annotated[
        Literal["neutral", "self_referential", "social_standings"],
        Ui(
            label="Framing",
            show_default=True,
            advanced=False,
            words={
                "neutral": "neutral: the task alone",
                "self_referential": "its own earlier record is mentioned",
                "social_standings": "how others stand is mentioned",
            },
        ),
    ] = "neutral"
    """The framing; the others need earlier trials to refer to."""
    protocol: Annotated[
        Literal["native", "text"],
        Ui(
            label="Tools",
            show_default=True,
            words={"native": "by the model's own tool calls", "text": "in text, for models without them"},
        ),
    ] = "native"
    """How the model calls tools; text is for models that have no calls of their own."""
    judges: Annotated[tuple[str, ...], Ui(flag="--judge", metavar="MODEL")] = ()
    """A judge of claimed novelty (repeatable)."""
    untagged: bool = False
    """Seat judges whose family nobody knows, such as a person or a server of your own."""
    reducer: Annotated[Literal["median", "majority"], Ui(show_default=True)] = "median"
    """How the judges' scores become one."""
    critic: Annotated[str, Ui(metavar="MODEL")] = ""
    """A model that comments on each finished attempt, in its trace alone."""
    cohort: Annotated[tuple[str, ...], Ui(metavar="MODEL")] = ()
    """A model that takes turns with the solver in each attempt (repeatable)."""
    chrome: Annotated[dict[str, Any], Ui(hidden=True)] = {}
    """Rank and standings, kept beside every attempt; one into which they leak is halted."""
    box_root: Annotated[str, Ui(metavar="FOLDER")] = ""
    """A folder with an unpacked image, of which boxes are made; empty is the host's programs."""
    at_once: Annotated[int, Ui(show_default=True, label="Attempts at one time")] = Field(default=4, ge=1, le=64)
    """Attempts at one time."""
    folder: Annotated[str, Ui(hidden=True)] = ""
    """Where logs and the ledger are kept; empty is the user's own place."""
    trial: Annotated[str, Ui(hidden=True)] = ""
    """An earlier trial that it goes on with; empty is one of its own, by the run's id."""


def prepare(task: Task, options: Options) -> tuple[Task, Options]:
    """Look the puzzles up.

    Raises:
        ConfigurationError: there is no such puzzle, or its boxes would not start.
        MissingExtraError: Inspect is not installed.
    """
    from ai_crucible.catalog_paths import resolve_puzzles
    from ai_crucible.puzzle_loader import load_puzzles

    need_inspect("a trial")
    if options.box_root:
        need_box(options.box_root)
    if not task.demo:
        load_puzzles(resolve_puzzles(list(task.puzzles)))
    return task, options


def ready(task: Task, options: Options, terms: Terms) -> None:
    """Refuse a model that cannot be named so.

    Raises:
        NoModelError: none was named and none is configured.
        ConfigurationError: the name cannot be one.
    """
    solver_of(terms.model or None)


def title_of(task: Task) -> str:
    """Return one line for lists."""
    return ", ".join(task.puzzles)


def outcome(result: Mapping[str, Any]) -> str:
    """Return how many attempts each model passed."""
    words: list[str] = []
    for model in result["models"]:
        own = [one for one in model["puzzles"] if not one["anchor"]]
        passed, made = (sum(one[what] for one in own) for what in ("passed", "attempts"))
        words.append(f"{model['model']} passed {passed} of {made}")
    return "; ".join(words)


def upgrade(task: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return task and options of an older log, whose task held all of it."""
    own = ("puzzles", "demo", "speed")
    options = {name: task[name] for name in Options.model_fields if task.get(name) is not None}
    return {name: task[name] for name in own if name in task}, options


async def run(task: Task, options: Options, context: RunContext) -> dict[str, Any]:
    """Make the trial; the result holds its figures.

    Raises:
        ConfigurationError: there is no such puzzle or model, no box on this machine, or no Inspect.
        BudgetExceeded: the money is used up before all attempts are made.
        TrialFailed: attempts have no verdict, or its process broke off.
    """
    order = {
        **task.model_dump(mode="json"),
        **options.model_dump(mode="json"),
        "model": context.terms.model,
        "max_cost": context.terms.budget,
        "trial": options.trial or context.run_id,
        "seed": context.seed,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assay.protocols.ai_crucible.trial_process"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_LINE,
        start_new_session=True,
        env={**os.environ, "INSPECT_DISPLAY": "none"},
    )
    assert process.stdin and process.stdout and process.stderr
    complaints = asyncio.create_task(process.stderr.read())
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        await process.stdin.drain()
        figures = await _relay(process.stdout, context.emit)
    except asyncio.CancelledError:
        # A trial that is told to stop still says what it has come to.
        await _end(process)
        with suppress(LlmRuntimeError):
            await _relay(process.stdout, context.emit)
        raise
    finally:
        await _end(process)
        complaint = await complaints
    if figures is None:
        last = complaint.decode(errors="replace").strip().splitlines()[-1:] or ["it left no message"]
        raise TrialFailed(f"the trial's process ended without a result: {last[0][:300]}")
    _check_end(figures)
    return figures


async def _relay(lines: asyncio.StreamReader, emit: Emit) -> dict[str, Any] | None:
    """Emit what the process writes as events; return the figures that it ends with."""
    async for line in lines:
        message = cast("dict[str, Any]", json.loads(line))
        kind, body = str(message["kind"]), message["body"]
        if kind == "fault":
            raise ConfigurationError(str(body))
        if kind == "figures":
            return cast("dict[str, Any]", body)
        emit(_KINDS[kind].model_validate(body))
    return None


def _check_end(figures: Mapping[str, Any]) -> None:
    """Refuse a trial that is not complete: its run can be resumed, and repeats no finished attempt.

    Raises:
        BudgetExceeded: the money is used up.
        TrialFailed: attempts have no verdict, or the trial was cut off.
    """
    trial, made = figures["trial"], count_noun(figures["graded"], "attempt")
    if figures["status"] == "success":
        return
    if figures["status"] in ("cancelled", "started"):
        raise TrialFailed(f"trial {trial} was stopped with {made} made")
    if figures["unpaid"]:
        raise BudgetExceeded(f"trial {trial} has used up its money with {made} made")
    without = count_noun(figures["without"], "attempt")
    raise TrialFailed(f"trial {trial} has {without} without a verdict{figures['first']}")


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close its input, which tells it to stop; kill one that does not, with all that it began."""
    assert process.stdin
    with suppress(OSError):
        process.stdin.close()
    try:
        async with asyncio.timeout(_GRACE_S):
            await process.wait()
    except TimeoutError:
        with suppress(OSError):
            os.killpg(process.pid, 9)
        await process.wait()
