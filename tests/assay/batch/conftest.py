"""Batches on each kind of store, and workers as real processes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.assay.batch.batch_shell import Shell, council
from tests.commands import Commands, bare_world
from tests.llm_runtime.store.postgres_server import PostgresServer

from assay.batch.batches import open_batches
from assay.batch.database import Database
from assay.batch.jobfile import Work
from assay.batch.jobs import Job
from assay.batch.ledger import Batch, Ledger
from assay.batch.purses import Purses
from llm_runtime.testing import LoopbackServer
from llm_runtime.wrappers.accounts import Caps


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL for all tests of a session; skips where it is not installed."""
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def postgres_url(postgres: PostgresServer, tmp_path: Path) -> str:
    """An empty database."""
    return postgres.new_database(f"b{hashlib.sha256(str(tmp_path).encode()).hexdigest()[:16]}")


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Each kind of store in turn: what holds for one has to hold for the other."""
    if request.param == "sqlite":
        return str(tmp_path / "store" / "runs.db")
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def database(store_url: str) -> Iterator[Database]:
    opened = open_batches(store_url)
    yield opened
    opened.close()


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return Ledger(database)


Enter = Callable[..., Batch]


@pytest.fixture
def enter() -> Enter:
    """Enters a batch with one job for each query, its id after its query."""

    def make(
        database: Database, *queries: str, batch_id: str = "batch", caps: Caps | None = None, **work: Any
    ) -> Batch:
        ledger = Ledger(database)
        settings = Work.model_validate({"retry_delay": 0, **work}).model_dump()
        none: dict[str, Any] = {"engine": {}, "model": None, "max_tokens": None}
        contents = hashlib.sha256(json.dumps(queries).encode()).hexdigest()
        batch = ledger.create(Batch(batch_id, "tag", "t", "crucible", contents, [none], settings, "loading"))
        Purses(database).open(batch_id, caps or Caps())
        ledger.load(
            batch, [Job(job_id(query), row, 0, 0, json.dumps({"query": query})) for row, query in enumerate(queries, 1)]
        )
        ledger.take_over(batch_id)
        ledger.set_state(batch_id, "open")
        return ledger.batch(batch_id)

    return make


def job_id(query: str) -> str:
    return hashlib.sha256(query.encode()).hexdigest()


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(council, cost=0.000_010) as running:
        yield running


@pytest.fixture
def shell(commands: Commands, tmp_path: Path, server: LoopbackServer) -> Shell:
    return Shell(
        tmp_path,
        bare_world(tmp_path, OPENROUTER_API_KEY="sk-or-canary", OPENROUTER_BASE_URL=f"{server.url}/v1"),
        commands,
    )
