"""The doors for programs under load: 32 at once at `/v1` of a real `assay serve`, and calls of `/mcp` that wait."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp

from assay.api.keys import ApiKey, ApiKeys
from bench.figures import Figure
from bench.pages import TOKEN, served
from bench.server import POSITION, TRIAGE
from llm_runtime.store import open_store
from llm_runtime.testing import LoopbackServer, Received

AT_ONCE = 32
BUDGET = 1.0
"""Dollars of the key that all have: some of them find it spent."""
_MCP = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25"}


@asynccontextmanager
async def doors(script: Any) -> AsyncGenerator[tuple[str, Path]]:
    """A server before a model server that answers by ``script``, configured in a folder of its own."""
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "runs.db"
        (Path(folder) / "prices.toml").write_text('[prices]\n"*" = { input = 1, output = 1 }\n')
        async with LoopbackServer(script, cost=0.002) as models:
            os.environ |= {
                **{"ASSAY_CONFIG_DIR": folder, "ASSAY_LOCAL_SERVERS": "", "OPENROUTER_API_KEY": "sk-bench"},
                "OPENROUTER_BASE_URL": f"{models.url}/v1",
            }
            try:
                # Starting it waits for its first line; the model server must not stand still meanwhile.
                entered = served(store)
                url, _ = await asyncio.to_thread(entered.__enter__)
                yield url, store
                await asyncio.to_thread(entered.__exit__, None, None, None)
            finally:
                os.environ.clear()
                os.environ.update(before)


def council(received: Received) -> str:
    """One answer of a council, as soon as it is asked for."""
    return json.dumps(TRIAGE) if received.messages[0].content.startswith("You are the triage agent") else POSITION


async def streams() -> Iterator[Figure]:
    """So many programs ask at once with one key: when each hears the first byte, and what became of each."""

    async def ask(session: aiohttp.ClientSession, url: str, number: int) -> tuple[float, str]:
        asked = {"role": "user", "content": f"Question {number}?"}
        body = {"model": "assay/crucible", "messages": [asked], "stream": True, "assay": {"form": "prose"}}
        began, first, text = time.perf_counter(), 0.0, b""
        async with session.post(f"{url}/v1/chat/completions", json=body) as answer:
            async for chunk in answer.content.iter_any():
                first = first or time.perf_counter() - began
                text += chunk
        return first, text.decode()

    async with doors(council) as (url, store):
        key = ApiKeys().add(ApiKey(name="bench", hash="", budget=BUDGET, per="ever"))
        headers = {"authorization": f"Bearer {key}"}
        connector, patience = aiohttp.TCPConnector(limit=0), aiohttp.ClientTimeout(total=600)
        async with aiohttp.ClientSession(headers=headers, connector=connector, timeout=patience) as session:
            # As chat programs do, and by then the server has loaded what it needs.
            await (await session.get(f"{url}/v1/models")).read()
            heard = await asyncio.gather(*(ask(session, url, number) for number in range(AT_ONCE)))
        runs = list(open_store(store).runs())
    ended = [text for _, text in heard if text.endswith("data: [DONE]\n\n")]
    answered = sum('"finish_reason": "stop"' in text for text in ended)
    refused = sum("budget_exceeded" in text for text in ended)
    spent = sum(run.cost for run in runs) / 1e6
    return iter(
        [
            Figure(f"/v1, {AT_ONCE} at once, first byte, worst", max(first for first, _ in heard), "s", at_most=1),
            Figure(f"/v1, lost of {AT_ONCE} ({answered} answers, {refused} times 402)",
                   AT_ONCE - answered - refused + AT_ONCE - len(runs), "", at_most=0),
            Figure(f"/v1, overspent of ${BUDGET:g} (${spent:.3f} spent)", max(spent - BUDGET, 0), "USD", at_most=0),
        ]
    )  # fmt: skip


async def waits() -> Figure:
    """Agents ask councils whose models never answer, beside streams at `/v1`: after how long each call returns."""
    never = asyncio.Event()

    async def silent(_: Received) -> str:
        await never.wait()
        return ""

    async def call(session: aiohttp.ClientSession, url: str, number: int) -> float:
        params = {"name": "ask", "arguments": {"question": f"Question {number}?"}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        began = time.perf_counter()
        async with session.post(f"{url}/mcp", json=body) as answer:
            text = await answer.text()
        assert "run_result" in text, text[:300]
        return time.perf_counter() - began

    async with doors(silent) as (url, _):
        headers = {"authorization": f"Bearer {TOKEN}", **_MCP}
        async with aiohttp.ClientSession(headers=headers, connector=aiohttp.TCPConnector(limit=0)) as session:
            took = await asyncio.gather(*(call(session, url, number) for number in range(AT_ONCE)))
        never.set()
    return Figure(f"/mcp, {AT_ONCE} calls that wait, returned after, worst", max(took), "s", at_most=50)


def figures() -> Iterator[Figure]:
    """The figures of the doors for programs."""
    yield from asyncio.run(streams())
    yield asyncio.run(waits())
