"""The web application: how soon viewers see an event, how soon a page is painted, what the server takes at rest."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import aiohttp

from bench.figures import Figure
from llm_runtime.events import CallFinished, CallStarted, RunFinished, RunStarted
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.store import RunLog, open_store

VIEWERS = 50
EVENTS = 200
PAUSE_S = 0.04
"""Between two events of the live run: faster than any model answers."""
LONG = 1_000
LOADS = 7
TOKEN = "a-token-for-the-benchmark"
_PAINTED = """() => new Promise((told) => new PerformanceObserver((list) => {
  const found = list.getEntriesByName("first-contentful-paint")[0];
  if (found) told(found.startTime);
}).observe({ type: "paint", buffered: true }))"""
_ADDRESS = re.compile(r"http://[^/]+")


@contextmanager
def served(store: Path) -> Generator[tuple[str, int]]:
    """`assay serve` over a store, as a person starts it; yields its address and its process id."""
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--store", str(store)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "ASSAY_TOKEN": TOKEN},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        found = _ADDRESS.search(process.stdout.readline())
        assert found, "assay serve prints its address first"
        yield found[0], process.pid
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def resident(pid: int) -> float:
    """MiB that a process holds in memory."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


def at_rest(url: str, pid: int) -> float:
    """MiB of the server once somebody has looked at the start page and the list, and nothing happens."""
    for path in ("/", "/runs"):
        request = urllib.request.Request(url + path, headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request) as answer:
            answer.read()
    time.sleep(1.0)
    return resident(pid)


def begin(store: Path, run_id: str) -> RunLog:
    """A run's open log, written by this process while the server reads it."""
    opened = open_store(store)
    task = {"query": "How long does it take?"}
    return opened.start(
        RunStarted(run_id=run_id, protocol="crucible", title="Bench", task=task, settings={}, seed=1)
    )


def _from_a_model(digest: str, occurrence: int) -> bool:
    return False


def calls(log: RunLog, number: int) -> None:
    """One call of a council, as two events."""
    label = CallLabel("crucible", "position", f"{number % 4}:seat", number // 4 + 1)
    request = Request("vendor/model", (Message("user", f"Question {number}. " + "Words. " * 60),), label)
    started = CallStarted.of(request, {}, _from_a_model)
    log.emit(started)
    reply = Reply("An answer. " * 40, "vendor/model", "bench", Usage(200, 80), cost=900, cost_source="table")
    log.emit(CallFinished.of(started, reply))


def delays(url: str, store: Path) -> list[float]:
    """Milliseconds from each event's append to its arrival at each of the viewers of one live run."""
    log = begin(store, "bench-live")
    appended: dict[int, float] = {}

    def write() -> None:
        # In a thread: the viewers' event loop must not be what the writer waits for.
        for number in range(EVENTS // 2):
            appended[2 + 2 * number] = appended[3 + 2 * number] = time.perf_counter()
            calls(log, number)
            time.sleep(PAUSE_S)

    async def view(session: aiohttp.ClientSession, ready: asyncio.Barrier) -> dict[int, float]:
        seen: dict[int, float] = {}
        async with session.get(f"{url}/runs/bench-live/stream?view=story&after=1") as answer:
            await ready.wait()
            async for line in answer.content:
                if line.startswith(b"id: "):
                    seen[int(line[4:])] = time.perf_counter()
                    if len(seen) == EVENTS:
                        return seen
        return seen

    async def watch() -> list[dict[int, float]]:
        ready = asyncio.Barrier(VIEWERS + 1)
        connector = aiohttp.TCPConnector(limit=0)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession(
            connector=connector, headers=headers, read_bufsize=1 << 22, max_line_size=1 << 22
        ) as session:
            viewers = [asyncio.create_task(view(session, ready)) for _ in range(VIEWERS)]
            await ready.wait()
            writer = threading.Thread(target=write)
            writer.start()
            found = await asyncio.gather(*viewers)
            writer.join()
            return found

    seen = asyncio.run(watch())
    log.emit(RunFinished(state="finished"))
    log.close()
    assert all(len(each) == EVENTS for each in seen), "a viewer missed an event"
    return [(at - appended[seq]) * 1000 for each in seen for seq, at in each.items()]


def painted(url: str, store: Path) -> float | None:
    """Median seconds until the page of a run of 1,000 events shows something, in Chromium; ``None`` without it."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return None
    from playwright.sync_api import sync_playwright

    log = begin(store, "bench-long")
    for number in range(LONG // 2 - 1):
        calls(log, number)
    log.emit(RunFinished(state="finished"))
    log.close()
    took: list[float] = []
    with sync_playwright() as driver:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page()
        page.goto(f"{url}/open?key={TOKEN}")
        pages = page.url.rstrip("/")
        for _ in range(LOADS):
            page.goto(f"{pages}/runs/bench-long")
            took.append(float(page.evaluate(_PAINTED)) / 1000)
        browser.close()
    return median(took)


def figures() -> Iterator[Figure]:
    """The figures of the pages."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.db"
        open_store(store).close()
        with served(store) as (url, pid):
            yield Figure("assay serve at rest, memory", at_rest(url, pid), "MiB", at_most=80)
            waited = sorted(delays(url, store))
            yield Figure(f"{VIEWERS} viewers, an event seen after, median", median(waited), "ms")
            yield Figure(f"{VIEWERS} viewers, an event seen after, worst", waited[-1], "ms", at_most=200)
            if (seconds := painted(url, store)) is not None:
                yield Figure(f"page of {LONG:,} events, first painted", seconds, "s", at_most=1)
