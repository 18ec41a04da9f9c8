"""Stores that the code of past commits made: each run opens, verifies, is shown, replays, and goes on.

``make past-stores`` makes them anew; ``tools/past_stores`` says how, and what each is there for.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.llm_runtime.store.conftest import postgres, postgres_url
from tools.past_stores.answers import answer
from tools.past_stores.commits import OVER_POSTGRESQL
from tools.past_stores.keeping import lay_out, load
from tools.past_stores.making import MODELS

from assay.batch.batches import open_batches, prepare
from assay.batch.ledger import Ledger
from assay.batch.local import run_local
from assay.launch import Launcher
from assay.registry import opened, story_of
from assay.report.html import story_html
from assay.terms import Terms
from llm_runtime.errors import ConfigurationError, LlmRuntimeError, StoreError
from llm_runtime.events import CallFinished, CallStarted, Event, RunStarted
from llm_runtime.store import RunStore, open_store
from llm_runtime.store.verify import verify
from llm_runtime.testing import LoopbackServer

__all__ = ["postgres", "postgres_url"]
PAST = Path(__file__).with_name("past")
STORES: dict[str, dict[str, Any]] = json.loads((PAST / "manifest.json").read_text(encoding="utf-8"))
#: What results derive from answers, and what a later reader of them finds otherwise: sentences of texts by another
#: library, marks for turns, and claims about earlier turns in more words.
READ_ANEW = {"sources", "flags", "status", "drift", "ledger", "shifts"}
#: Runs whose engine went another way: authors that were judged in two steps, a remark under another name. They are
#: refused in one line and read as ever.
GONE = {("9d1588c9", "council told"), *((commit, "authors") for commit in ("22b1c59d", "b2fb1095", "76c12319"))}


class Laid:
    """One store laid out: its folder, what was made in it, and the server that answers."""

    def __init__(self, name: str, home: Path, made: dict[str, Any], url: str = "") -> None:
        self.name, self.made, self.home = name, made, home
        self.url = url or str(home / "data" / "runs.db")
        self.store: RunStore = open_store(self.url)

    def events(self, run_id: str) -> list[Event]:
        return [event for _, event in self.store.events(run_id)]

    def runs(self) -> dict[str, str]:
        return {name: one["run"] for name, one in self.made.items() if one.get("run")}

    def unfinished(self) -> Iterator[tuple[str, str, str]]:
        for name, one in self.made.items():
            if one.get("like") and one.get("run") and one["state"] != "finished":
                yield name, one["run"], self.made.get(one["like"], {}).get("run", "")


def answered(events: list[Event]) -> set[tuple[str, int]]:
    return {(event.digest, event.occurrence) for event in events if isinstance(event, CallFinished)}


def asked(events: list[Event]) -> set[tuple[str, int]]:
    """The calls that went to a model."""
    started = (event for event in events if isinstance(event, CallStarted) and not event.replayed)
    return {(event.digest, event.occurrence) for event in started}


def unlike(recorded: Any, again: Any, path: str = "") -> list[str]:
    """Where a result differs from what was recorded; a later release may say more."""
    if isinstance(recorded, dict) and isinstance(again, dict):
        names = [name for name in recorded if name not in READ_ANEW]
        return [place for name in names for place in unlike(recorded[name], again.get(name), f"{path}.{name}")]
    if isinstance(recorded, list) and isinstance(again, list) and len(recorded) == len(again):
        pairs = enumerate(zip(recorded, again, strict=True))
        return [place for number, pair in pairs for place in unlike(*pair, f"{path}[{number}]")]
    return [] if recorded == again else [f"{path}: {recorded!r:.80} is {again!r:.80}"]


def laid_out(name: str, home: Path, url: str = "") -> Laid:
    made = lay_out(PAST / f"{name}.tar.xz", home)
    if url:
        load(home, url)
    return Laid(name, home, made, url)


def _params() -> Iterator[Any]:
    for name, one in STORES.items():
        marks = [pytest.mark.postgres] if name.endswith(OVER_POSTGRESQL) else []
        yield pytest.param(name, marks=marks, id=f"{name}: {one['why']}")


@pytest.fixture(params=_params())
def past(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Laid]:
    url = ""
    if request.param.endswith(OVER_POSTGRESQL):
        monkeypatch.setenv("ASSAY_DATA_DIR", str(tmp_path / "data"))
        url = request.getfixturevalue("postgres").new_database(f"past{abs(hash(tmp_path))}")
    laid = laid_out(request.param, tmp_path, url)
    with closing(laid.store):
        yield laid


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LoopbackServer]:
    # It says no cost, so that the price of the words counts, as when the stores were made.
    async with LoopbackServer(answer, models=MODELS, cost=None) as running:
        monkeypatch.setenv("OPENROUTER_API_KEY", "no-key-of-anybody")
        monkeypatch.setenv("OPENROUTER_BASE_URL", f"{running.url}/v1")
        yield running


@pytest.mark.long
def test_every_run_of_a_past_store_opens_verifies_and_is_shown(past: Laid) -> None:
    assert {*STORES[past.name]["runs"]} - {"batch"} <= {*past.runs()}
    for run in past.store.runs(limit=200):
        assert verify(past.store, run.run_id).intact, run
        story = story_of(past.store.records(run.run_id))
        assert story.title and story_html(story).rstrip().endswith("</html>")


@pytest.mark.long
async def test_every_finished_run_of_a_past_store_replays(past: Laid) -> None:
    launcher = Launcher(past.store)
    for name, run_id in past.runs().items():
        started = past.events(run_id)[0]
        assert isinstance(started, RunStarted) and not started.behaviours
        if not opened(started).hooks.replayable or past.store.summary(run_id).state != "finished":
            continue
        if (past.name, name) in GONE:
            with pytest.raises(LlmRuntimeError):
                await launcher.replay(run_id)
            continue
        replayed = await launcher.replay(run_id)
        assert not unlike(replayed.recorded, replayed.result), name


@pytest.mark.long
async def test_what_a_past_release_left_half_done_goes_on_and_asks_nothing_twice(
    past: Laid, server: LoopbackServer
) -> None:
    launcher = Launcher(past.store)
    for name, run_id, whole in past.unfinished():
        if not opened(past.events(run_id)[0]).hooks.replayable:  # pyright: ignore[reportArgumentType]
            continue
        before, length, sent = answered(past.events(run_id)), len(past.events(run_id)), len(server.requests)
        if (past.name, name) in GONE:
            with pytest.raises(ConfigurationError):
                await launcher.resume(run_id)
            continue
        running = await launcher.resume(run_id, Terms(budget=50 if "budget" in name else None, max_calls=1_000))
        outcome = await running.outcome()
        assert outcome.state == "finished", f"{name}: {outcome.error}"
        fresh = asked(past.events(run_id)[length:])
        assert fresh and not fresh & before, f"{name}: what was answered is asked again"
        assert len(server.requests) - sent >= len(fresh)
        # A comparison draws samples by what those before took, failed ones included, and these differ.
        if not name.startswith("compared"):
            assert len(fresh | before) == len(asked(past.events(whole))), f"{name}: not what is missing"


@pytest.mark.long
@pytest.mark.parametrize("anew", [True, False], ids=["anew", "as it is"])
async def test_a_batch_that_a_past_release_left_half_done_goes_on_as_it_began(
    past: Laid, server: LoopbackServer, anew: bool
) -> None:
    """Jobs that were not begun ask as the others of their batch did, whether its job file is read again or not."""
    await goes_on_with_its_batch(past, server, anew=anew)


@pytest.mark.parametrize("name", ["22b1c59d", "223f95a7"], ids=["without a clerk", "with one"])
async def test_a_batch_without_numbers_goes_on_as_it_began(tmp_path: Path, server: LoopbackServer, name: str) -> None:
    past = laid_out(name, tmp_path)
    with closing(past.store):
        await goes_on_with_its_batch(past, server, anew=True)


async def goes_on_with_its_batch(past: Laid, server: LoopbackServer, *, anew: bool) -> None:
    job_file, url = past.home / past.made["batch"]["command"][2], past.url
    with closing(open_batches(url)) as database:
        ledger = Ledger(database)
        [batch] = ledger.batches()
        done = [one.run_id for one in ledger.results(batch.batch_id) if one.state == "done"]
        had = {run: answered(past.events(run)) for run in past.made["batch"]["runs"]}
        if anew:
            assert (await prepare(job_file, url))[1].batch_id == batch.batch_id
        ledger.rescue(batch.batch_id, 9)
        await run_local(url, batch.batch_id)
        jobs = list(ledger.results(batch.batch_id))
    assert [one.state for one in jobs] == ["done"] * 5
    each = len(had[done[0]])
    for job in jobs:
        runs = [run.run_id for run in past.store.runs(limit=200) if job.job_id[:20] in run.run_id]
        assert len(set[tuple[str, int]]().union(*(answered(past.events(run)) for run in runs))) == each, job.row
    assert len(server.requests) == 5 * each - sum(map(len, had.values())), "what was answered is asked again"


async def test_a_council_and_a_circle_of_the_oldest_store_replay_and_go_on(
    tmp_path: Path, server: LoopbackServer
) -> None:
    past = laid_out("70307c95", tmp_path)
    with closing(past.store):
        launcher, runs = Launcher(past.store), past.runs()
        for name in ("council", "circle"):
            replayed = await launcher.replay(runs[name])
            assert replayed.result == replayed.recorded
        before = answered(past.events(runs["council killed"]))
        running = await launcher.resume(runs["council killed"])
        assert (await running.outcome()).state == "finished"
        missing = len(asked(past.events(runs["council"]))) - len(before)
        assert 0 < missing == len(server.requests), "nothing is asked twice, and no more than is missing"


@pytest.mark.parametrize("commit", STORES)
def test_a_past_store_is_as_it_was_made(commit: str) -> None:
    digest = hashlib.sha256((PAST / f"{commit}.tar.xz").read_bytes()).hexdigest()
    assert digest == STORES[commit]["sha256"], f"tests/past/{commit}.tar.xz was changed: make past-stores"


@pytest.mark.parametrize("name", ["70307c95", "223f95a7"])
def test_a_store_of_a_newer_release_is_one_line_and_nothing_is_written(tmp_path: Path, name: str) -> None:
    lay_out(PAST / f"{name}.tar.xz", tmp_path)
    path = tmp_path / "data" / "runs.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 999")
    shutil.copy(path, tmp_path / "before")
    with pytest.raises(StoreError, match="written by a newer version") as refusal:
        open_store(str(path)).runs()
    assert "\n" not in str(refusal.value) and path.read_bytes() == (tmp_path / "before").read_bytes()


def test_a_database_of_a_newer_release_is_one_line_and_nothing_is_written(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import psycopg

    monkeypatch.setenv("ASSAY_DATA_DIR", str(tmp_path / "data"))
    lay_out(PAST / f"223f95a7{OVER_POSTGRESQL}.tar.xz", tmp_path)
    load(tmp_path, postgres_url)
    with psycopg.connect(postgres_url, autocommit=True) as connection:

        def held() -> dict[str, list[Any]]:
            tables = "SELECT relname FROM pg_stat_user_tables WHERE schemaname = current_user ORDER BY relname"
            rows = {name: f"SELECT {name}::text FROM {name} ORDER BY 1" for (name,) in connection.execute(tables)}
            return {name: connection.execute(query.encode()).fetchall() for name, query in rows.items()}

        connection.execute("INSERT INTO run_migrations VALUES (99, 'of a later release')")
        before = held()
        with pytest.raises(StoreError, match="written by a newer version") as refusal:
            open_store(postgres_url)
        assert "\n" not in str(refusal.value) and before["runs"] and held() == before


@pytest.mark.parametrize(
    ("behaviours", "words"),
    [({"crucible": 99}, "behaviour 99 of crucible"), ({"casserole": 1}, "behaviour 1 of casserole")],
    ids=["a number", "an engine"],
)
async def test_a_batch_of_an_unknown_behaviour_is_one_line_and_nothing_is_written(
    tmp_path: Path, server: LoopbackServer, behaviours: dict[str, int], words: str
) -> None:
    past = laid_out("22b1c59d", tmp_path)
    with closing(past.store), closing(open_batches(past.url)) as database:
        ledger = Ledger(database)
        [batch] = ledger.batches()
        told = [{**one, "behaviours": behaviours} for one in batch.configurations]
        database.execute("UPDATE batches SET configurations = ?", (json.dumps(told),))
        ledger.rescue(batch.batch_id, 9)
        before, runs = list(ledger.results(batch.batch_id)), past.store.runs(limit=200)
        with pytest.raises(ConfigurationError, match=words) as refusal:
            await run_local(past.url, batch.batch_id)
        assert "\n" not in str(refusal.value) and not server.requests
        assert list(ledger.results(batch.batch_id)) == before and past.store.runs(limit=200) == runs
