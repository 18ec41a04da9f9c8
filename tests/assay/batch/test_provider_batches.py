"""`assay batch run --provider-batch`: calls that wait, at half the price, at servers that speak as four vendors do."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from tests.assay.batch.batch_shell import CALLS, JOB, Shell, batch_of, council
from tests.assay.batch.vendor_server import BASES, VendorServer
from tests.commands import Commands, bare_world

from llm_runtime.testing import LoopbackServer

MODELS = {
    "openai": "openai/gpt-4.1-mini",
    "anthropic": "anthropic/claude-sonnet-4-5",
    "gemini": "google/gemini-2.5-flash",
    "mistral": "mistralai/mistral-large-latest",
}
QUESTIONS = ["Why blue?", "Why red?"]


def job_for(vendor: str, *, gather: float = 0.02, more: str = "") -> str:
    quick = JOB.replace("in_flight = 3", f"gather = {gather}")
    return f'model = "{MODELS[vendor]}"\nmax_tokens = 400\n{quick}\n{more}'


def shell_at(server: VendorServer, commands: Commands, folder: Path) -> Shell:
    return Shell(folder, bare_world(folder, **server.environment()), commands)


async def status_of(shell: Shell, batch: str) -> dict[str, Any]:
    [status] = json.loads((await shell("status", batch, "--json"))[0])["batches"]
    return status


@pytest.mark.parametrize("vendor", BASES)
async def test_jobs_go_phase_by_phase_through_each_vendors_batches(
    vendor: str, commands: Commands, tmp_path: Path
) -> None:
    async with LoopbackServer(council) as inner, VendorServer(vendor, inner) as server:
        shell = shell_at(server, commands, tmp_path)
        shell.write(job_for(vendor), QUESTIONS)
        _, err = await shell("run", "job.toml", "--provider-batch")
        status = await status_of(shell, batch_of(err))
    assert (status["state"], status["done"], status["failed"]) == ("finished", 4, {})
    assert len(inner.requests) == 4 * CALLS == status["calls"] and server.direct == 0
    # As many as a council has steps, where its jobs keep step with each other; never one a call.
    assert len(server.jobs) <= 2 * CALLS and max(len(job.rows) for job in server.jobs.values()) > 2
    assert status["reserved"] == 0 and not status["waits_for"]


async def test_a_call_costs_half_of_what_it_costs_at_once(commands: Commands, tmp_path: Path) -> None:
    prices = '[prices]\n"gpt-4.1-mini" = { input = 100.0, output = 300.0 }\n'
    spent = list[int]()
    for name in ("at-once", "waiting"):
        folder = tmp_path / name
        folder.mkdir()
        async with LoopbackServer(council) as inner, VendorServer("openai", inner) as server:
            shell = shell_at(server, commands, folder)
            if name == "at-once":
                shell.environment["OPENAI_BASE_URL"] = f"{inner.url}/v1"
            home = Path(shell.environment["ASSAY_HOME"]) if "ASSAY_HOME" in shell.environment else None
            config = home or Path(shell.environment["HOME"]) / ".config" / "assay"
            config.mkdir(parents=True, exist_ok=True)
            (config / "prices.toml").write_text(prices)
            shell.write(job_for("openai", more="[budget]\nusd = 100\n"), QUESTIONS)
            _, err = await shell("run", "job.toml", *(["--provider-batch"] if name == "waiting" else []))
            spent.append((await status_of(shell, batch_of(err)))["spent"])
    assert spent[0] > 0 and abs(spent[1] * 2 - spent[0]) <= 4 * CALLS


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
async def test_who_goes_on_takes_the_answers_of_batches_that_were_sent(
    end: signal.Signals, commands: Commands, tmp_path: Path
) -> None:
    async with LoopbackServer(council) as inner, VendorServer("openai", inner, looks=10**6) as server:
        shell = shell_at(server, commands, tmp_path)
        shell.write(job_for("openai", more="[budget]\ncalls = 50\n"), QUESTIONS)
        process = await shell.begin("run", "job.toml", "--provider-batch")
        await server.looked.wait()
        process.send_signal(end)
        _, err = await process.communicate()
        batch = batch_of(err.decode())
        status = await status_of(shell, batch)
        # Nothing is answered yet, so nothing is spent; the vendor still has the first calls of all jobs.
        assert (status["calls"], status["unknown_calls"]) == (0, 0)
        # Of who is killed nobody gives back what was held.
        assert (status["reserved_calls"] == 0) == (end is signal.SIGINT)
        assert end is signal.SIGKILL or "openai's batch batch-0 (" in str(status["waits_for"])
        server.looks = 0
        await shell("resume", batch)
        status = await status_of(shell, batch)
    assert (status["state"], status["done"]) == ("finished", 4)
    assert len(inner.requests) == 4 * CALLS == status["calls"]


async def test_what_never_comes_back_is_asked_again_in_the_next_batch(commands: Commands, tmp_path: Path) -> None:
    async with LoopbackServer(council) as inner, VendorServer("anthropic", inner, loses=lambda n: n % 5 == 0) as server:
        shell = shell_at(server, commands, tmp_path)
        shell.write(job_for("anthropic"), QUESTIONS)
        _, err = await shell("run", "job.toml", "--provider-batch")
        status = await status_of(shell, batch_of(err))
    assert (status["state"], status["done"]) == ("finished", 4)
    assert server.calls > 4 * CALLS


async def test_a_vendor_that_takes_less_at_once_is_sent_less(commands: Commands, tmp_path: Path) -> None:
    def refuses(calls: int) -> list[dict[str, str]]:
        return [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}] if calls > 3 else []

    async with LoopbackServer(council) as inner, VendorServer("openai", inner, refuses=refuses) as server:
        shell = shell_at(server, commands, tmp_path)
        shell.write(job_for("openai"), QUESTIONS)
        _, err = await shell("run", "job.toml", "--provider-batch")
        status = await status_of(shell, batch_of(err))
    assert (status["state"], status["done"]) == ("finished", 4)
    assert len(inner.requests) == 4 * CALLS == status["calls"]


async def test_a_batch_that_is_refused_whole_says_why_once_a_job(commands: Commands, tmp_path: Path) -> None:
    def refuses(_: int) -> list[dict[str, str]]:
        return [{"code": "invalid_request", "message": "This model is not for batches."}]

    async with LoopbackServer(council) as inner, VendorServer("mistral", inner, refuses=refuses) as server:
        shell = shell_at(server, commands, tmp_path)
        shell.write(job_for("mistral").replace("retry_delay = 0", "retry_delay = 0\nattempts = 1"), QUESTIONS)
        _, err = await shell("run", "job.toml", "--provider-batch", code=1)
        rows = [json.loads(line) for line in (await shell("results", batch_of(err)))[0].splitlines()]
    assert {row["state"] for row in rows} == {"dead"} and not inner.requests
    assert all("This model is not for batches." in row["message"] for row in rows)


async def test_one_poisonous_call_of_a_batch_spoils_no_other(commands: Commands, tmp_path: Path) -> None:
    for vendor in ("anthropic", "gemini"):
        folder = tmp_path / vendor
        folder.mkdir()
        async with LoopbackServer(council) as inner, VendorServer(vendor, inner) as server:
            shell = shell_at(server, commands, folder)
            shell.write(job_for(vendor), ["Why blue?", "poison"])
            _, err = await shell("run", "job.toml", "--provider-batch", code=1)
            rows = [json.loads(line) for line in (await shell("results", batch_of(err)))[0].splitlines()]
        assert [row["state"] for row in rows] == ["done", "done", "dead", "dead"]
        assert "this input cannot be answered" in rows[2]["message"]


async def test_cancelling_a_batch_ends_those_of_the_vendor(commands: Commands, tmp_path: Path) -> None:
    async with LoopbackServer(council) as inner, VendorServer("anthropic", inner, looks=10**6) as server:
        shell = shell_at(server, commands, tmp_path)
        shell.write(job_for("anthropic"), QUESTIONS)
        process = await shell.begin("run", "job.toml", "--provider-batch", "--quiet")
        await server.looked.wait()
        batch = json.loads((await shell("status", "--json"))[0])["batches"][0]["batch"]
        assert "anthropic's batch batch-0 (" in str((await status_of(shell, batch))["waits_for"])
        await shell("cancel", batch)
        await process.communicate()
    assert process.returncode == 130 and "batch-0" in server.cancelled
