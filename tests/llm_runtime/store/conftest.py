"""A store in a fresh folder, runs to put into it, and a clock that does what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from tests.llm_runtime.store.postgres_server import PostgresServer

from llm_runtime.events import CallFinished, CallStarted, RunFinished, RunStarted
from llm_runtime.messages import Reply, Usage
from llm_runtime.store import RunStore, SqliteStore
from llm_runtime.store.postgres import PostgresStore


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "runs.db"


@pytest.fixture
def store(store_path: Path) -> Iterator[SqliteStore]:
    ticks = count(1_000, 10)
    opened = SqliteStore(store_path, clock=lambda: next(ticks))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL for all tests of a session; skips where it is not installed."""
    server = PostgresServer()
    yield server
    server.remove()


@pytest.fixture
def postgres_url(postgres: PostgresServer, tmp_path: Path) -> str:
    """An empty database."""
    return postgres.new_database(f"t{abs(hash(tmp_path))}")


@pytest.fixture(params=["sqlite", "postgresql"])
def any_store(request: pytest.FixtureRequest, store_path: Path, tmp_path: Path) -> Iterator[RunStore]:
    """Each kind of store in turn: what holds for one has to hold for the other."""
    ticks = count(1_000, 10)
    if request.param == "sqlite":
        opened: RunStore = SqliteStore(store_path, clock=lambda: next(ticks))
    else:
        opened = PostgresStore(request.getfixturevalue("postgres_url"), clock=lambda: next(ticks))
    yield opened
    opened.close()


@pytest.fixture
def started() -> Callable[..., RunStarted]:
    def make(run_id: str = "run-1", **fields: Any) -> RunStarted:
        values: dict[str, Any] = {"protocol": "crucible", "title": "Why?", "task": {}, "settings": {}, "seed": 1}
        return RunStarted(run_id=run_id, **values | fields)

    return make


@pytest.fixture
def call() -> Callable[..., tuple[CallStarted, CallFinished]]:
    """The two events of one answered call."""

    def make(
        number: int, cost: int | None = 5, replayed: bool = False, text: str = "an answer"
    ) -> tuple[CallStarted, CallFinished]:
        key: dict[str, Any] = {"digest": f"{number:064x}", "occurrence": 1, "replayed": replayed}
        reply = Reply(text, "a/b", "scripted", Usage(10, 3), cost=cost)
        return CallStarted(request={"n": number}, **key), CallFinished(reply=reply.to_dict(), **key)

    return make


@pytest.fixture
def finished_run(
    store: SqliteStore, started: Callable[..., RunStarted], call: Callable[..., tuple[CallStarted, CallFinished]]
) -> str:
    """A finished run of 12 records: one opens it, five calls, one closes it."""
    log = store.start(started("done"))
    for number in range(5):
        for event in call(number):
            log.emit(event)
    log.emit(RunFinished(state="finished"))
    log.close()
    return "done"
