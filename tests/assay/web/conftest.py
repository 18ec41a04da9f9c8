"""The web application on a real socket, over a store in a folder, with runs of a council that a script answers."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.commands import bare_world

pytest.importorskip("jinja2", reason="the web extra is not installed")
pytest.importorskip("starlette", reason="the web extra is not installed")
pytest.importorskip("uvicorn", reason="the web extra is not installed")

import aiohttp
import uvicorn
from tests.crucible.records import ANSWER, played

from assay.launch import Launcher
from assay.registry import read_run
from assay.web.app_state import AppState
from assay.web.guard import Gate
from assay.web.serving import Doors, application, listening, no_doors
from llm_runtime.messages import Reply, Request, Usage
from llm_runtime.settings import Settings, load_settings
from llm_runtime.store import RunStore, open_store
from llm_runtime.testing import LoopbackServer, Received

TOKEN = "a-token-for-tests-0123"
TRIAGE: dict[str, Any] = {
    "reconstructed_query": "Which database should a team of three run?",
    "complexity": "complex",
    "short_circuit_allowed": False,
    "council": [
        {"role": "domain_expert", "system_prompt": "You know databases.", "model_hint": None},
        {"role": "pragmatist", "system_prompt": "You run databases.", "model_hint": None},
        {"role": "red_team", "system_prompt": "Attack.", "model_hint": None},
    ],
    "loop_grammar": "parallel",
    "loop_count": 2,
    "red_team_flavor": "logical",
    "allow_early_exit": True,
    "synthesis_instruction": "One paragraph.",
}


def council_answer(received: Received) -> str:
    """A whole council's answers, told apart by what was asked."""
    first = received.messages[0].content
    if first.startswith("You are the triage agent"):
        return json.dumps(TRIAGE)
    if first.startswith("You are synthesizing"):
        return "**Use SQLite** until it hurts."
    return played(received.messages[-1].content, ANSWER | {"answer": "**Use SQLite** until it hurts."}) or (
        f"Opinion after {len(received.messages)} messages."
    )


@dataclass
class Web:
    """The application under test, and a client that it knows."""

    url: str
    site: AppState
    client: aiohttp.ClientSession

    @property
    def pages(self) -> str:
        """Where a browser that is signed in finds the pages."""
        return self.url + self.site.gate.root

    @property
    def store(self) -> RunStore:
        return self.site.store

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        async with self.client.get(self.url + path, headers=headers, allow_redirects=False) as answer:
            return answer.status, await answer.text()

    async def json(self, path: str) -> Any:
        async with self.client.get(self.url + path, headers={"accept": "application/json"}) as answer:
            return await answer.json()

    async def post(self, path: str, /, **said: Any) -> tuple[int, Any]:
        headers = {"accept": "application/json"}
        async with self.client.post(self.url + path, json=said, headers=headers) as answer:
            return answer.status, await answer.json()

    async def state(self, run_id: str, wanted: str) -> None:
        """Wait until the run's own stream says that it is over, and look that it ended as wanted."""
        async for kind, _, _ in self.stream(run_id):
            if kind == "end":
                break
        assert self.store.summary(run_id).state == wanted

    async def stream(
        self, run_id: str, query: str = "", last: int | None = None
    ) -> AsyncIterator[tuple[str, int | None, Any]]:
        """The messages of a run's stream: kind, id, data."""
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        async with self.client.get(f"{self.url}/runs/{run_id}/stream?{query}", headers=headers) as answer:
            fields: dict[str, str] = {}
            async for raw in answer.content:
                line = raw.decode().rstrip("\n")
                if line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
                elif "event" in fields:
                    number = int(fields["id"]) if "id" in fields else None
                    yield fields["event"], number, json.loads(fields["data"])
                    fields = {}
                else:
                    fields = {}


class _Server(uvicorn.Server):
    """Begins and ends at once, where uvicorn's own loop looks each tenth of a second whether it shall."""

    async def begin(self, listener: socket.socket) -> None:
        self.config.load()
        self.lifespan = self.config.lifespan_class(self.config)
        await self.startup([listener])
        await self.on_tick(0)

    async def end(self) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        if answering := set(self.server_state.tasks):
            _, late = await asyncio.wait(answering, timeout=1)
            for task in late:
                task.cancel()
        await self.lifespan.shutdown()


