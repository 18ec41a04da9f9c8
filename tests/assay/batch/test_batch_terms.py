"""The terms of each single job: kept by its run, whatever the batch may spend, and whoever goes on with it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.assay.batch.batch_shell import CALLS

from assay.batch.batches import open_batches, prepare
from assay.batch.ledger import Ledger, Result
from assay.batch.worker import work
from assay.launch import Launcher
from assay.registry import opened
from assay.terms import Terms, in_force
from llm_runtime.errors import UnknownPrice
from llm_runtime.store import SqliteStore
from llm_runtime.testing import LoopbackServer

JOB = """
run = "crucible.council"
[input]
path = "questions.csv"
[input.columns]
query = "question"
[options]
delta = "similarity"
[work]
retry_delay = 0
[terms]
max_tokens = 777
"""


class Batch:
    """A folder with a job file, worked off in this process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = str(folder / "runs.db")
        self.batch_id = ""

    async def run(self, job: str) -> Result:
        """What came of the only job."""
        (self.folder / "job.toml").write_text(job)
        (self.folder / "questions.csv").write_text("question\nWhy blue?\n")
        _, batch = await prepare(self.folder / "job.toml", self.store)
        self.batch_id = batch.batch_id
        await work(self.store, self.batch_id)
        return self.result()

    async def retry_failed(self) -> Result:
        database = open_batches(self.store)
        ledger = Ledger(database)
        ledger.retry_failed(self.batch_id)
        ledger.set_state(self.batch_id, "open")
        database.close()
        await work(self.store, self.batch_id)
        return self.result()

    def result(self) -> Result:
        database = open_batches(self.store)
        [result] = Ledger(database).results(self.batch_id)
        assert Ledger(database).batch(self.batch_id).state == "open"
        database.close()
        return result


@pytest.fixture
def batch(tmp_path: Path, server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Batch:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ASSAY_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("ASSAY_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-or-canary")
    monkeypatch.setenv("OPENROUTER_BASE_URL", f"{server.url}/v1")
    return Batch(tmp_path)


async def test_a_jobs_own_bound_ends_that_job_alone_and_trying_again_does_not_lift_it(
    batch: Batch, server: LoopbackServer
) -> None:
    dead = await batch.run(JOB + "max_calls = 2\n")
    assert (dead.state, dead.error, dead.failures) == ("dead", "BudgetExceeded", 1)
    assert [request.payload["max_tokens"] for request in server.requests] == [4096, 777], "triage is not cut"
    assert (await batch.retry_failed()).state == "dead"
    assert len(server.requests) == 2
    # A higher bound is the same job: what two calls answered is not asked again.
    assert (await batch.run(JOB + "max_calls = 20\n")).job_id == dead.job_id
    done = await batch.retry_failed()
    assert (done.state, len(server.requests)) == ("done", CALLS)


async def test_a_jobs_run_goes_on_at_any_door_under_its_terms(batch: Batch, server: LoopbackServer) -> None:
    await batch.run(JOB + "max_calls = 2\n")
    await batch.retry_failed()
    store = SqliteStore(Path(batch.store))
    launcher = Launcher(store)
    runs = list(store.runs())
    assert len(runs) == 2
    for run in runs:
        started = launcher.first_event(run.run_id)
        assert (started.protocol, opened(started).options.model_dump()["delta"]) == ("crucible.council", "similarity")
        outcome = await (await launcher.resume(run.run_id)).outcome()
        assert outcome.state == "stopped" and len(server.requests) == 2
    outcome = await (await launcher.resume(runs[0].run_id, Terms(max_calls=20))).outcome()
    assert (outcome.state, len(server.requests)) == ("finished", CALLS)
    assert in_force(event for _, event in store.events(outcome.run_id)) == Terms(max_tokens=777, max_calls=20)
    store.close()


async def test_a_jobs_deadline_is_its_own(batch: Batch, monkeypatch: pytest.MonkeyPatch) -> None:
    async with LoopbackServer(latency=60) as slow:
        monkeypatch.setenv("OPENROUTER_BASE_URL", f"{slow.url}/v1")
        dead = await batch.run(JOB + "deadline = 0.3\n")
    assert (dead.state, dead.error, dead.failures) == ("dead", "DeadlineExceeded", 1)


async def test_a_jobs_budget_needs_a_price_before_anything_is_spent(batch: Batch, server: LoopbackServer) -> None:
    with pytest.raises(UnknownPrice):
        await batch.run(JOB + 'budget = 1.0\nmodel = "openrouter:no-such/model"\n')
    assert server.requests == []


async def test_bounds_in_the_grid_are_jobs_of_their_own(batch: Batch, server: LoopbackServer) -> None:
    (batch.folder / "questions.csv").write_text("question\nWhy blue?\n")
    (batch.folder / "job.toml").write_text(JOB + "[grid]\n'terms.max_calls' = [2, 20]\n")
    _, entered = await prepare(batch.folder / "job.toml", batch.store)
    await work(batch.store, entered.batch_id)
    database = open_batches(batch.store)
    assert [result.state for result in Ledger(database).results(entered.batch_id)] == ["dead", "done"]
    database.close()
    assert len(server.requests) == 2 + CALLS
