"""Batches that are stopped, cancelled, killed, or short of money, and go on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable
from contextlib import closing

import pytest
from tests.assay.batch.batch_shell import CALLS, JOB, Shell, batch_of, council
from tests.extent import PATIENCE

from assay.batch.batches import open_batches
from assay.batch.buckets import Buckets
from assay.batch.ledger import Batch, Ledger
from assay.batch.worker import work
from llm_runtime.testing import LoopbackServer, Received

FOUR = ["a?", "b?", "c?", "d?"]
WHOLE = 8 * CALLS
LONG_LEASE = JOB.replace("[work]", "[work]\nlease = 3600")


async def until(enough: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not enough():  # noqa: ASYNC110 - a server tells nobody of its requests
            await asyncio.sleep(0.005)


Enter = Callable[..., Batch]
Here = Callable[[LoopbackServer], str]


@pytest.fixture
def here(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Lets this process ask a server on behalf of the shell's batches; returns where their store is."""

    def reached(server: LoopbackServer) -> str:
        for name, value in {**shell.environment, "OPENROUTER_BASE_URL": f"{server.url}/v1"}.items():
            monkeypatch.setenv(name, value)
        return str(shell.folder / "data/runs.db")

    return reached


async def status(shell: Shell) -> dict[str, object]:
    [found] = json.loads((await shell("status", "--json"))[0])["batches"]
    return found


@pytest.mark.long
async def test_a_killed_driver_loses_nothing_and_repeats_only_what_was_in_flight(
    shell: Shell, server: LoopbackServer
) -> None:
    shell.write(LONG_LEASE, FOUR)
    process = await shell.begin("run", "job.toml")
    while len(server.requests) < 15:  # noqa: ASYNC110 - a server tells nobody of its requests
        await asyncio.sleep(0.002)
    os.killpg(process.pid, signal.SIGKILL)
    await process.communicate()
    _, err = await shell("run", "job.toml")
    assert "8 of 8 done" in err
    assert 8 * CALLS <= len(server.requests) <= 8 * CALLS + 3 * 3


@pytest.mark.hastened
@pytest.mark.parametrize("told", ["cancel", "end"])
async def test_a_worker_that_is_told_to_stop_puts_its_jobs_back_at_once(
    shell: Shell, server: LoopbackServer, here: Here, enter: Enter, told: str
) -> None:
    async with LoopbackServer(council, latency=0.4) as slow:
        with closing(open_batches(here(slow))) as database:
            enter(database, *FOUR, lease=3600, in_flight=3)
        working = asyncio.create_task(work(here(slow), "batch"))
        await until(lambda: len(slow.requests) >= 6)
        if told == "cancel":
            await shell("cancel", "batch")
        else:
            working.cancel()
        await asyncio.wait([working])
    found = await status(shell)
    assert (found["state"], found["running"]) == ("cancelled" if told == "cancel" else "idle", 0)
    # Under a lease of an hour it would wait for what was not put back.
    _, err = await shell("resume", "batch")
    assert "4 of 4 done" in err
    # Eight calls a council; nothing is asked again but what was in flight: three jobs of three seats.
    assert 4 * 8 <= len(server.requests) + len(slow.requests) <= 4 * 8 + 3 * 3


@pytest.mark.long
async def test_a_cancelled_batch_stops_by_itself_and_can_be_gone_on_with(shell: Shell, server: LoopbackServer) -> None:
    shell.write(LONG_LEASE, FOUR)
    async with LoopbackServer(council, latency=0.4) as slow:
        shell.environment["OPENROUTER_BASE_URL"] = f"{slow.url}/v1"
        working = await shell.begin("run", "job.toml")
        await until(lambda: len(slow.requests) >= 6)
        batch = str((await status(shell))["batch"])
        await shell("cancel", batch)
        _, err = await working.communicate()
    shell.environment["OPENROUTER_BASE_URL"] = f"{server.url}/v1"
    assert working.returncode == 130 and b"go on with: assay batch resume" in err
    assert (await status(shell))["state"] == "cancelled"
    _, err = await shell("resume", batch)
    assert "8 of 8 done" in err
    assert WHOLE <= len(server.requests) + len(slow.requests) <= WHOLE + 3 * 3


@pytest.mark.long
async def test_two_processes_told_to_end_put_their_jobs_back_at_once(shell: Shell, server: LoopbackServer) -> None:
    shell.write(LONG_LEASE, FOUR)
    working = await shell.begin("run", "job.toml", "--workers", "2")
    await until(lambda: len(server.requests) >= 20)
    working.send_signal(signal.SIGTERM)
    _, err = await working.communicate()
    assert working.returncode == 130, err.decode()
    found = await status(shell)
    assert (found["state"], found["running"]) == ("idle", 0)
    # Under a lease of an hour it would wait for what was not put back.
    _, err = await shell("resume", str(found["batch"]), "--workers", "2")
    assert "8 of 8 done" in err
    assert WHOLE <= len(server.requests) <= WHOLE + 2 * 3 * 3


