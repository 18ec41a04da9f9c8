"""Batches: what a job costs beside its own time, what the rows of money and rates take, and memory."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from importlib.util import find_spec
from itertools import repeat
from pathlib import Path
from statistics import median
from typing import Any

from assay.batch.batches import open_batches
from assay.batch.buckets import BURST_US, Buckets
from assay.batch.jobfile import Work
from assay.batch.jobs import Job
from assay.batch.ledger import Batch, Claim, Ledger
from assay.batch.performing import JobResult, JobRunner, MakeRunner, WorkerContext, recorded_runs
from assay.batch.purses import Purses
from assay.batch.worker import work
from assay.batch.write_queue import PURSES, WriteQueue
from bench.clients import settings as client_settings
from bench.figures import Figure
from bench.server import JUDGE_MODEL, SHORT_TRIAGE_MODEL, server
from llm_runtime.settings import ConfigFile
from llm_runtime.wrappers.accounts import Caps, Settlement, Spend
from llm_runtime.wrappers.limiting import Limits

_JOBS = 500
_SMALL = 100_000
_RACERS = 32
_MEMORY = """
import asyncio, sys
from bench.batches import at_once
from assay.batch.worker import work
asyncio.run(work(sys.argv[1], "bench", at_once))
lines = open("/proc/self/status").read().splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024)
"""


#: What is asked of whom: a council of ten calls, three seats in two loops; a circle of three seats.
KINDS: dict[str, tuple[dict[str, Any], str]] = {
    "crucible.council": (
        {"form": "prose", "triage_model": SHORT_TRIAGE_MODEL, "default_model": "openrouter/auto"},
        "query",
    ),
    "fire_circle.circle": ({"models": [JUDGE_MODEL] * 3}, "user"),
}
_REAL = """
import asyncio, resource, sys
from bench.batches import entered, holding_runs
from assay.batch.worker import work
from llm_runtime.garbage import collect_rarely
def cpu():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime
async def main(store, server, kind, count):
    for jobs in (4, int(count)):  # the first few load what is loaded once
        entered(store, jobs, 20, kind)
        begun = cpu()
        await work(store, "bench", holding_runs(server))
    print((cpu() - begun) * 1000 / jobs)
