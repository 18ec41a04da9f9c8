"""Ownership under trouble: who writes a run is stopped, cut off, told another time or killed, and another goes on.

``python -m bench.ownership --each 25`` prints a table: kinds of trouble on SQLite and PostgreSQL. What has to hold:
no answer that a writer was told to be on disk is lost, calls asked again are at most those in flight, the writer
before writes nothing once another has the run, and a clock that jumps takes no run from anybody.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from llm_runtime.errors import StoreBusy, StoreError
from llm_runtime.events import CallFinished, RunStarted
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request, Usage
from llm_runtime.replay import Recording
from llm_runtime.store import RunLog, RunStore, SqliteStore, open_store, postgres_connection
from llm_runtime.store.verify import verify
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.replaying import replaying

KINDS = ("stopped", "cut off", "clock ahead", "clock back", "killed")
_RUN = "owned-run"
_CALLS, _CALL_S = 160, 0.05
_JUMP_US = 300_000_000
_CLOCK = "clock_of_trials()"
#: A writer goes on within so much of what counts as silence: 45 s of 30.
_WITHIN = 1.5


@dataclass
class Trial:
    """What one trial came to.

    Args:
        taken_s: seconds until another had the run; ``None`` where nobody was to have it.
        lost: answers that were told to be on disk and are not in the log.
        again: calls that were asked more than once.
        late: records that the writer before added once another had the run.
        faults: what else does not hold.
    """

    kind: str
    taken_s: float | None = None
    lost: int = 0
    again: int = 0
    late: int = 0
    faults: list[str] = field(default_factory=list[str])


def _request(number: int) -> Request:
    return Request("scripted", (Message("user", f"question {number}"),), CallLabel("bench", "ask", str(number)))


def _model(ledger: Path, who: str) -> Generate:
    async def answer(request: Request) -> Reply:
        _note(ledger, f"asked {request.label.seat} {who}")
        await asyncio.sleep(_CALL_S if who == "first" else 0)
        return Reply(f"answer {request.label.seat}", "scripted", "bench", Usage(1, 1))

    return answer


def _note(ledger: Path, line: str) -> None:
    with ledger.open("a", encoding="utf-8") as stream:
        stream.write(line + "\n")


async def _write(log: RunLog, answers: Recording, ledger: Path, who: str) -> None:
    model = recording(replaying(answers, _model(ledger, who)), log.emit, replayed=answers.has_reply)
    for number in range(_CALLS):
        await model(_request(number))
        _note(ledger, f"kept {number} {who}")


async def writer(url: str, silent_s: float, ledger: Path) -> int:
    """Write a run from its beginning; 3 where another has it by then."""
    store = open_store(url, silent_s=silent_s)
    if isinstance(store, SqliteStore):
        _shift(store, ledger.parent / "jump")
    log = store.start(RunStarted(run_id=_RUN, protocol="bench", title="", task={}, settings={}, seed=1))
    try:
        await _write(log, Recording(), ledger, "first")
        log.close()
    except StoreBusy:
        _note(ledger, "told")
        return 3
    finally:
        with suppress(StoreError):
            store.close()
    return 0


def _shift(store: SqliteStore, jump: Path) -> None:
    """Let this process see another time by as much as a file says."""

    def clock() -> int:
        return time.time_ns() // 1000 + (int(jump.read_text()) if jump.exists() else 0)

    store.writer._connection.create_function("assay_now", 0, clock)  # pyright: ignore


class Proxy:
    """Between a writer and PostgreSQL's socket; it can stop to pass anything on, and keeps every connection."""

    def __init__(self, target: Path, folder: Path) -> None:
        self._target, self._own = target / ".s.PGSQL.5432", folder / ".s.PGSQL.5432"
        self._flows = asyncio.Event()
        self._flows.set()
        self._pipes: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Proxy]:
        server = await asyncio.start_unix_server(self._connected, self._own)
        self._own.chmod(0o777)
        try:
            yield self
        finally:
            server.close()
            for pipe in self._pipes:
                pipe.cancel()

    def freeze(self) -> None:
        self._flows.clear()

    def thaw(self) -> None:
        self._flows.set()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_unix_connection(self._target)
        for source, sink in ((reader, back), (there, writer)):
            task = asyncio.create_task(self._pass_on(source, sink))
            self._pipes.add(task)
            task.add_done_callback(self._pipes.discard)

    async def _pass_on(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await source.read(65536):
                await self._flows.wait()
                sink.write(data)
                await sink.drain()
        sink.close()


async def trial(kind: str, url: str, through: str, folder: Path, silent_s: float, draw: random.Random) -> Trial:
    """Let one writer meet one trouble, and see what becomes of its run."""
    came, ledger = Trial(kind), folder / "ledger"
    ledger.touch()
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.ownership", "--writer", through, str(silent_s), str(ledger),
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wanted = draw.randrange(3, _CALLS // 4)
        await _until(lambda: sum(line.startswith("kept") for line in _lines(ledger)) >= wanted, 60)
        back = await _trouble(kind, process, url, folder)
        begun = time.monotonic()
        if kind.startswith("clock"):
            await _not_taken(came, process, url, silent_s)
        else:
            await _taken(came, url, ledger, silent_s, begun)
        await back()
        with suppress(TimeoutError):
            async with asyncio.timeout(60):
                await process.wait()
        await asyncio.to_thread(_judge, came, url, ledger, process.returncode)
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
                process.kill()
            await process.wait()
    return came


async def _trouble(
    kind: str, process: asyncio.subprocess.Process, url: str, folder: Path
) -> Callable[[], Awaitable[None]]:
    """Make trouble; return what ends it."""

    async def over() -> None:
        if kind == "stopped":
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
        elif kind == "cut off":
            PROXIES[folder].thaw()

    if kind == "stopped":
        process.send_signal(signal.SIGSTOP)
    elif kind == "cut off":
        PROXIES[folder].freeze()
    elif kind == "killed":
        process.kill()
    else:
        shift = _JUMP_US if kind == "clock ahead" else -_JUMP_US
        (folder / "jump").write_text(str(shift))
        if url.startswith("postgres"):
            await asyncio.to_thread(_set_clock, url, shift)
    return over


PROXIES: dict[Path, Proxy] = {}


def _set_clock(url: str, shift: int) -> None:
    """Let a server tell another time to whoever asks it here."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"CREATE OR REPLACE FUNCTION {_CLOCK} RETURNS BIGINT LANGUAGE SQL VOLATILE AS "
            f"$$SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT) + ({shift})$$".encode()
        )


async def _taken(came: Trial, url: str, ledger: Path, silent_s: float, begun: float) -> None:
    store = await asyncio.to_thread(lambda: open_store(url, silent_s=silent_s))
    try:
        while True:
            try:
                log = await asyncio.to_thread(store.reopen, _RUN)
                break
            except StoreBusy:
                if time.monotonic() - begun > 4 * silent_s:
                    came.faults.append("nobody could go on")
                    return
                await asyncio.sleep(silent_s / 20)
        came.taken_s = time.monotonic() - begun
        if came.taken_s > _WITHIN * silent_s:
            came.faults.append(f"gone on with after {came.taken_s:.1f} s")
        answers = Recording.from_events(event for _, event in store.events(_RUN))
        await _write(log, answers, ledger, "second")
        await log.aclose()
    finally:
        await asyncio.to_thread(store.close)


async def _not_taken(came: Trial, process: asyncio.subprocess.Process, url: str, silent_s: float) -> None:
    """Try to take the run from a writer that lives; it must keep it to its end."""
    store = await asyncio.to_thread(lambda: open_store(url, silent_s=silent_s))
    try:
        while process.returncode is None:
            with suppress(StoreBusy):
                (await asyncio.to_thread(store.reopen, _RUN)).close()
                if process.returncode is None and not _whole(store):
                    came.faults.append("taken from a writer that lives")
                return
            await asyncio.sleep(silent_s / 20)
    finally:
        await asyncio.to_thread(store.close)


def _whole(store: RunStore) -> bool:
    return sum(isinstance(event, CallFinished) for _, event in store.events(_RUN)) >= _CALLS


def _judge(came: Trial, url: str, ledger: Path, code: int | None) -> None:
    store = open_store(url)
    try:
        finished = [event for _, event in store.events(_RUN) if isinstance(event, CallFinished)]
        live = [event for event in finished if not event.replayed]
        if not verify(store, _RUN).intact:
            came.faults.append("the log does not verify")
    finally:
        store.close()
    lines = _lines(ledger)
    there = {event.reply["text"] for event in finished}
    kept = {line.split()[1] for line in lines if line.startswith("kept")}
    came.lost = sum(f"answer {number}" not in there for number in kept)
    asked = [line.split()[1] for line in lines if line.startswith("asked")]
    came.again = len(asked) - len(set(asked))
    came.late = len(live) - len({event.digest for event in live})
    if len(there) != _CALLS:
        came.faults.append(f"{len(there)} of {_CALLS} answers")
    if came.kind in ("stopped", "cut off") and code != 3:
        came.faults.append(f"the writer before ended with {code}, not told")


async def _until(true: Callable[[], bool], seconds: float) -> None:
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110, for what another process writes
            await asyncio.sleep(0.02)


def _lines(ledger: Path) -> list[str]:
    return ledger.read_text(encoding="utf-8").splitlines()


async def trials(each: int, silent_s: float, at_once: int, seed: int) -> list[tuple[str, Trial]]:
    """Make so many trials of each kind on each kind of store."""
    from tests.llm_runtime.store.postgres_server import PostgresServer

    draw, places = random.Random(seed), asyncio.Semaphore(at_once)
    postgres: Any = PostgresServer(durable=True)
    try:
        with tempfile.TemporaryDirectory(prefix="own") as name:
            root = Path(name)
            root.chmod(0o777)  # noqa: ASYNC240

            async def one(number: int, place: str, kind: str) -> tuple[str, Trial]:
                folder = root / str(number)
                folder.mkdir()
                async with places:
                    if place == "SQLite":
                        url = str(folder / "runs.db")
                        return place, await trial(kind, url, url, folder, silent_s, draw)
                    url = await asyncio.to_thread(postgres.new_database, f"own{number}")
                    await asyncio.to_thread(_set_clock, url, 0)
                    await asyncio.to_thread(lambda: open_store(url).close())
                    async with Proxy(postgres.folder, folder).open() as proxy:
                        PROXIES[folder] = proxy
                        through = url.replace(str(postgres.folder), str(folder))
                        return place, await trial(kind, url, through, folder, silent_s, draw)

            wanted = [
                (place, kind)
                for _ in range(each)
                for place in ("SQLite", "PostgreSQL")
                for kind in KINDS
                if (place, kind) != ("SQLite", "cut off")
            ]
            return await asyncio.gather(*(one(number, *what) for number, what in enumerate(wanted)))
    finally:
        postgres.remove()


def main() -> int:
    """Run what the command line says; 1 where something does not hold."""
    # Every statement asks the server's clock by this, so that a trial can set it.
    postgres_connection._NOW = _CLOCK  # pyright: ignore
    if sys.argv[1:2] == ["--writer"]:
        return asyncio.run(writer(sys.argv[2], float(sys.argv[3]), Path(sys.argv[4])))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=25, help="trials of each kind on each store")
    parser.add_argument("--silent", type=float, default=30.0, help="seconds of silence that count as death")
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    told = parser.parse_args()
    os.environ.setdefault("ASSAY_DATA_DIR", tempfile.mkdtemp(prefix="own-data"))
    made = asyncio.run(trials(told.each, told.silent, told.at_once, told.seed))
    print("| store | trouble | trials | lost | asked again | written late | longest until gone on with | faults |")
    print("|---|---|---|---|---|---|---|---|")
    held = True
    for place, kind in sorted({(place, one.kind) for place, one in made}):
        of = [one for where, one in made if (where, one.kind) == (place, kind)]
        longest = max((one.taken_s for one in of if one.taken_s is not None), default=None)
        faults = [fault for one in of for fault in one.faults]
        lost, again, late = (sum(getattr(one, name) for one in of) for name in ("lost", "again", "late"))
        held &= not (faults or lost or late or again > len(of))
        took = "-" if longest is None else f"{longest:.1f} s"
        print(f"| {place} | {kind} | {len(of)} | {lost} | {again} | {late} | {took} | {'; '.join(faults) or 'none'} |")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
