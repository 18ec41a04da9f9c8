"""Chaos: workers, database, provider and whoever fills the queue die or stop at random while recorded runs pass.

``python -m bench.chaos --runs 500 --minutes 30`` prints a table; runs arrive over half of that time. What has to
hold: every result is that of a quiet run, and no log has a gap; calls paid for twice are at the most those that were
in flight when something was killed; the books of provider, purse and runs agree.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.batch.batches import open_batches
from assay.batch.purses import Purses
from assay.launch import result_of
from assay.queue.entry import entry_of
from assay.queue.tables import listed, open_queue, put
from assay.registry import read_run
from assay.terms import Terms
from bench.server import POSITION, TRIAGE
from llm_runtime.errors import StoreError
from llm_runtime.store import RunStore, open_store
from llm_runtime.store.verify import verify
from llm_runtime.testing import LoopbackServer, Received

#: What is done to whom, and how often it is drawn.
TROUBLES = {
    "worker killed": 6,
    "worker stopped for a while": 2,
    "worker asked to end": 2,
    "database killed": 2,
    "provider down": 1,
    "filler killed": 2,
}
#: Seconds for which a worker is stopped: three times as long as one may be silent.
STOP_S = 90.0
_COST = 0.000_010
_PURSE = "chaos"
#: Runs at once in a worker, and calls of a council at once.
_PLACES, _ABREAST = 4, 5
_SETTINGS = {"ASSAY_LOCAL_SERVERS": "", "OPENROUTER_API_KEY": "sk-or-chaos"}


@dataclass
class Ended:
    """What a chaos run came to.

    Args:
        runs: how many were put into the queue; ``done`` of them ended well.
        different: ids of runs whose result is not that of the quiet run.
        broken: what is wrong with a log, by its run.
        troubles: what was done, how often.
        answered: answers that the provider gave and charged for.
        recorded: of them, those in the runs' logs.
        bound: calls that were in flight when something was killed.
        charged, spent, unsure: micro-dollars: by the provider, by the purse, and what the purse does not know.
        seconds: it took.
    """

    runs: int
    done: int = 0
    different: list[str] = field(default_factory=list[str])
    broken: dict[str, str] = field(default_factory=dict[str, str])
    troubles: Counter[str] = field(default_factory=Counter[str])
    answered: int = 0
    recorded: int = 0
    bound: int = 0
    charged: int = 0
    spent: int = 0
    unsure: int = 0
    seconds: float = 0.0

    @property
    def faults(self) -> list[str]:
        """Return what does not hold, in words."""
        found: list[str] = []
        if self.done != self.runs:
            found.append(f"{self.runs - self.done} runs did not end well")
        if self.different:
            found.append(f"results differ from the quiet run: {', '.join(self.different[:5])}")
        if self.broken:
            found.append(f"{len(self.broken)} logs are broken, the first: {next(iter(self.broken.items()))}")
        if self.answered - self.recorded > self.bound:
            found.append(f"{self.answered - self.recorded} answers paid for again, {self.bound} were in flight")
        if not self.spent <= self.charged <= self.spent + self.unsure:
            found.append(f"the provider charged {self.charged}, the purse says {self.spent} and {self.unsure} unsure")
        return found


def council(received: Received) -> str:
    """Answer by the question alone."""
    first = received.messages[0].content
    if first.startswith("You are the triage agent"):
        return json.dumps({**TRIAGE, "council": TRIAGE["council"][1:], "loop_count": 2})
    return f"{POSITION[:200]} ({len(received.messages)} messages)"


class Chaos:
    """A provider, a database, workers and a filler, and what becomes of them."""

    def __init__(self, folder: Path, postgres: Any, runs: int, workers: int, seed: int, stop_s: float) -> None:
        self.url: str = postgres.new_database(f"chaos{seed}{len([*folder.iterdir()])}")
        self.folder, self.postgres, self.count = folder, postgres, workers
        self.random, self.ended = random.Random(seed), Ended(runs)
        self.stop_s = stop_s
        self.down = False
        self.under_way = 0
        self.workers: list[asyncio.subprocess.Process] = []
        self.filler: asyncio.subprocess.Process | None = None
        self.environment: dict[str, str] = {}

    async def run(self, seconds: float, pause_s: float, troubles: dict[str, int]) -> dict[str, Any]:
        """Let all runs pass, with trouble every ``pause_s`` seconds or so; return their results by question."""
        begun = time.monotonic()
        async with AsyncExitStack() as stack:
            server = await stack.enter_async_context(LoopbackServer(self._answer, latency=0.05, cost=_COST))
            self.environment = {
                **os.environ, **_SETTINGS, "OPENROUTER_BASE_URL": f"{server.url}/v1",
                "ASSAY_CONFIG_DIR": str(self.folder / "config"), "ASSAY_DATA_DIR": str(self.folder / "data"),
                "PYTHONPATH": os.pathsep.join(sys.path),
            }  # fmt: skip
            stack.push_async_callback(self._end)
            with open_queue(self.url):
                pass
            while time.monotonic() - begun < seconds:
                await self._keep_up(seconds / 2 / self.ended.runs if troubles else 0)
                if troubles:
                    await asyncio.sleep(self.random.uniform(0.5, 1.5) * pause_s)
                    await self._trouble(self.random.choices([*troubles], [*troubles.values()])[0])
                else:
                    await asyncio.sleep(0.5)
                if await asyncio.to_thread(self._over):
                    break
        self.ended.seconds = time.monotonic() - begun
        return self._look()

    def _answer(self, received: Received) -> Any:
        if self.down:
            return 500, {"error": {"message": "down"}}
        self.ended.answered += 1
        return council(received)

    async def _keep_up(self, every_s: float) -> None:
        """Start what is not there: so many workers, and a filler until the queue has all runs, one ``every_s``."""
        self.workers = [worker for worker in self.workers if worker.returncode is None]
        while len(self.workers) < self.count:
            self.workers.append(await self._started("work", self.url, str(self.stop_s)))
        if self.filler is None or self.filler.returncode not in (None, 0):
            self.filler = await self._started("fill", self.url, str(self.ended.runs), str(every_s))

    async def _started(self, *arguments: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bench.chaos", *arguments), env=self.environment,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip

    async def _trouble(self, what: str) -> None:
        if what == "filler killed" and (self.filler is None or self.filler.returncode is not None):
            what = "worker killed"  # all runs are in the queue
        self.ended.troubles[what] += 1
        worker = self.random.choice(self.workers)
        # At the most each of its runs had all calls of a step in flight.
        self.ended.bound += _PLACES * _ABREAST * (len(self.workers) if what == "database killed" else 1)
        with suppress(ProcessLookupError):
            if what == "worker killed":
                worker.kill()
                await worker.wait()
            elif what == "worker asked to end":
                worker.send_signal(signal.SIGTERM)
            elif what == "worker stopped for a while":
                worker.send_signal(signal.SIGSTOP)
                asyncio.get_running_loop().call_later(self.stop_s, _wake, worker)
            elif what == "filler killed" and self.filler is not None:
                self.filler.kill()
                await self.filler.wait()
            elif what == "database killed":
                await asyncio.to_thread(self.postgres.kill)
                await asyncio.sleep(1)
                await asyncio.to_thread(self.postgres.start)
            elif what == "provider down":
                self.down = True
                await asyncio.sleep(3)
                self.down = False

    def _over(self) -> bool:
        with suppress(StoreError), open_queue(self.url) as database:
            entries = listed(database, most=100_000)
            done = {entry.run_id for entry in entries if entry.state == "done"}
            return len(done) == self.ended.runs
        return False

    async def _end(self) -> None:
        for process in (*self.workers, *([self.filler] if self.filler else [])):
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.send_signal(signal.SIGTERM)
                try:
                    async with asyncio.timeout(20):
                        await process.wait()
                except TimeoutError:
                    process.kill()

    def _look(self) -> dict[str, Any]:
        store, ended = open_store(self.url), self.ended
        database = open_batches(self.url)
        purse = Purses(database).read(f"purse:{_PURSE}")
        ended.charged = round(ended.answered * _COST * 1e6)
        ended.spent = purse.spent.cost
        ended.unsure = purse.held.cost + purse.unknown.cost
        results = _results(store)
        checked = [verify(store, run.run_id) for run in store.runs(limit=1_000_000)]
        ended.broken = {each.run_id: str(each.findings[0]) for each in checked if not each.intact}
        ended.done = len(results)
        ended.recorded = sum(calls for _, calls in results.values())
        store.close()
        database.close()
        return {run: result for run, (result, _) in results.items()}


def _wake(worker: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        worker.send_signal(signal.SIGCONT)


def _results(store: RunStore) -> dict[str, tuple[Any, int]]:
    """Return the result of each run that finished, by its id, and how many calls its log has."""
    return {
        run.run_id: (result_of(event for _, event in store.events(run.run_id)), run.calls)
        for run in store.runs(limit=1_000_000)
        if run.state == "finished"
    }


async def chaos(
    runs: int,
    seconds: float,
    *,
    workers: int = 2,
    pause_s: float = 5.0,
    seed: int = 1,
    stop_s: float = STOP_S,
    troubles: dict[str, int],
) -> Ended:
    """Let runs pass quietly, and again with trouble; return what came of it.

    Args:
        stop_s: seconds for which a worker is stopped; in a third of them it is held for dead.
    """
    from tests.llm_runtime.store.postgres_server import PostgresServer

    postgres = PostgresServer(durable=True, lazy=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            quiet = await Chaos(Path(folder), postgres, runs, workers, seed, stop_s).run(seconds, 0, {})
            print(f"the quiet run: {len(quiet)} of {runs} done", file=sys.stderr, flush=True)
            (Path(folder) / "quiet").touch()
            loud = Chaos(Path(folder), postgres, runs, workers, seed, stop_s)
            results = await loud.run(seconds, pause_s, troubles)
        loud.ended.different = [run for run, result in results.items() if result != quiet.get(run)]
        return loud.ended
    finally:
        postgres.remove()


def fill(url: str, runs: int, every_s: float) -> None:
    """Put into the queue what is not there yet: each run by an id of its own, so that twice is once."""
    with open_queue(url) as database:
        there = {entry.run_id for entry in listed(database, most=1_000_000)}
        for number in range(runs):
            if (run_id := f"chaos-{number}") not in there:
                run = read_run("crucible.council", {"query": f"Question {number}?"}, {"form": "prose"})
                put(database, entry_of(run, Terms(), run_id, seed=number, purse=_PURSE))
                time.sleep(every_s)


def work(url: str, stop_s: float) -> None:
    """Work as one of many; who is stopped for so long loses what it has."""
    from assay.queue.log import log_lines
    from assay.queue.service import Service, serve

    asyncio.run(serve(Service(url, log_lines(), at_once=_PLACES, drain_s=2, silent_s=stop_s / 3)))


def table(ended: Ended) -> str:
    """Return what came of it as the table of docs/scale.md."""
    rows = {
        "runs, ended well": f"{ended.runs}, {ended.done}",
        "trouble": ", ".join(f"{count} x {what}" for what, count in ended.troubles.items()) or "none",
        "results that differ from the quiet run": str(len(ended.different)),
        "logs with a gap": str(len(ended.broken)),
        "answers given, in the logs": f"{ended.answered:,}, {ended.recorded:,}",
        "paid for again, bound": f"{ended.answered - ended.recorded}, {ended.bound}",
        "charged, in the purse, unsure": f"{ended.charged:,} µ$, {ended.spent:,} µ$, {ended.unsure:,} µ$",
        "took": f"{ended.seconds:.0f} s",
    }
    return "\n".join(["| what | came to |", "|---|---|", *(f"| {what} | {came} |" for what, came in rows.items())])


def main() -> int:
    """Run what the command line says; 1 where something does not hold."""
    if sys.argv[1:2] == ["fill"]:
        fill(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
        return 0
    if sys.argv[1:2] == ["work"]:
        work(sys.argv[2], float(sys.argv[3]))
        return 0
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pause", type=float, default=10.0, help="seconds between two troubles, about")
    parser.add_argument("--stop", type=float, default=STOP_S, help="seconds for which a worker is stopped")
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    ended = asyncio.run(
        chaos(
            told.runs,
            told.minutes * 60,
            workers=told.workers,
            pause_s=told.pause,
            seed=told.seed,
            stop_s=told.stop,
            troubles=TROUBLES,
        )
    )
    print(table(ended))
    for fault in ended.faults:
        print(f"does not hold: {fault}")
    return 1 if ended.faults else 0


if __name__ == "__main__":
    sys.exit(main())
