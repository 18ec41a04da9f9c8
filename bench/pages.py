"""The web application: how soon viewers see an event, how soon a page is painted, what the server takes at rest."""

from __future__ import annotations

import asyncio
import lzma
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from statistics import median
from typing import BinaryIO, cast

import aiohttp
from aiohttp import web

from bench.figures import Figure, spread
from llm_runtime.events import CallFinished, CallStarted, RunFinished, RunStarted
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.store import RunLog, open_store
from llm_runtime.store.transfer import import_run
from llm_runtime.testing import LoopbackServer, Received

VIEWERS = 50
EVENTS = 200
PAUSE_S = 0.04
"""Between two events of the live run: faster than any model answers."""
LONG = 1_000
LISTED = 50_000
LOADS = 7
TOKEN = "a-token-for-the-benchmark"
COOKBOOK = Path(__file__).parents[1] / "docs" / "cookbook"
_PAINTED = """() => new Promise((told) => new PerformanceObserver((list) => {
  const found = list.getEntriesByName("first-contentful-paint")[0];
  if (found) told(found.startTime);
}).observe({ type: "paint", buffered: true }))"""
_WORD = re.compile(r"w\d{4}")
_ADDRESS = re.compile(r"http://[^/]+")


@contextmanager
def served(store: Path, **variables: str) -> Generator[tuple[str, int]]:
    """`assay serve` over a store, as a person starts it; yields its address and its process id."""
    command = [sys.executable, "-m", "assay", "serve", "--port", "0", "--store", str(store)]
    process = subprocess.Popen(
        command,
        env={**os.environ, "ASSAY_TOKEN": TOKEN, **variables},
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
    return opened.start(RunStarted(run_id=run_id, protocol="crucible", title="Bench", task=task, settings={}, seed=1))


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


async def word_delays(folder: Path) -> list[float]:
    """Milliseconds from each word that a model sends to its arrival at each of the viewers of its run."""
    sent: dict[str, float] = {}
    watched = asyncio.Event()

    async def say(request: web.Request, received: Received, parts: list[bytes]) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await answer.prepare(request)
        await watched.wait()
        for part in parts:
            sent.update(dict.fromkeys(_WORD.findall(part.decode()), time.perf_counter()))
            await answer.write(part)
            await asyncio.sleep(PAUSE_S)
        return answer

    async def view(session: aiohttp.ClientSession, run_id: str, ready: asyncio.Barrier) -> dict[str, float]:
        seen: dict[str, float] = {}
        async with session.get(f"/runs/{run_id}/stream?view=story&after=0") as answer:
            await ready.wait()
            async for line in answer.content:
                if line.startswith(b"data: [{"):
                    seen = dict.fromkeys(_WORD.findall(line.decode()), time.perf_counter()) | seen
                    if len(seen) == EVENTS:
                        return seen
        return seen

    text = " ".join(f"w{number:04}" for number in range(EVENTS))
    async with LoopbackServer(lambda _: f"{text} And that is all of it.", send=say, piece=6) as models:
        variables = {"OPENROUTER_API_KEY": "sk-bench-0123456789abcdef", "OPENROUTER_BASE_URL": f"{models.url}/v1"}
        with served(folder / "words.db", **variables) as (url, _):
            connector = aiohttp.TCPConnector(limit=0)
            async with aiohttp.ClientSession(
                url, connector=connector, headers={"Authorization": f"Bearer {TOKEN}"}, read_bufsize=1 << 22
            ) as session:
                asked = {"kind": "crucible.council", "form": "prose", "query": "Why?", "model": "openrouter:lab/a"}
                async with session.post("/runs", json=asked, headers={"Accept": "application/json"}) as begun:
                    run_id = (await begun.json())["run_id"]
                ready = asyncio.Barrier(VIEWERS + 1)
                viewers = [asyncio.create_task(view(session, run_id, ready)) for _ in range(VIEWERS)]
                await ready.wait()
                watched.set()
                found = await asyncio.gather(*viewers)
    assert all(len(each) == EVENTS for each in found), "a viewer missed a word"
    return [(at - sent[word]) * 1000 for each in found for word, at in each.items()]


def streamed(url: str, store: Path, view: str) -> float:
    """Return the kilobytes that one viewer is sent in 10 seconds in which a run makes 1,000 calls."""
    log = begin(store, f"bench-{view}")

    def write() -> None:
        for number in range(LONG):
            calls(log, number)
            time.sleep(10 / LONG)

    async def watch() -> int:
        sizes = 0
        address = f"{url}/runs/bench-{view}/stream?view={view}&after=1"
        async with (
            aiohttp.ClientSession(headers={"Authorization": f"Bearer {TOKEN}"}) as session,
            session.get(address) as answer,
        ):
            writer = threading.Thread(target=write)
            writer.start()
            with suppress(TimeoutError):
                async with asyncio.timeout(10):
                    async for chunk in answer.content.iter_any():
                        sizes += len(chunk)
            await asyncio.to_thread(writer.join)
        return sizes

    sent = asyncio.run(watch())
    log.emit(RunFinished(state="finished"))
    log.close()
    return sent / 1_000


def filled(store: Path) -> None:
    """Fill the store with copies of one run, each with a title of its own, half a minute apart."""
    log = begin(store, "listed-0")
    for number in range(2):
        calls(log, number)
    log.emit(RunFinished(state="finished", result={"response": "Take the boring one."}))
    log.close()
    with closing(sqlite3.connect(store)) as database, database:
        (first,) = database.execute("SELECT run FROM runs WHERE run_id = 'listed-0'").fetchone()
        database.execute(
            "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ?) "
            "INSERT INTO runs SELECT run + n, 'listed-' || n, protocol, 'Question ' || n || ' of many', "
            "origin, parent, started_at - 30000 * n, holder FROM runs, n WHERE run = ?",
            (LISTED - 1, first),
        )
        sums = "at, digest, ending, calls, input_tokens, output_tokens, cost"
        database.execute(
            f"INSERT INTO records (id, {sums}, cost_unknown, body, unknown) "
            "SELECT (r.run << 32) | c.seq, c.at - 30000 * (r.run - ?1), c.digest, c.ending, c.calls, "
            "c.input_tokens, c.output_tokens, c.cost + r.run % 997, c.cost_unknown, c.body, c.unknown "
            "FROM runs r, records c WHERE c.run = ?1 AND r.run > ?1",
            (first,),
        )
        database.execute("INSERT INTO tags SELECT run_id, 'seventh' FROM runs WHERE run % 7 = 0")
        database.execute(
            "INSERT INTO words (rowid, body) SELECT run, title || ' take the boring one' FROM runs WHERE run >= ?",
            (first,),
        )
        database.execute("INSERT INTO searched SELECT run, 1 FROM runs WHERE run >= ?", (first,))


def on_cpu(pid: int) -> float:
    """Milliseconds that a process and its threads have had on a processor."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(one.read_text(encoding="ascii").split()[0]) for one in threads) / 1e6


def listing(url: str, pid: int) -> Iterator[Figure]:
    """What the list of many runs takes of a processor: looked at, filtered, searched, sorted, turned over."""
    ways = {
        "looked at": "",
        "second page": "before=listed-29",
        "by protocol": "protocol=crucible.council",
        "that failed": "state=failed",
        "by tag": "tag=seventh",
        "searched": "search=boring",
        "searched for one": "search=Question+49000",
        "searched for none": "search=nowhere",
        "dearest first": "order=dearest",
        "longest first": "order=longest",
        "dearest, second page": "order=dearest&before=listed-500",
    }
    for name, query in ways.items():
        took: list[float] = []
        for _ in range(LOADS):
            before = on_cpu(pid)
            request = urllib.request.Request(f"{url}/runs?{query}", headers={"Authorization": f"Bearer {TOKEN}"})
            with urllib.request.urlopen(request) as answer:
                answer.read()
            took.append(on_cpu(pid) - before)
        yield Figure(f"list of {LISTED:,} runs, {name}, processor", median(took), "ms", at_most=100)


def painted(url: str, store: Path) -> Iterator[Figure]:
    """Seconds until pages show something in Chromium, which knows style and script already."""
    chromium = shutil.which("chromium")
    if chromium is None:
        return
    from playwright.sync_api import sync_playwright

    log = begin(store, "bench-long")
    for number in range(LONG // 2 - 1):
        calls(log, number)
    log.emit(RunFinished(state="finished"))
    log.close()
    with closing(open_store(store)) as opened, lzma.open(COOKBOOK / "council.jsonl.xz") as council:
        import_run(opened, cast("BinaryIO", council), as_id="bench-council")
    with sync_playwright() as driver:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = driver.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page()
        page.goto(f"{url}/open?key={TOKEN}")
        pages = page.url.rstrip("/")
        for name, path, most in (
            ("start page", "/", 0.3),
            (f"list of {LISTED:,} runs", "/runs", 0.3),
            ("finished council", "/runs/bench-council", 0.3),
            (f"page of {LONG:,} events", "/runs/bench-long", 1),
        ):
            took: list[float] = []
            for _ in range(LOADS):
                page.goto(pages + path)
                took.append(float(page.evaluate(_PAINTED)) / 1000)
            yield spread(f"{name}, first painted", took, "s", at_most=most)
        browser.close()


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
            words = sorted(asyncio.run(word_delays(Path(folder))))
            yield Figure(f"{VIEWERS} viewers, a word seen after, median", median(words), "ms")
            yield Figure(f"{VIEWERS} viewers, a word seen after, worst", words[-1], "ms", at_most=300)
            for view in ("story", "timeline"):
                sent = streamed(url, store, view)
                yield Figure(f"run of {LONG:,} calls, sent to a viewer of its {view} in 10 s", sent, "kB", at_most=300)
            filled(store)
            yield from listing(url, pid)
            yield from painted(url, store)
