"""A trial from a run's opening, in a process of its own: Inspect is heavy, and wants an event loop to itself.

``task`` holds the puzzles, the model, ``k``, the arm and the limits. The trial goes by the run's id, so a run that
is resumed goes on with the same trial and repeats no attempt. Models are reached by that process, not through the
model function of the run: what they said is in Inspect's own log, and is told from there.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from typing import Any, cast

from assay.protocols.ai_crucible.report.kept import AttemptEnded, AttemptTold, TrialBegan, TrialSealed
from llm_runtime.errors import ConfigurationError, LlmRuntimeError
from llm_runtime.events import Emit, Event, RunStarted
from llm_runtime.messages import Generate

_KINDS: dict[str, type[Event]] = {
    "began": TrialBegan,
    "ended": AttemptEnded,
    "told": AttemptTold,
    "sealed": TrialSealed,
}
_LINE = 1 << 26
_GRACE_S = 15.0
"""Seconds that a trial has to put its log in order once it is told to stop."""


class TrialFailed(LlmRuntimeError):
    """The trial's process ended without a result."""


async def run(started: RunStarted, generate: Generate, emit: Emit) -> dict[str, Any]:
    """Make the trial; the result holds its figures.

    Raises:
        ConfigurationError: there is no such puzzle or model, no box on this machine, or no Inspect.
        TrialFailed: its process broke off.
    """
    order = {**started.task, "trial": started.run_id, "seed": started.seed}
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
        figures = await _hear(process.stdout, emit)
        await process.wait()
    finally:
        await _end(process)
        said = await complaints
    if figures is None:
        last = said.decode(errors="replace").strip().splitlines()[-1:] or ["it said nothing"]
        raise TrialFailed(f"the trial's process ended without a result: {last[0][:300]}")
    return figures


async def _hear(lines: asyncio.StreamReader, emit: Emit) -> dict[str, Any] | None:
    """Tell what the process says as events; returns the figures it ends with."""
    async for line in lines:
        said = cast("dict[str, Any]", json.loads(line))
        kind, body = str(said["kind"]), said["body"]
        if kind == "fault":
            raise ConfigurationError(str(body))
        if kind == "figures":
            return cast("dict[str, Any]", body)
        emit(_KINDS[kind].model_validate(body))
    return None


async def _end(process: asyncio.subprocess.Process) -> None:
    """The end of its input tells it to stop; one that does not is killed with all that it began."""
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
