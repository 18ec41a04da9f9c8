"""Two `assay serve` on one store: each shows the other's runs, owns its own, and leaves what the other drives alone."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.assay.batch.batch_shell import CALLS, Shell
from tests.extent import PATIENCE

from llm_runtime.store import open_store
from llm_runtime.store.verify import verify
from llm_runtime.testing import LoopbackServer

TOKEN = "a token of two servers"


@asynccontextmanager
async def serving(shell: Shell) -> AsyncGenerator[aiohttp.ClientSession]:
    """A server of its own process, and a client that has its token; the process is ended as a person ends it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assay", "serve", "--port", str(port)),
        cwd=shell.folder,
        env={**shell.environment, "ASSAY_TOKEN": TOKEN, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert process.stdout is not None
        assert f":{port}/" in (await process.stdout.readline()).decode()
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=headers) as client:
            yield client
    finally:
        process.terminate()
        await process.communicate()


async def told(client: aiohttp.ClientSession, path: str) -> Any:
    async with client.get(path, headers={"Accept": "application/json"}) as response:
        assert response.status == 200, await response.text()
        return await response.json()


async def begun(client: aiohttp.ClientSession, question: str) -> str:
    asked = {"kind": "crucible.council", "query": question}
    async with client.post("/runs.json", json=asked) as response:
        assert response.status == 201, await response.text()
        return (await response.json())["run_id"]


async def ended(client: aiohttp.ClientSession, run_id: str) -> dict[str, Any]:
    """Follow a run as a page does until it ends; return what is told of it then."""
    async with asyncio.timeout(PATIENCE), client.get(f"/runs/{run_id}/stream") as response:
        await response.read()
    return (await told(client, f"/runs/{run_id}"))["run"]


@pytest.mark.process
async def test_two_servers_on_one_store_share_what_they_show_and_drive_their_own(
    shell: Shell, server: LoopbackServer
) -> None:
    pytest.importorskip("starlette", reason="the web extra is not installed")
    async with AsyncExitStack() as stack:
        one, other = [await stack.enter_async_context(serving(shell)) for _ in range(2)]
        ids = await asyncio.gather(*(begun(site, f"Why {n}?") for n in range(2) for site in (one, other)))
        # A run is followed at either of them, whichever drives it.
        runs = [await ended(site, run_id) for site, run_id in zip([other, one] * 2, ids, strict=True)]
        assert [run["state"] for run in runs] == ["finished"] * 4
        for site in (one, other):
            assert {run["run_id"] for run in (await told(site, "/runs"))["runs"]} == {*ids}
        assert len(server.requests) == 4 * CALLS  # nobody drove another's run
    with closing(open_store(str(Path(shell.environment["ASSAY_DATA_DIR"]) / "runs.db"))) as store:
        assert all(verify(store, run_id).ok for run_id in ids)
