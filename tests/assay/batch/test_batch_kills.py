"""Workers, drivers and databases that die: nothing is lost or doubled, only what was in flight is done again."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.assay.batch.batch_shell import ray_cluster
from tests.extent import PATIENCE
from tests.llm_runtime.store.postgres_server import PostgresServer

from assay.batch.batches import open_batches
from assay.batch.database import Database
from assay.batch.ledger import Batch, Ledger

Enter = Callable[..., Batch]
ROOT = Path(__file__).parents[3]
#: Seconds that no busy machine lets pass by; a test that wants them over says so to the database.
LEASE = 3600
WORK = """
import asyncio, sys
from assay.batch.worker import work
from tests.assay.batch import batch_probes
asyncio.run(work(sys.argv[1], "batch", getattr(batch_probes, sys.argv[2])))
"""
RAY = """
import asyncio, sys
from assay.batch.ray_engine import run_ray
from tests.assay.batch import batch_probes
asyncio.run(run_ray(sys.argv[1], "batch", 2, make_runner=getattr(batch_probes, sys.argv[2])))
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where each call that was made is noted, with the process that made it."""
    path = tmp_path / "calls.log"
    path.touch()
    monkeypatch.setenv("PROBE_LOG", str(path))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{ROOT / 'src'}")
    return path


def begin(store_url: str, make_runner: str, script: str = WORK) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", script, store_url, make_runner], cwd=ROOT, start_new_session=True)


async def until(process: subprocess.Popen[bytes], enough: Callable[[], bool]) -> None:
    """Wait for what a process is to do, as long as it is there to do it."""
    async with asyncio.timeout(PATIENCE):
        while not enough():
            assert process.poll() is None, "the process that was to do it has ended"
            await asyncio.sleep(0.01)


def calls(log: Path) -> list[str]:
    return [line.split()[0] for line in log.read_text().splitlines()]


def first_process(log: Path) -> int:
    return int(log.read_text().split()[1])


def check_whole(ledger: Ledger, log: Path, names: list[str], in_flight: int) -> None:
    """Every job is done once, with its own result, and no more calls were repeated than were in flight."""
    results = list(ledger.results("batch"))
    assert [(r.state, r.result) for r in results] == [("done", f'{{"echo": "{name.upper()}"}}') for name in names]
    assert len(calls(log)) <= len(names) + in_flight


async def test_a_killed_workers_jobs_are_done_by_another(
    database: Database, store_url: str, enter: Enter, log: Path
) -> None:
    names = [f"slow{number}" for number in range(12)]
    enter(database, *names, in_flight=3, lease=LEASE)
    first = begin(store_url, "echo")
    await until(first, lambda: len(calls(log)) >= 5)
    os.killpg(first.pid, signal.SIGKILL)
    first.wait()
    assert begin(store_url, "echo").wait(PATIENCE) == 0
    check_whole(Ledger(database), log, names, in_flight=3)


async def test_a_worker_that_was_stopped_changes_nothing_when_it_wakes(
    database: Database, store_url: str, enter: Enter, log: Path
) -> None:
    names = [f"slow{number}" for number in range(4)]
    enter(database, *names, in_flight=4, lease=0.6)
    sleeper = begin(store_url, "echo")
    await until(sleeper, lambda: len(calls(log)) == 4)
    os.kill(sleeper.pid, signal.SIGSTOP)
    assert begin(store_url, "echo").wait(PATIENCE) == 0
    before = list(Ledger(database).results("batch"))
    os.kill(sleeper.pid, signal.SIGCONT)
    assert sleeper.wait(PATIENCE) == 0
    assert list(Ledger(database).results("batch")) == before
    check_whole(Ledger(database), log, names, in_flight=4)


@pytest.mark.postgres
async def test_a_database_that_is_killed_and_recovers_loses_nothing(enter: Enter, log: Path) -> None:
    server = PostgresServer()
    try:
        url = server.new_database("own")
        opened = open_batches(url)
        names = [f"slow{number}" for number in range(20)]
        enter(opened, *names, in_flight=4, lease=5)
        opened.close()
        worker = begin(url, "echo")
        await until(worker, lambda: len(calls(log)) >= 9)
        server.kill()
        server.start()
        assert worker.wait(PATIENCE) == 0
        again = open_batches(url)
        check_whole(Ledger(again), log, names, in_flight=8)
        again.close()
    finally:
        server.remove()


@pytest.mark.long
@pytest.mark.ray
async def test_ray_actors_and_its_driver_may_die(
    postgres_url: str, enter: Enter, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ray", reason="Ray is not installed")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    opened = open_batches(postgres_url)
    names = [f"slow{number}" for number in range(24)]
    enter(opened, *names, in_flight=3, lease=LEASE)
    with ray_cluster(dict(os.environ)) as address:
        monkeypatch.setenv("RAY_ADDRESS", address)
        driver = begin(postgres_url, "echo", RAY)
        await until(driver, lambda: len(calls(log)) >= 6)
        os.kill(first_process(log), signal.SIGKILL)  # one actor
        await until(driver, lambda: len(calls(log)) >= 14)
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        assert begin(postgres_url, "echo", RAY).wait(PATIENCE) == 0
    check_whole(Ledger(opened), log, names, in_flight=3 + 6)
    opened.close()
