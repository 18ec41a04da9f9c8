"""The conversation with the process of a trial: an order in, what it tells out, and how it is stopped."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias, cast

from assay.report.units import count_noun
from llm_runtime.errors import BudgetExceeded, ConfigurationError, LlmRuntimeError

Take: TypeAlias = Callable[[str, Any], None]
"""Takes each message: its kind and its body."""

_LINE = 1 << 26
_GRACE_S = 15.0
"""Seconds that a trial has to put its log in order once it is told to stop."""


class TrialFailed(LlmRuntimeError):
    """The trial's process ended without a result."""


async def make_trial(order: Mapping[str, Any], take: Take, stop: asyncio.Event | None = None) -> dict[str, Any]:
    """Make the trial that is ordered; return the figures that it ends with.

    Args:
        order: task, options, model, cap and id.
        take: is handed what it tells, in order.
        stop: no further attempt is begun; those under way are ended and graded.

    Raises:
        ConfigurationError: there is no such puzzle or model, no box on this machine, or no Inspect.
        TrialFailed: its process broke off.
    """
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
    stopping = asyncio.create_task(_tell(stop, process.stdin)) if stop else None
    try:
        process.stdin.write(json.dumps(order).encode() + b"\n")
        await process.stdin.drain()
        figures = await _relay(process.stdout, take)
    except asyncio.CancelledError:
        # A trial that is told to stop still says what it has come to.
        await _end(process)
        with suppress(LlmRuntimeError):
            await _relay(process.stdout, take)
        raise
    finally:
        if stopping:
            stopping.cancel()
        await _end(process)
        complaint = await complaints
    if figures is None:
        last = complaint.decode(errors="replace").strip().splitlines()[-1:] or ["it left no message"]
        raise TrialFailed(f"the trial's process ended without a result: {last[0][:300]}")
    return figures


async def _tell(stop: asyncio.Event, stdin: asyncio.StreamWriter) -> None:
    await stop.wait()
    with suppress(OSError):
        stdin.write(b"enough\n")
        await stdin.drain()


async def _relay(lines: asyncio.StreamReader, take: Take) -> dict[str, Any] | None:
    """Hand over what the process writes; return the figures that it ends with."""
    async for line in lines:
        message = cast("dict[str, Any]", json.loads(line))
        kind, body = str(message["kind"]), message["body"]
        if kind == "fault":
            raise ConfigurationError(str(body))
        if kind == "figures":
            return cast("dict[str, Any]", body)
        take(kind, body)
    return None


def check_end(figures: Mapping[str, Any]) -> None:
    """Refuse a trial that is not complete: its run can be resumed, and repeats no finished attempt.

    Raises:
        BudgetExceeded: the money is used up.
        TrialFailed: attempts have no verdict, or the trial was cut off.
    """
    trial, made = figures["trial"], count_noun(figures["graded"], "attempt")
    if figures["status"] == "success":
        return
    if figures["status"] in ("cancelled", "started") or not (figures["unpaid"] or figures["without"]):
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
