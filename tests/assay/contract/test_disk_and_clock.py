"""A disk that turns read-only under a run, and a clock that is set back: one line, and nothing paid for is lost."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from itertools import count
from pathlib import Path

import pytest
from tests.assay.contract.test_launcher_logs import Councillors

from assay.launch import Launcher
from llm_runtime.errors import StoreUnwritable
from llm_runtime.messages import Reply, Request
from llm_runtime.settings import Settings
from llm_runtime.store import SqliteStore
from llm_runtime.store.verify import verify

HOUR_MS = 3_600_000


@pytest.mark.parametrize("nth", [1, 4, 9])
async def test_a_disk_that_turns_read_only_in_the_middle_costs_what_was_in_flight(nth: int, tmp_path: Path) -> None:
    models = Councillors()
    with closing(SqliteStore(tmp_path / "runs.db")) as store:
        launcher = Launcher(store, Settings)
        quiet = await (await launcher.start(models.run, seed=3, model=models)).outcome()
        models.asked.clear()

        async def until_shut(request: Request) -> Reply:
            if len(models.asked) + 1 == nth:
                store.writer.execute("PRAGMA query_only = ON")
            return await models(request)

        running = await launcher.start(models.run, seed=3, model=until_shut)
        with pytest.raises(StoreUnwritable) as shut:
            await running.outcome()
        assert "\n" not in str(shut.value) and str(store.path) in str(shut.value)
        store.writer.execute("PRAGMA query_only = OFF")
        kept, paid = store.summary(running.run_id).calls, len(models.asked)
        again = await (await launcher.resume(running.run_id, model=models)).outcome()
        assert (again.state, again.result) == ("finished", quiet.result)
        assert verify(store, running.run_id).ok
        asked = Counter(models.asked)
        # Only what was in flight when the disk shut is asked again.
        assert sum(asked.values()) - len(asked) == paid - kept <= 4
        assert store.summary(running.run_id).calls == len(asked)


async def test_a_clock_that_is_set_back_changes_nothing_but_the_times(tmp_path: Path) -> None:
    models, ticks = Councillors(), count()

    def clock() -> int:
        tick = next(ticks)
        return 5 * HOUR_MS + tick - (2 * HOUR_MS if tick > 12 else 0)

    with closing(SqliteStore(tmp_path / "runs.db", clock=clock)) as store:
        launcher = Launcher(store, Settings, clock=clock)
        running = await launcher.start(models.run, seed=3, model=models)
        assert (await running.outcome()).state == "finished"
        times = [record.at for record in store.records(running.run_id)]
        assert times != sorted(times)
        assert verify(store, running.run_id).ok
        replayed = await launcher.replay(running.run_id)
        assert replayed.result == replayed.recorded
        later = await launcher.start(models.run, seed=4, model=models)
        assert (await later.outcome()).state == "finished"
        assert {run.run_id for run in store.runs()} == {running.run_id, later.run_id}
