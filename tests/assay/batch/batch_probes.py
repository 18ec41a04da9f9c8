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
from assay.batch.performing import JobResult, JobRunner, WorkerContext
from llm_runtime.wrappers.accounts import Spend


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
async def echo(context: WorkerContext) -> AsyncGenerator[JobRunner]:
    """Answers at once; fails where the task says so, each time or ``until`` an attempt."""

    async def run_job(claim: Claim) -> JobResult:
        query = str(claim.task["query"])
        note(f"{query} {os.getpid()}")
        if query.startswith("poison"):
            raise ValueError("this input cannot be done")
        if query.startswith("slow"):
            await asyncio.sleep(0.3)
        return JobResult(json.dumps({"echo": query.upper()}), spent=Spend(cost=1))

    yield run_job


@asynccontextmanager
async def fifty_milliseconds(context: WorkerContext) -> AsyncGenerator[JobRunner]:
    """What a quick model would take."""

    async def run_job(claim: Claim) -> JobResult:
        await asyncio.sleep(0.05)
        return JobResult("{}")

    yield run_job


@asynccontextmanager
async def stuck(context: WorkerContext) -> AsyncGenerator[JobRunner]:
    """Never answers: whoever takes a job here holds it until it is killed."""

    async def run_job(claim: Claim) -> JobResult:
        note(f"{claim.task['query']} {os.getpid()}")
        await asyncio.Event().wait()
        raise AssertionError

    yield run_job
