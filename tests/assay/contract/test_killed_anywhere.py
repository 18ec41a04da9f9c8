"""A run that is killed before or after any of its events goes on to the same result, and pays for nothing again.

What a killed process leaves is the log up to some event, unsigned from there (``test_store_processes`` kills real
ones, ``test_store_disk`` the power). Each such log is made here, and gone on with. A kill needs no flushed disk.
"""

from __future__ import annotations

from contextlib import closing
from itertools import islice
from pathlib import Path

import pytest

from assay.demo import prepare_demo
from assay.launch import Launcher
from assay.launch.execution import Outcome
from llm_runtime.events import CallFinished
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.settings import Settings
from llm_runtime.store import SqliteStore
from llm_runtime.store.verify import verify


class Counted:
    """A model, and how often it was asked."""

    def __init__(self, model: Generate) -> None:
        self.asked = 0
        self._model = model

    async def __call__(self, request: Request) -> Reply:
        self.asked += 1
        return await self._model(request)


@pytest.mark.long
@pytest.mark.parametrize(("name", "step"), [("council", 1), ("circle", 1), ("debate", 5)])
async def test_a_run_killed_at_any_event_ends_as_if_it_had_not_been(name: str, step: int, tmp_path: Path) -> None:
    demo = prepare_demo(name, tmp_path / "demo", 0)
    assert demo.model is not None
    with closing(SqliteStore(tmp_path / "quiet/runs.db", durability="exit")) as store:
        launcher = Launcher(store, Settings)
        running = await launcher.start(demo.run, seed=demo.seed, model=Counted(demo.model), run_id="r")
        quiet = await running.outcome()
        records = list(store.records("r"))
        answers = [isinstance(event, CallFinished) for _, event in store.events("r")]
    # The last event is the end, after which nobody goes on.
    for killed in range(1, len(records), step):
        with closing(SqliteStore(tmp_path / f"killed-{killed}/runs.db", durability="exit")) as store:
            store.adopt("r", islice(records, killed))
            model = Counted(demo.model)
            again: Outcome = await (await Launcher(store, Settings).resume("r", model=model)).outcome()
            assert (again.state, again.result) == (quiet.state, quiet.result), f"killed after event {killed}"
            assert model.asked == sum(answers) - sum(answers[:killed])
            assert verify(store, "r").ok
            assert store.summary("r").calls == sum(answers)