collect_rarely()  # as the workers of a batch do
asyncio.run(main(*sys.argv[1:]))
"""


def holding_runs(server: str) -> MakeRunner:
    """Return what makes each job a recorded run over HTTP, as ``assay batch run`` does for who set no limits."""
    return lambda context: recorded_runs(context, lambda: replace(client_settings(server), config=ConfigFile()))


@asynccontextmanager
async def fifty_milliseconds(context: WorkerContext) -> AsyncGenerator[JobRunner]:
    """What a quick model takes."""

    async def run_job(claim: Claim) -> JobResult:
        await asyncio.sleep(0.05)
        return JobResult("{}")

    yield run_job


@asynccontextmanager
async def at_once(context: WorkerContext) -> AsyncGenerator[JobRunner]:
    """No work at all: what is left is ours."""

    async def run_job(claim: Claim) -> JobResult:
        return JobResult("{}")

    yield run_job


@contextmanager
def postgres() -> Generator[str | None]:
    """An empty PostgreSQL of our own; ``None`` where it is not installed."""
    from tests.llm_runtime.store.postgres_server import PostgresServer, installed

    if not installed() or find_spec("psycopg") is None:
        yield None
        return
    server = PostgresServer(durable=True)
    try:
        yield server.new_database("bench")
    finally:
        server.remove()


def entered(url: str, count: int, in_flight: int, kind: str = "crucible.council") -> None:
    """A fresh batch ``"bench"`` of so many jobs of a kind."""
    database = open_batches(url)
    ledger = Ledger(database)
    database.execute("DELETE FROM jobs")
    database.execute("DELETE FROM batches")
    options, field = KINDS[kind]
    configuration: dict[str, Any] = {"options": options, "terms": {}}
    rules = Work(in_flight=in_flight).model_dump()
    tag = secrets.token_hex(3)
    made = Batch("bench", tag, "bench", kind, str(count), [configuration], rules, "loading")
    batch = ledger.create(made)
    Purses(database).open("bench", Caps())
    ledger.load(batch, (Job(f"{n:020x}{0:044x}", n, 0, 0, json.dumps({field: str(n)})) for n in range(count)))
    ledger.set_state("bench", "open")
    database.close()


def span(url: str) -> float:
    """Seconds from when a job was first to be had to when the last one ended."""
    database = open_batches(url)
    ended = database.execute("SELECT max(ended_at), count(*), sum(CASE state WHEN 'done' THEN 1 ELSE 0 END) FROM jobs")
    database.close()
    last, count, done = ended[0]
    assert count == done, f"{count - done} jobs are not done"
    return int(last) / 1e6


def local_beyond_ideal(url: str) -> float:
    """Milliseconds a job beyond the ideal, two workers of this process with 50 in flight each; median of three."""

    async def both() -> None:
        await asyncio.gather(*(work(url, "bench", fifty_milliseconds) for _ in range(2)))

    return median(measured(url, lambda: asyncio.run(both())) for _ in range(3))


def measured(url: str, work_off: Callable[[], object]) -> float:
    """Milliseconds a job beyond the ideal for a fresh batch that is worked off."""
    entered(url, _JOBS, 50)
    begun = time.time()
    work_off()
    return beyond_ideal(span(url) - begun)


def beyond_ideal(seconds: float) -> float:
    """Milliseconds a job that a wall time is beyond 500 jobs of 50 ms, 100 at once."""
    return (seconds - _JOBS * 0.05 / 100) * 1000 / _JOBS


def ray_beyond_ideal(url: str) -> tuple[float, float]:
    """The same with two Ray actors, from when both are there; and the seconds that starting them took."""
    from assay.batch.ray_engine import connected, stationed

    with connected() as ray:
        begun = time.time()
        with stationed(ray, 2, url) as stations:
            starting = time.time() - begun

            def work_off() -> None:
                ray.get([station.work.remote(url, "bench", fifty_milliseconds) for station in stations])

            return median(measured(url, work_off) for _ in range(3)), starting


def money(url: str) -> tuple[float, int]:
    """Reservations and settlements a second with 32 racers on one purse, and micro-dollars spent beyond its cap.

    Racers are tasks of two workers, each with a connection of its own, as in a batch.
    """
    database = open_batches(url)
    cap = 1_000_000
    Purses(database).open("race", Caps(cost=cap))

    async def race(seconds: float) -> int:
        workers = [open_batches(url) for _ in range(2)]
        queues = [WriteQueue(worker) for worker in workers]
        until, moved = time.perf_counter() + seconds, 0

        async def racer(number: int) -> None:
            nonlocal moved
            queue, purses = queues[number % 2], Purses(workers[number % 2])
            hold = Spend(200, 30, 1)
            while time.perf_counter() < until:
                if await queue.do(lambda: purses.reserve("race", hold), PURSES, "race") != "held":
                    return
                await queue.do(lambda: purses.settle("race", hold, Settlement(Spend(100, 20, 1))), PURSES, "race")
                moved += 2

        begun = time.perf_counter()
        await asyncio.gather(*(racer(number) for number in range(_RACERS)))
        took = time.perf_counter() - begun
        for queue, worker in zip(queues, workers, strict=True):
            await queue.aclose()
            worker.close()
        return round(moved / took)

    rate = asyncio.run(race(2.0))
    purse = Purses(database).read("race")
    database.close()
    return rate, max(0, purse.spent.cost + purse.held.cost - cap)


def beyond_rate(url: str, workers: int) -> float:
    """Calls granted beyond burst + rate x time by a bucket of 600 a second that so many workers ask."""
    per_minute = 36_000
    database = open_batches(url)
    bucket = f"bucket-{workers}"
    Buckets(database).open(bucket, Limits(requests_per_minute=per_minute, in_flight=None))

    def take(until: float) -> int:
        own = open_batches(url)
        buckets, granted = Buckets(own), 0
        while time.monotonic() < until:
            granted += buckets.take(bucket, 0).wait_us <= 0
        own.close()
        return granted

    # Most of the burst is taken away, so that within a second the rate is what limits.
    database.execute("UPDATE buckets SET request_tat = assay_now() + ? WHERE bucket = ?", (BURST_US - 100_000, bucket))
    begun = time.monotonic()
    with ThreadPoolExecutor(workers) as pool:
        granted = sum(pool.map(take, repeat(begun + 1.0, workers)))
    took = time.monotonic() - begun
    database.close()
    return max(0.0, granted - per_minute / 60 * (0.1 + took))


def real_jobs(url: str, kind: str, count: int = 100) -> float:
    """Milliseconds of CPU a job that is a recorded run over HTTP: one worker, 50 ms an answer, 20 jobs in flight.

    Answers come 48 characters at a time. Without what a process loads once; the model's server is another process.
    """
    with server(0.05, chunk=48) as model:
        command = [sys.executable, "-c", _REAL, url, model, kind, str(count)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
    span(url)
    return float(done.stdout)


def memory_of_many(url: str, count: int) -> tuple[float, float]:
    """Seconds and MiB of a process that works off so many jobs which do nothing."""
    entered(url, count, 64)
    begun = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY, url], check=True, capture_output=True, text=True, env={**os.environ}
    )
    return time.perf_counter() - begun, float(done.stdout)


def figures() -> Iterator[Figure]:
    """The figures of batches; those of PostgreSQL and Ray where they are installed."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "runs.db")
        yield from _real(file, "SQLite", at_most=10)
        yield Figure(
            "batch of jobs that only wait, beyond ideal, 2 workers, SQLite", local_beyond_ideal(file), "ms/job"
        )
        yield from _rows(file, "SQLite")
        _, small = memory_of_many(file, _SMALL // 100)
        seconds, large = memory_of_many(file, _SMALL)
        yield Figure("100,000 jobs that do nothing, SQLite", seconds, "s")
        yield Figure("  memory beyond that of 1,000 jobs", large - small, "MiB", at_most=8)
    with postgres() as url:
        if url is None:
            return
        yield from _real(url, "PostgreSQL", at_most=14)
        beyond = local_beyond_ideal(url)
        yield Figure("batch of jobs that only wait, beyond ideal, 2 workers, PostgreSQL", beyond, "ms/job", at_most=0.5)
        if find_spec("ray") is not None:
            beyond, starting = ray_beyond_ideal(url)
            yield Figure("batch of jobs that only wait, beyond ideal, 2 Ray actors", beyond, "ms/job", at_most=0.5)
            yield Figure("  starting the two actors", starting, "s")
        yield from _rows(url, "PostgreSQL")


def _real(url: str, name: str, at_most: float) -> Iterator[Figure]:
    for kind in KINDS:
        yield Figure(f"batch, CPU a recorded {kind}, {name}", real_jobs(url, kind), "ms/job", at_most=at_most)


def _rows(url: str, name: str) -> Iterator[Figure]:
    rate, over = money(url)
    yield Figure(f"reservations and settlements, 32 racers, {name}", rate, "/s", at_least=1000)
    yield Figure("  overspent", over, "µ$", at_most=0)
    for workers in (1, 2, 8):
        over_rate = beyond_rate(url, workers)
        yield Figure(f"granted beyond burst + rate x time, {workers} asking, {name}", over_rate, "calls", at_most=1)
