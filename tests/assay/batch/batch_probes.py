"""Performers that do next to nothing, so that what is tested is the machinery around them. Each names its calls in
the file of ``PROBE_LOG``, as a provider's bill would."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from assay.batch.ledger import Claim
from assay.batch.performing import Done, Perform, Workplace


def note(line: str) -> None:
    """Append a line, whole, whoever else writes."""
    if path := os.environ.get("PROBE_LOG"):
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(handle, f"{line}\n".encode())
        os.close(handle)


def noted() -> list[str]:
    path = Path(os.environ["PROBE_LOG"])
    return path.read_text().splitlines() if path.exists() else []


@asynccontextmanager
async def echo(place: Workplace) -> AsyncGenerator[Perform]:
    """Answers at once; fails where the task says so, each time or ``until`` an attempt."""

    async def perform(claim: Claim) -> Done:
        query = str(claim.task["query"])
        note(f"{query} {os.getpid()}")
        if query.startswith("poison"):
            raise ValueError("this input cannot be done")
        if query.startswith("slow"):
            await asyncio.sleep(0.3)
        return Done(json.dumps({"echo": query.upper()}), cost=1)

    yield perform


@asynccontextmanager
async def fifty_milliseconds(place: Workplace) -> AsyncGenerator[Perform]:
    """What a quick model would take."""

    async def perform(claim: Claim) -> Done:
        await asyncio.sleep(0.05)
        return Done("{}")

    yield perform


@asynccontextmanager
async def stuck(place: Workplace) -> AsyncGenerator[Perform]:
    """Never answers: whoever takes a job here holds it until it is killed."""

    async def perform(claim: Claim) -> Done:
        note(f"{claim.task['query']} {os.getpid()}")
        await asyncio.Event().wait()
        raise AssertionError

    yield perform