@asynccontextmanager
async def served(
    store: RunStore,
    settings: Callable[[], Settings] = load_settings,
    gate: Gate | None = None,
    doors: Doors = no_doors,
    port: int = 0,
) -> AsyncIterator[Web]:
    """The application on a free port of this machine, or on one of before."""
    gate = gate or Gate(token=TOKEN)
    site = AppState(store, gate, settings)
    listener = listening("127.0.0.1", port)
    server = _Server(uvicorn.Config(application(site, doors), log_level="warning", ws="none"))
    await server.begin(listener)
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    # The server reads whole requests as they come, so the one buffer limit that matters is ours for lines.
    async with aiohttp.ClientSession(
        headers={"Authorization": f"Bearer {TOKEN}"}, read_bufsize=2**22, max_line_size=2**20
    ) as client:
        try:
            yield Web(url, site, client)
        finally:
            site.end_streams()
            await server.end()
            listener.close()


@pytest.fixture
def store(tmp_path: Path) -> RunStore:
    return open_store(tmp_path / "runs.db")


@pytest.fixture
async def models() -> AsyncIterator[LoopbackServer]:
    """A model server on this machine that answers for a whole council."""
    async with LoopbackServer(council_answer) as running:
        yield running


@pytest.fixture
async def web(store: RunStore) -> AsyncIterator[Web]:
    async with served(store) as running:
        yield running
    store.close()


Council = Callable[..., Awaitable[str]]


@pytest.fixture
def council(store: RunStore) -> Council:
    """Runs a council to its end, in the store; returns its id. ``answer`` may replace any text by its phase."""

    async def run(name: str = "council-1", query: str = "Which database?", form: str = "records", **texts: str) -> str:
        async def model(request: Request) -> Reply:
            phase = request.label.phase
            text = json.dumps(TRIAGE) if phase == "triage" else f"{request.label.seat or phase} answers."
            text = played(request.messages[-1].content, ANSWER | {"answer": texts.get(phase, text)}) or text
            return Reply(
                texts.get(phase, text) if phase != "synthesis" else text,
                "vendor/model-1",
                "scripted",
                Usage(100, 10),
                cost=1_500,
                cost_source="table",
            )

        run = read_run("crucible.council", {"query": query}, {"form": form})
        running = await Launcher(store, Settings).start(run, run_id=name, seed=7, model=model)
        outcome = await running.outcome()
        assert outcome.state == "finished", outcome.error
        return name

    return run


@pytest.fixture
async def page(serve: Serve) -> AsyncIterator[Any]:
    """A page of a real browser; whatever it writes to its console fails the test.

    It ends before the servers of the test do, for it would report each stream that they had not yet ended.
    """
    playwright = pytest.importorskip("playwright.async_api", reason="playwright is not installed: no browser")
    said: list[str] = []
    async with playwright.async_playwright() as driver:
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = await driver.chromium.launch(executable_path=shutil.which("chromium"), args=flags)
        opened = await browser.new_page()
        # A page that shows nothing for so long has lost something.
        opened.set_default_timeout(180_000)
        opened.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        opened.on("pageerror", lambda fault: said.append(str(fault)))
        opened.said = said
        yield opened
        await browser.close()
    assert said == []


Serve = Callable[..., Awaitable[tuple[asyncio.subprocess.Process, str]]]
MAIN = "import sys; from assay.cli import run; from assay.cli.serve import serve; sys.exit(run(serve))"


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    """Starts `assay serve` as a process of its own; returns it and the address that it printed."""
    started: list[asyncio.subprocess.Process] = []

    async def start(models: LoopbackServer, port: int = 0) -> tuple[asyncio.subprocess.Process, str]:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", MAIN, "--port", str(port)),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            cwd=tmp_path,
            env=bare_world(
                tmp_path,
                ASSAY_TOKEN=TOKEN,
                OPENROUTER_API_KEY="sk-canary-0123456789",
                OPENROUTER_BASE_URL=f"{models.url}/v1",
            ),
        )
        started.append(process)
        assert process.stdout is not None
        line = (await process.stdout.readline()).decode()
        return process, line.removeprefix("Assay is at ").strip()

    yield start
    for process in started:
        if process.returncode is None:
            process.kill()
        await process.wait()
        process._transport.close()  # type: ignore[attr-defined]  # its pipes outlive it otherwise
