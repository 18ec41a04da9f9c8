"""A store in a fresh folder, runs to put into it, and a clock that does what it is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from llm_runtime.events import CallFinished, CallStarted, RunFinished, RunStarted
from llm_runtime.messages import Reply, Usage
from llm_runtime.store import RunStore, SqliteStore


@pytest.fixture
def store_path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "runs.db"


@pytest.fixture
def store(store_path: Path) -> Iterator[SqliteStore]:
    ticks = count(1_000, 10)
    opened = SqliteStore(store_path, clock=lambda: next(ticks))
    yield opened
    opened.close()


@pytest.fixture
def any_store(store: SqliteStore) -> RunStore:
    """What a test holds of every kind of store; SQLite is the one there is."""
    return store


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
    store: SqliteStore,
    started: Callable[..., RunStarted],
    call: Callable[..., tuple[CallStarted, CallFinished]],
) -> str:
    """A finished run of 12 records: one opens it, five calls, one closes it."""
    log = store.start(started("done"))
    for number in range(5):
        for event in call(number):
            log.emit(event)
    log.emit(RunFinished(state="finished"))
    log.close()
    return "done"
