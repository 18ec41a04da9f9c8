"""Other processes: one that is killed at any instant, and one that reads while another writes."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import IO

import pytest

from llm_runtime.errors import StoreBusy
from llm_runtime.events import RunFinished, RunResumed, RunStarted
from llm_runtime.messages import CallLabel, Message, Reply, Request
from llm_runtime.providers.scripted import scripted
from llm_runtime.replay import Recording
from llm_runtime.store import SqliteStore
from llm_runtime.store.verify import verify
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.replaying import replaying

CALLS = 400

# Asks one question after another and says on stdout which have been answered, after they were recorded. Ends when
# its stdin does.
COUNCIL = f"""
import asyncio, sys
from pathlib import Path
from llm_runtime.events import RunFinished, RunStarted
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.scripted import scripted
from llm_runtime.store import SqliteStore
from llm_runtime.wrappers.recording import recording

store = SqliteStore(Path(sys.argv[1]))
log = store.start(RunStarted(run_id=sys.argv[2], protocol="p", title="t", task={{}}, settings={{}}, seed=1))
ask = recording(scripted(lambda request: request.messages[0].content.upper()), log.emit)

async def sit():
    for n in range({CALLS}):
        await ask(Request("a/b", (Message("user", f"question {{n}}"),), CallLabel("p", "position", str(n))))
        print(n, flush=True)

asyncio.run(sit())
sys.stdin.read()
log.emit(RunFinished(state="finished"))
store.close()
"""


@contextmanager
def council(path: Path, run_id: str = "council") -> Generator[tuple[subprocess.Popen[str], IO[str]]]:
    """The process that sits, and what it says."""
    command = [sys.executable, "-c", COUNCIL, str(path), run_id]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            yield child, child.stdout
        finally:
            child.kill()


def questions() -> list[Request]:
    return [
        Request("a/b", (Message("user", f"question {n}"),), CallLabel("p", "position", str(n))) for n in range(CALLS)
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a Unix signal")
@pytest.mark.parametrize("attempt", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 4))])
async def test_a_killed_run_is_interrupted_and_resumes_without_asking_twice(store_path: Path, attempt: int) -> None:
    answered = random.Random(attempt).randrange(1, CALLS // 2)
    with council(store_path) as (child, said):
        for _ in range(answered):
            assert said.readline()
        child.send_signal(signal.SIGKILL)
        child.wait()

    with closing(SqliteStore(store_path)) as store:
        assert store.summary("council").state == "interrupted"
        assert verify(store, "council").intact
        log = store.reopen("council")
        old = Recording.from_events(event for _, event in store.events("council"))
        assert answered <= len(old) <= CALLS
        log.emit(RunResumed(finished_calls=len(old)))
        asked: list[str] = []

        def answer(request: Request) -> str:
            asked.append(request.messages[0].content)
            return request.messages[0].content.upper()

        ask = recording(replaying(old, scripted(answer)), log.emit, replayed=old.has_reply)
        replies = [await ask(request) for request in questions()]
        log.emit(RunFinished(state="finished"))
        log.close()

        assert asked == [f"question {n}" for n in range(len(old), CALLS)]
        assert [reply.text for reply in replies] == [f"QUESTION {n}" for n in range(CALLS)]
        assert store.summary("council").calls == CALLS
        assert store.summary("council").state == "finished"
        assert verify(store, "council").ok


def test_a_reader_follows_while_another_process_writes(store_path: Path) -> None:
    seen: list[int] = []
    with council(store_path) as (child, said):
        assert said.readline()
        with closing(SqliteStore(store_path)) as store:
            for answered in range(1, CALLS):
                assert int(said.readline()) == answered
                seen += [record.seq for record, _ in store.events("council", after=len(seen))]
                # what the writer has said to be done is there to be read
                assert len(seen) >= 1 + 2 * (answered + 1)

            assert store.summary("council").state == "running"
            assert verify(store, "council").intact
            with pytest.raises(StoreBusy):
                store.reopen("council")

            child.communicate()
            assert store.summary("council").state == "finished"
            seen += [record.seq for record in store.records("council", after=len(seen))]
            assert seen == list(range(1, 2 * CALLS + 3))
            assert verify(store, "council").ok


def test_several_processes_write_their_runs_into_one_store(store_path: Path) -> None:
    names = ["one", "two", "three"]
    with ExitStack() as stack:
        children = [stack.enter_context(council(store_path, name))[0] for name in names]
        for child in children:
            child.communicate()
            assert child.returncode == 0
    with closing(SqliteStore(store_path)) as store:
        assert {run.run_id: run.calls for run in store.runs(state="finished")} == dict.fromkeys(names, CALLS)
        assert all(verify(store, name).ok for name in names)


async def test_a_fork_shares_the_calls_up_to_its_event(store: SqliteStore, finished_run: str) -> None:
    events = [event for _, event in store.events(finished_run)]
    shared = Recording.from_events(events, until=5)
    assert len(shared) == 2
    assert isinstance(shared.reply(f"{1:064x}", 1), Reply)
    assert shared.reply(f"{2:064x}", 1) is None


def test_runs_are_opened_from_many_threads_at_once(
    store: SqliteStore, store_path: Path, started: Callable[..., RunStarted]
) -> None:
    with ThreadPoolExecutor(16) as pool:
        logs = list(pool.map(store.start, [started(f"run-{number}") for number in range(32)]))
    assert {run.state for run in store.runs()} == {"running"}
    assert store.writer.execute("SELECT count(*) FROM owners") == [(1,)], "one row for all runs of a process"
    for log in logs:
        log.close()
    store.close()
    assert [file.name for file in store_path.parent.iterdir() if file.is_dir()] == []
    with closing(SqliteStore(store_path)) as again:
        assert again.writer.execute("SELECT count(*) FROM owners") == [(0,)]


def test_a_holder_that_somebody_wrote_into_the_file_leads_nowhere(
    store: SqliteStore, store_path: Path, started: Callable[..., RunStarted]
) -> None:
    store.start(started()).close()
    victim = store_path.parent.parent / "victim.lock"
    victim.write_text("precious")
    for name in ("../../victim", str(victim.with_suffix("")), "f" * 16, "\0"):
        with closing(sqlite3.connect(store_path)) as connection, connection:
            connection.execute("UPDATE runs SET holder = ?", (name,))
        assert store.summary("run-1").state == "interrupted"
        store.reopen("run-1").close()
    assert victim.read_text() == "precious"
