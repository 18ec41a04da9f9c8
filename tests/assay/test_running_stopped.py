"""A run that is stopped while its log is no longer its own leaves no error behind that nobody waits for."""

from __future__ import annotations

import asyncio
import gc
from typing import Any

import pytest

from assay.launch import Outcome, Running
from llm_runtime.errors import StoreBusy


async def test_who_stops_waiting_for_a_run_that_another_has_is_told_nothing_more() -> None:
    untold: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: untold.append(context))

    async def run() -> Outcome:
        try:
            await asyncio.Event().wait()
        finally:
            raise StoreBusy("another writes it")
        raise AssertionError

    task = asyncio.create_task(run())
    waiting = asyncio.create_task(Running("20260101-000000-aaaaaa", task).outcome())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert task.done()
    del task, waiting
    gc.collect()
    await asyncio.sleep(0)
    assert untold == []
