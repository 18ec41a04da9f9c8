"""Runs that are left to workers: from the command line through the queue to the report."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.assay.batch.batch_shell import CALLS, JOB, Shell, council
from tests.assay.debate.conftest import PANEL, SEED, TOPIC, scripted
from tests.assay.trial.test_trial_command import solver
from tests.commands import Done
from tests.extent import PATIENCE
from tests.llm_runtime.store.postgres_server import PostgresServer

from assay.queue.entry import batch_entry
from assay.queue.schedules import put_due
from assay.queue.tables import open_queue, put, rescue
from llm_runtime.store import open_store
from llm_runtime.store.summary import RunSummary
from llm_runtime.store.verify import verify
from llm_runtime.testing import LoopbackServer, Received


@pytest.fixture
def queue(shell: Shell, postgres_url: str) -> Shell:
    """The command line, whose store is the one with the queue."""
    shell.environment["ASSAY_STORE"] = postgres_url
    return shell


async def assay(shell: Shell, *arguments: str, code: int = 0) -> Done:
    done = await shell.commands.run(*arguments, cwd=shell.folder, env=shell.environment)
    assert done.code == code, done.err + done.out
    return done


async def queued(shell: Shell, *arguments: str) -> str:
    """Put a run into the queue; return its id."""
    return (await assay(shell, *arguments, "--queue")).out.split()[-1]


async def entries(shell: Shell) -> list[dict[str, Any]]:
    return (await assay(shell, "queue", "list", "--json")).json["entries"]


@asynccontextmanager
async def worker(shell: Shell, *command: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    """A worker of its own process, killed in the end if it is still there."""
    environment = {**shell.environment, "PYTHONPATH": ":".join(sys.path)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *command, cwd=shell.folder, env=environment, stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        print((await process.communicate())[1].decode())  # of use where a test fails


async def until(holds: Any) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():  # noqa: ASYNC110 - another process makes it hold
            await asyncio.sleep(0.02)


async def test_a_run_goes_through_the_queue_to_its_report(queue: Shell, server: LoopbackServer) -> None:
    """A person leaves a question to a worker, and reads the answer from the same store."""
    run_id = await queued(queue, "ask", "Should we split it?")
    assert not server.requests
    await assay(queue, "work", "--until-empty")
    assert "Thought through in" in (await assay(queue, "runs", "show", run_id)).out
    assert [(each["state"], each["run_id"]) for each in await entries(queue)] == [("done", run_id)]


async def test_a_batch_is_left_to_workers(queue: Shell) -> None:
    queue.write(JOB, ["Why?", "How?"])
    done = await assay(queue, "batch", "run", "job.toml", "--queue", "--workers", "2")
    await assay(queue, "work", "--until-empty")
    assert [each["state"] for each in await entries(queue)] == ["done", "done"]
    [batch] = (await assay(queue, "batch", "status", "--json")).json["batches"]
    assert (batch["state"], batch["done"]) == ("finished", 4), done.err


async def test_higher_goes_first_and_what_is_not_due_waits(queue: Shell, postgres_url: str) -> None:
    low = await queued(queue, "ask", "low")
    later = await queued(queue, "ask", "later", "--priority", "1000", "--after", "1h")
    high = await queued(queue, "ask", "high", "--priority", "7")
    await assay(queue, "work", "--until-empty", "--at-once", "1")
    store = open_store(postgres_url)
    begun = [run.run_id for run in sorted(store.runs(), key=lambda run: run.started_at)]
    store.close()
    assert begun == [high, low]
    assert {each["run_id"]: each["state"] for each in await entries(queue)}[later] == "waiting"


async def killed_and_taken_over(
    shell: Shell, url: str, server: LoopbackServer, asked: int, count: int = 1
) -> list[RunSummary]:
    """Kill a worker once it has asked so often, and let another end all runs; return them."""
    async with worker(shell, "tests.assay.queue.queue_worker", url) as first:
        await until(lambda: len(server.requests) >= asked)
        first.kill()
        await first.wait()
    with closing(open_store(url)) as store:
        async with worker(shell, "tests.assay.queue.queue_worker", url) as second:
            await until(lambda: [run.state for run in store.runs()] == ["finished"] * count)
            second.send_signal(signal.SIGTERM)
            assert await second.wait() == 0
        assert {each["state"] for each in await entries(shell)} == {"done"}
        return store.runs()


async def test_who_is_killed_leaves_its_runs_to_another(
    queue: Shell, server: LoopbackServer, postgres_url: str
) -> None:
    """No answer that had arrived is paid for again."""
    runs = [await queued(queue, "ask", f"question {n}") for n in range(3)]
    ended = await killed_and_taken_over(queue, postgres_url, server, 12, len(runs))
    assert {run.run_id for run in ended} == set(runs)
    answered = sum(run.calls for run in ended)
    assert answered == 3 * CALLS
    assert len(server.requests) <= answered + 9, "at the most what was in flight is asked again"


async def test_who_is_stopped_loses_its_runs_and_changes_nothing_when_it_wakes(
    queue: Shell, server: LoopbackServer, postgres_url: str
) -> None:
    runs = {await queued(queue, "ask", f"question {n}") for n in range(3)}
    async with worker(queue, "tests.assay.queue.queue_worker", postgres_url) as first:
        await until(lambda: len(server.requests) >= 12)
        first.send_signal(signal.SIGSTOP)
        async with worker(queue, "tests.assay.queue.queue_worker", postgres_url) as second:
            with closing(open_store(postgres_url)) as store:
                await until(lambda: [run.state for run in store.runs()] == ["finished"] * 3)
                await until(lambda: all(store.heads.load(run_id) for run_id in runs))
                ended = {run.run_id: (run, store.heads.load(run.run_id)) for run in store.runs()}
                first.send_signal(signal.SIGCONT)
                first.send_signal(signal.SIGTERM)
                said = (await first.communicate())[1].decode()
                assert first.returncode == 0 and "entry failed" not in said and "Overtaken" not in said
                assert said.count("another went on with the run; nothing needs to be done") == len(runs), said
                assert {run.run_id: (run, store.heads.load(run.run_id)) for run in store.runs()} == ended
            second.send_signal(signal.SIGTERM)
            assert await second.wait() == 0
    assert ended.keys() == runs and sum(run.calls for run, _ in ended.values()) == 3 * CALLS
    assert len(server.requests) <= 3 * CALLS + 9, "at the most what was in flight is asked again"
    assert [(each["state"], each["attempts"]) for each in await entries(queue)] == [("done", 1)] * 3


@pytest.mark.postgres
async def test_a_database_that_fails_over_in_the_middle_of_runs_is_waited_for_and_nothing_is_lost(
    shell: Shell, server: LoopbackServer
) -> None:
    """What a person does who moves the database: the worker stays, says so, and ends all runs when it is back."""
    database = PostgresServer()
    try:
        url = shell.environment["ASSAY_STORE"] = database.new_database("own")
        runs = {await queued(shell, "ask", f"question {n}") for n in range(3)}
        async with worker(shell, "tests.assay.queue.queue_worker", url) as one:
            await until(lambda: len(server.requests) >= 12)
            await asyncio.to_thread(database.kill)
            assert len(server.requests) < 3 * CALLS, "it is in the middle of runs"
            await asyncio.to_thread(database.start)
            with closing(open_store(url)) as store:
                await until(lambda: [run.state for run in store.runs()] == ["finished"] * 3)
                # A head is signed just after the end of its run is read.
                await until(lambda: all(verify(store, run_id).ok for run_id in runs))
                ended = {run.run_id: run for run in store.runs()}
            one.send_signal(signal.SIGTERM)
            said = (await one.communicate())[1].decode()
            assert one.returncode == 0, said
        assert ended.keys() == runs and sum(run.calls for run in ended.values()) == 3 * CALLS
        assert len(server.requests) <= 3 * CALLS + 9, "at the most what was in flight is asked again"
        assert {each["state"] for each in await entries(shell)} == {"done"}
        # Whatever it says of the database is a line, and no run was begun twice.
        assert all(line.startswith("{") for line in said.splitlines()) and said.count("run taken") == 3, said
    finally:
        database.remove()


async def test_entries_of_versions_before_are_moved(queue: Shell, postgres_url: str) -> None:
    await assay(queue, "queue", "list")
    with closing(open_store(postgres_url)) as store:
        for statement in (
            "DROP TABLE queue_entries",
            "DROP TABLE queue_migrations",
            "CREATE TABLE procrastinate_jobs (id BIGINT PRIMARY KEY, queue_name TEXT, task_name TEXT, args JSONB, "
            "status TEXT, priority INTEGER, attempts INTEGER, scheduled_at TIMESTAMPTZ, worker_id BIGINT)",
        ):
            store.writer.execute(statement)
        for number, state in enumerate(("succeeded", "doing", "todo", "failed"), 1):
            args = {"entry": batch_entry(f"b{number}", "t").model_dump(mode="json"), "error": "X: why"}
            store.writer.execute(
                "INSERT INTO procrastinate_jobs "
                "VALUES (?, 'batch@0.2.0', 'assay.carry_out', CAST(? AS jsonb), ?, 3, 1, NULL, 7)",
                (number, json.dumps(args), state),
            )
    found = {each["run_id"]: each["state"] for each in await entries(queue)}
    assert found == {"b1": "done", "b2": "waiting", "b3": "waiting", "b4": "failed"}
    assert {each["error"] for each in await entries(queue)} == {"X: why"}


async def test_a_debate_goes_on_where_a_killed_worker_left_it(queue: Shell, postgres_url: str) -> None:
    pytest.importorskip("bm25s", reason="a debate needs the extra 'debate'")
    answers = await scripted([])
    async with LoopbackServer(lambda got: answers[tuple(message.content for message in got.messages)]) as server:
        queue.environment["OPENROUTER_BASE_URL"] = f"{server.url}/v1"
        panel = ("--personas", PANEL, "--aspects", "2", "--rooms", "1", "--seed", str(SEED))
        run_id = await queued(queue, "debate", TOPIC, *panel)
        [run] = await killed_and_taken_over(queue, postgres_url, server, 20)
        assert run.run_id == run_id and len(answers) <= len(server.requests) <= len(answers) + 8
    assert "would change this mind" in (await assay(queue, "debate", "cards", run_id)).out


@pytest.mark.usefixtures("boxes")
async def test_a_trial_goes_on_where_a_killed_worker_left_it(queue: Shell, postgres_url: str) -> None:
    """The second attempt waits for its first answer when its worker is killed: only that is asked again."""
    await assay(queue, "trial", "new", "sum")
    held = asyncio.Event()

    async def answer(received: Received) -> str:
        if received.number == 4:
            await held.wait()
        return solver(received)

    async with LoopbackServer(answer) as server:
        model = ("--model", f"{server.url}/v1#tiny")
        run_id = await queued(queue, "trial", "run", "sum", *model, "--k", "2", "--at-once", "1")
        [run] = await killed_and_taken_over(queue, postgres_url, server, 4)
        held.set()
        assert run.run_id == run_id and len(server.requests) == 2 * 3 + 1
    assert "2 passed, 0 failed, 1 died" in (await assay(queue, "runs", "show", run_id)).out
    assert (await assay(queue, "trial", "verify")).code == 0


async def test_asked_to_stop_a_worker_puts_back_what_it_cannot_finish(queue: Shell, server: LoopbackServer) -> None:
    run_id = await queued(queue, "ask", "Why?")
    async with LoopbackServer(council, latency=0.5) as slow:
        hurried = replace(queue, environment={**queue.environment, "OPENROUTER_BASE_URL": f"{slow.url}/v1"})
        async with worker(hurried, "assay", "work", "--drain", "0", "--log", "json") as process:
            await until(lambda: len(slow.requests) >= 2)
            process.send_signal(signal.SIGTERM)
            _, err = await process.communicate()
            assert process.returncode == 0
    assert [json.loads(line)["event"] for line in err.splitlines()][-1] == "worker stopped"
    assert [each["state"] for each in await entries(queue)] == ["waiting"]
    await assay(queue, "work", "--until-empty")
    assert (await assay(queue, "runs", "show", run_id)).out


async def test_what_is_no_run_fails_in_one_line_and_stops_nothing(queue: Shell, postgres_url: str) -> None:
    good = await queued(queue, "ask", "Why?")
    wrong: list[Any] = [
        {}, {"entry": 7}, {"entry": {"version": "0.1.0", "kind": "crucible.council"}},
        {"entry": {"version": "0.1.0", "kind": "crucible.council", "run_id": "../x"}},
        {"entry": {"version": "0.1.0", "kind": "crucible.council", "run_id": "r1", "task": {"nonsense": 1}}},
        {"entry": {"version": "0.1.0", "kind": "batch", "run_id": "nobody"}},
    ]  # fmt: skip
    with open_queue(postgres_url) as database:
        for args in wrong:
            database.execute(
                "INSERT INTO queue_entries (queue, entry, priority) VALUES (?, CAST(? AS jsonb), 9)",
                ("crucible.council@0.1.0", json.dumps(args.get("entry", {}))),
            )
    err = (await assay(queue, "work", "--until-empty")).err
    assert "Traceback" not in err and err.count("entry failed") == len(wrong)
    states = {each["run_id"]: each["state"] for each in await entries(queue)}
    assert states.pop(good) == "done" and set(states.values()) == {"failed"}
    assert all(
        each["error"].count("\n") == 0 and each["error"] for each in await entries(queue) if each["state"] == "failed"
    )


async def test_an_older_worker_leaves_alone_what_a_newer_version_put_there(queue: Shell, postgres_url: str) -> None:
    newer = batch_entry("b1", "").model_copy(update={"version": "99.1"})
    unknown = batch_entry("b2", "").model_copy(update={"kind": "sixth.kind"})
    with open_queue(postgres_url) as database:
        put(database, newer)
        put(database, unknown)
    err = (await assay(queue, "work", "--until-empty")).err
    assert "left to a newer worker" in err and "batch@99.1" in err
    assert {each["state"] for each in await entries(queue)} == {"waiting"}


async def test_all_runs_of_a_purse_spend_from_it_together(queue: Shell, server: LoopbackServer) -> None:
    await assay(queue, "queue", "purse", "anna", "--calls", "12")
    for question in ("one", "two"):
        await queued(queue, "ask", question, "--purse", "anna")
    await queued(queue, "ask", "three")
    await assay(queue, "work", "--until-empty")
    assert len(server.requests) == 12 + CALLS
    shown = await assay(queue, "queue", "purse", "anna")
    assert "12 calls, 0 reserved of 12" in shown.out
    failed = [each for each in await entries(queue) if each["state"] == "failed"]
    assert failed and all("budget" in each["error"] for each in failed)


async def test_one_moment_of_a_schedule_is_one_run_whoever_looks(queue: Shell, postgres_url: str) -> None:
    await assay(queue, "ask", "How are we?", "--queue", "--every", "0 6 * * *")
    with open_queue(postgres_url) as database, open_queue(postgres_url) as other:
        assert not put_due(database, 1_000_000.0), "no moment before it was made counts"
        database.execute("UPDATE queue_schedules SET since = 0")
        six = 1_800_000_000 // 86_400 * 86_400 + 6 * 3600
        assert len(put_due(database, six + 5.0)) == 1
        assert not put_due(other, six + 6.0)
        assert not put_due(other, six + 3600.0), "long gone is left out"
        assert len(put_due(other, six + 86_400.0)) == 1
    assert len({each["run_id"] for each in await entries(queue)}) == 2


async def test_what_repeats_begins_no_sooner_than_it_was_told(queue: Shell, postgres_url: str) -> None:
    await assay(queue, "ask", "How are we?", "--queue", "--every", "0 6 * * *", "--after", "2027-01-15T00:00Z")
    with open_queue(postgres_url) as database:
        six = 1_800_000_000 // 86_400 * 86_400 + 6 * 3600
        assert not put_due(database, six - 86_400 + 5.0)
        assert len(put_due(database, six + 5.0)) == 1


async def test_what_is_put_back_before_its_time_still_waits_for_it(queue: Shell) -> None:
    await queued(queue, "ask", "Why?", "--after", "1h")
    [before] = await entries(queue)
    for what in ("cancel", "retry"):
        await assay(queue, "queue", what, str(before["number"]))
    assert await entries(queue) == [before]


async def test_an_entry_that_no_worker_survives_ends_somewhere(queue: Shell, postgres_url: str) -> None:
    await queued(queue, "ask", "Why?")
    with open_queue(postgres_url) as database:
        for _ in range(3):
            database.execute("UPDATE queue_entries SET state = 'running' WHERE state = 'waiting'")
            rescue(database, 3)
    [entry] = await entries(queue)
    assert (entry["state"], entry["error"].partition(":")[0]) == ("failed", "WorkerLost")
    await assay(queue, "queue", "retry", str(entry["number"]))
    assert [each["state"] for each in await entries(queue)] == ["waiting"]
    await assay(queue, "queue", "cancel", str(entry["number"]))
    assert [each["state"] for each in await entries(queue)] == ["cancelled"]


@pytest.mark.parametrize(
    ("store", "code"),
    [("runs.db", 2), ("mysql://h/d", 2), ("postgresql://u:geheim@localhost:1/d", 5), ("postgresql://h:5:x/d", 5)],
)  # fmt: skip
async def test_a_store_without_a_queue_is_refused_in_one_line(queue: Shell, store: str, code: int) -> None:
    for command in (
        ["work"],
        ["queue", "list"],
        ["ask", "Why?", "--queue"],
        *([["runs", "list"]] if code == 5 else []),
    ):
        err = (await assay(queue, *command, "--store", store, code=code)).err
        assert err.startswith("assay: ") and err.count("\n") == 1 and "geheim" not in err


async def test_what_nobody_could_answer_is_not_put_there(queue: Shell, tmp_path: Path) -> None:
    for wrong in (["--after", "soon"], ["--every", "99 * * * *"], ["--seat", "red_team=terminal:"]):
        err = (await assay(queue, "ask", "Why?", "--queue", *wrong, code=2)).err
        assert err.count("\n") == 1, err
    assert not await entries(queue)
