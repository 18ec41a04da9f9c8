"""What the launcher writes into a run's log, and reads from it when the run goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from assay.demo import demo_answers
from assay.launch import Launcher, result_of
from assay.registry import Prepared, read_run
from assay.terms import Terms
from llm_runtime.errors import DeadlineExceeded, ServerFault
from llm_runtime.events import RunFinished
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.settings import Settings
from llm_runtime.store import RunLog, RunStore, SqliteStore
from llm_runtime.wrappers.timed import Deadline, timed

COST = 5


class Councillors:
    """The models of the recorded council at a price, which can be down for a phase."""

    def __init__(self) -> None:
        answers = demo_answers("council")
        self.run: Prepared = read_run("crucible.council", {"query": answers.manifest["question"]})
        self.asked: list[str] = []
        self.down = ""
        self._recorded: Generate = answers.model(speed=0)

    async def __call__(self, request: Request) -> Reply:
        if request.label.phase == self.down:
            raise ServerFault("down", status=500)
        self.asked.append(str(request.label))
        return replace(await self._recorded(request), cost=COST, cost_source="provider")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    with closing(SqliteStore(tmp_path / "runs.db")) as opened:
        yield opened


@pytest.mark.parametrize("seed", [0, 7])
async def test_a_run_has_the_seed_that_it_was_given(store: RunStore, seed: int) -> None:
    launcher, models = Launcher(store, Settings, draw_seed=lambda: 99), Councillors()
    running = await launcher.start(models.run, Terms(max_calls=0), model=models, seed=seed)
    await running.outcome()
    assert launcher.first_event(running.run_id).seed == seed
    drawn = await launcher.start(models.run, Terms(max_calls=0), model=models)
    await drawn.outcome()
    assert launcher.first_event(drawn.run_id).seed == 99


async def test_a_run_whose_time_is_up_is_stopped_and_can_go_on(store: RunStore) -> None:
    async def never(request: Request) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError("nobody answers here")

    launcher, models = Launcher(store, Settings), Councillors()
    running = await launcher.start(models.run, Terms(), model=timed(never, Deadline(0.01)))
    outcome = await running.outcome()
    assert isinstance(outcome.error, DeadlineExceeded)
    assert outcome.state == store.summary(running.run_id).state == "stopped"
    again = await launcher.resume(running.run_id, model=models)
    assert (await again.outcome()).state == "finished"


def test_how_a_stopped_run_stood_is_no_result() -> None:
    stopped, finished = (RunFinished(state=state, result={"so": "far"}) for state in ("stopped", "finished"))
    assert result_of([stopped]) is None and result_of([finished, stopped]) is None
    assert result_of([stopped, finished]) == {"so": "far"}


async def test_who_has_read_a_runs_end_goes_on_though_its_log_is_still_being_closed(
    store: RunStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = Councillors()
    launcher = Launcher(store, Settings)
    stopped = await launcher.start(models.run, Terms(max_calls=1), model=models)
    await stopped.outcome()
    with closing(SqliteStore(tmp_path / "runs.db")) as other:
        held, reopen = other.reopen(stopped.run_id), store.reopen

        def tried(run_id: str) -> RunLog:
            try:
                return reopen(run_id)
            finally:
                held.close()

        monkeypatch.setattr(store, "reopen", tried)
        again = await launcher.resume(stopped.run_id, Terms(max_calls=100), model=models)
        assert (await again.outcome()).state == "finished"


async def test_a_call_that_failed_is_asked_again_and_paid_for_and_no_other_is(store: RunStore) -> None:
    launcher, models = Launcher(store, Settings), Councillors()
    models.down = "synthesis"
    running = await launcher.start(models.run, model=models, seed=7)
    assert (await running.outcome()).state == "failed"
    before = len(models.asked)
    assert store.summary(running.run_id).cost == COST * before

    models.down = ""
    outcome = await (await launcher.resume(running.run_id, model=models)).outcome()
    assert outcome.state == "finished"
    assert len(set(models.asked)) == len(models.asked) > before
    assert store.summary(running.run_id).cost == COST * len(models.asked)
