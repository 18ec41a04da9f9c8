"""The protocol of ``docs/add-a-protocol.md``, taken from the page, installed, and used at every door."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.commands import Commands, Done, bare_world
from tests.docs.pages import blocks_of, commands_of, install, write_files

from llm_runtime.testing import LoopbackServer, Received

PAGE = "add-a-protocol.md"
TOKEN = "a-token-for-tests-0123"
Assay = Callable[..., Awaitable[Done]]
pytestmark = pytest.mark.process


def answer(received: Received) -> str:
    """A cause that says how many were named before it, or the warning."""
    text = received.messages[0].content
    if text.startswith("Write one warning"):
        return "**Move** nothing on a Friday."
    return "Nobody had the password." if "Named causes: none" in text else f"Cause at call {received.number}."


@pytest.fixture
async def models() -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(answer) as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, models: LoopbackServer) -> dict[str, str]:
    """An environment in which the page's package is installed and one provider has a key."""
    write_files(PAGE, tmp_path / "written")
    install(tmp_path / "written" / "premortem", tmp_path / "site")
    (tmp_path / "premortem.toml").write_bytes((tmp_path / "written" / "premortem.toml").read_bytes())
    (tmp_path / "plans.csv").write_text("plan\nMove the shop\nPaint the shop\n")
    return bare_world(tmp_path) | {
        "OPENROUTER_API_KEY": "sk-or-canary-0123456789abcdef",
        "OPENROUTER_BASE_URL": f"{models.url}/v1",
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]),
        "PYTHONWARNINGS": "error",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.fixture
def assay(commands: Commands, world: dict[str, str], tmp_path: Path) -> Assay:
    """Run a line of the page."""

    async def run(line: str, its_id: str = "") -> Done:
        command, *arguments = shlex.split(line)
        assert command == "assay"
        words = (its_id if one in ("RUN", "BATCH") else one for one in arguments)
        return await commands.run(*words, cwd=tmp_path, env=world)

    return run


async def test_a_command_of_the_page_runs_the_protocol_within_a_cap(assay: Assay, models: LoopbackServer) -> None:
    done = await assay(next(line for line in commands_of(PAGE) if "--max-calls" in line))
    assert (done.code, len(models.requests)) == (3, 2), done.err
    assert "assay runs resume" in done.err


@pytest.mark.long
async def test_the_commands_of_the_page_do_what_it_says(assay: Assay, models: LoopbackServer, tmp_path: Path) -> None:
    lines = [line for line in commands_of(PAGE) if not line.startswith("assay batch")]
    listed, helped, capped, resumed, runs, shown, replayed, seated, refused = lines

    assert "premortem Learn why a plan will have failed." in " ".join((await assay(listed)).out.split())
    text = (await assay(helped)).out
    assert "[PLAN]" in text and "--voices" in text and "--budget USD" in text

    done = await assay(capped)
    assert (done.code, len(models.requests)) == (3, 2), done.err
    found = re.search(r"assay runs resume (\S+)", done.err)
    assert found is not None
    run_id = found[1]

    done = await assay(resumed, run_id)
    assert (done.code, len(models.requests)) == (0, 4), done.err
    report = (tmp_path / "premortem.html").read_text(encoding="utf-8")
    assert report.count("Nobody had the password.") == 1 and "<strong>Move</strong> nothing on a Friday." in report

    assert run_id in (await assay(runs)).out
    text = (await assay(shown, run_id)).out
    assert "Warning" in text and "Nobody had the password." in text
    done = await assay(replayed, run_id)
    assert (done.code, len(models.requests)) == (0, 4), done.err

    done = await assay(seated)
    assert done.json["result"]["warning"] == "**Move** nothing on a Friday.", done.err
    assert [one.model for one in models.requests[4:]] == ["openrouter/auto"] * 3 + ["vendor/model"]

    done = await assay(refused)
    assert (done.code, done.err.count("\n")) == (2, 1) and "--voices" in done.err
    assert len(models.requests) == 8


@pytest.mark.long
async def test_the_pages_have_its_form_its_refusals_and_its_runs(
    assay: Assay, models: LoopbackServer, world: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("starlette", reason="the web extra is not installed")
    pytest.importorskip("jinja2", reason="the web extra is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assay", "serve", "--port", str(port)),
        cwd=tmp_path,
        env={**world, "ASSAY_TOKEN": TOKEN},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert serving.stdout is not None
        assert f":{port}/" in (await serving.stdout.readline()).decode()
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=headers) as client:
            async with client.get("/new?kind=premortem.review") as response:
                form = await response.text()
            assert 'name="plan"' in form and 'name="voices"' in form and "Hold a premortem" in form

            asked: dict[str, Any] = json.loads(blocks_of(PAGE, "json")[0])
            async with client.post("/runs.json", json={**asked, "voices": 12}) as response:
                assert response.status == 400
                assert (await response.json())["message"].startswith("voices: ")
            async with client.post("/runs.json", json=asked) as response:
                assert response.status == 201
                run_id = (await response.json())["run_id"]
            async with client.get(f"/runs/{run_id}/stream") as response:
                assert "premortem.cause" in await response.text()
            async with client.get(f"/runs/{run_id}") as response:
                page = await response.text()
            assert "nothing on a Friday." in page and "Nobody had the password." in page
    finally:
        serving.terminate()
        await serving.communicate()
    assert len(models.requests) == 3
    assert run_id in (await assay("assay runs list")).out


@pytest.mark.long
async def test_a_batch_puts_it_to_every_row(assay: Assay, models: LoopbackServer) -> None:
    worked, results, report = (line for line in commands_of(PAGE) if line.startswith("assay batch"))
    done = await assay(worked)
    assert done.code == 0, done.err
    found = re.search(r"^batch (\S+)$", done.err, re.MULTILINE)
    assert found is not None
    assert len(models.requests) == 4

    rows = [json.loads(line) for line in (await assay(results, found[1])).out.splitlines()]
    assert [row["result"]["causes"] for row in rows] == [["Nobody had the password."]] * 2
    assert [row["task"]["plan"] for row in rows] == ["Move the shop", "Paint the shop"]
    assert "Causes" in (await assay(report, found[1])).out

    again = await assay(worked)
    assert (again.code, len(models.requests)) == (0, 4), again.err