async def test_processes_whose_driver_is_killed_end_with_it(shell: Shell, server: LoopbackServer) -> None:
    shell.write(LONG_LEASE, [f"{n}?" for n in range(40)])
    working = await shell.begin("run", "job.toml", "--workers", "2")
    await until(lambda: len(server.requests) >= 20)
    os.kill(working.pid, signal.SIGKILL)
    await working.communicate()  # until the last of them has let go of standard error
    found = await status(shell)
    assert (found["state"], found["running"]) == ("idle", 0)


async def test_dead_letters_are_taken_up_again(shell: Shell, server: LoopbackServer) -> None:
    shell.write(JOB.replace("repetitions = 2", "").replace("[work]", "[work]\nattempts = 2"), ["Why?", "poison"])
    _, err = await shell("run", "job.toml", code=1)
    batch = batch_of(err)
    _, err = await shell("retry-failed", batch, code=1)
    assert "1 job taken up again" in err
    assert sum("poison" in str(received.payload) for received in server.requests) == 4


async def test_calls_that_fit_only_one_after_another_wait_for_each_other(shell: Shell, server: LoopbackServer) -> None:
    # At its worst a call takes six cents, so of nine in flight one fits; in the end each takes 10 micro-dollars.
    shell.write(JOB + "[budget]\nusd = 0.10\n", FOUR)
    _, err = await shell("run", "job.toml")
    assert "8 of 8 done" in err
    assert len(server.requests) == WHOLE


@pytest.mark.parametrize("cap", ["calls = 61", pytest.param("tokens = 60000", marks=pytest.mark.long)])
async def test_a_cap_lets_jobs_come_to_their_end_in_the_order_of_the_input(
    shell: Shell, server: LoopbackServer, cap: str
) -> None:
    """Not all are begun for none to be ended."""
    wide = JOB.replace("in_flight = 3", "in_flight = 36").replace("repetitions = 2", "repetitions = 1")
    shell.write(f"{wide}[budget]\n{cap}\n", [f"Why {n}?" for n in range(40)])
    _, err = await shell("run", "job.toml", code=3)
    lines = [json.loads(line) for line in (await shell("results", batch_of(err)))[0].splitlines()]
    done = [line["row"] for line in lines if line["state"] == "done"]
    assert len(done) >= 4 and done == list(range(1, len(done) + 1))
    if cap.startswith("calls"):
        assert len(server.requests) == 61 and len(done) == 6
        assert "61 calls, 0 reserved of 61" in (await shell("status"))[0]
    found = await status(shell)
    assert (found["budget_calls"], found["budget_tokens"]) in ((61, None), (None, 60_000))


@pytest.mark.hastened
async def test_an_outage_costs_no_job_its_attempts_and_the_batch_goes_on_by_itself(
    shell: Shell, here: Here, enter: Enter
) -> None:
    """The provider fails until the batch has been held back a few times; no job is given up."""
    held_back = 0

    def answer(received: Received) -> str | tuple[int, dict[str, object]]:
        return council(received) if held_back > 3 else (500, {"error": {"message": "on fire"}})

    async with LoopbackServer(answer) as failing:
        with closing(open_batches(here(failing))) as database:
            enter(database, *FOUR, attempts=1)
            working = asyncio.create_task(work(here(failing), "batch"))
            shown: list[str] = []
            while not working.done():
                if closed := Buckets(database).closed():
                    held_back += 1
                    shown.append((await shell("status"))[0])
                    database.execute("UPDATE buckets SET closed_until = 0 WHERE bucket = ?", (closed[0].bucket,))
                database.execute("UPDATE jobs SET due_at = 0 WHERE state = 'waiting'")
                await asyncio.sleep(0.5)
            assert (await working).done == 4 and Ledger(database).status("batch").states == {"done": 4}
    assert any("out of order" in line and "tried again in" in line for line in shown)


async def test_one_id_names_one_content(shell: Shell, server: LoopbackServer) -> None:
    shell.write('id = "mine"\n' + JOB, ["Why?"])
    await shell("run", "job.toml")
    paid = len(server.requests)
    shell.write('id = "mine"\n' + JOB, ["How?"])
    _, err = await shell("run", "job.toml", code=2)
    assert "mine with other contents" in err
    assert len(server.requests) == paid


async def test_a_store_of_another_kind_is_refused(shell: Shell, server: LoopbackServer) -> None:
    shell.write(JOB, ["Why?"])
    _, err = await shell("run", "job.toml", "--store", "mysql://host/runs", code=2)
    assert "mysql:// is no store" in err
    _, err = await shell("run", "job.toml", "--engine", "ray", code=2)
    assert "--store postgresql://" in err
    assert server.requests == []
