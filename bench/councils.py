"""Councils over real HTTP against bare aiohttp making the same calls: CPU a council, and calls a second."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import aiohttp
from pydantic import SecretStr

from bench.figures import Figure
from crucible import Crucible, EngineConfig
from llm_runtime.events import RunStarted
from llm_runtime.gateway import Gateway
from llm_runtime.keys import Key
from llm_runtime.messages import Generate, Request
from llm_runtime.settings import ConfigFile, LimitEntry, Settings
from llm_runtime.store import open_store
from llm_runtime.wrappers.accounts import Caps
from llm_runtime.wrappers.recording import recording

CALLS = 18
ROUNDS = 9
COUNCILS = 12


@contextmanager
def server(latency: float) -> Generator[str]:
    """A server with ``latency`` seconds an answer; yields its base URL."""
    command = [sys.executable, "-m", "bench.server", str(latency)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/v1"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def gateway(url: str) -> Gateway:
    """Every wrapper on, as `assay ask --budget 100` has it."""
    settings = Settings(
        keys={"openrouter": Key(SecretStr("sk-bench"), "bench")},
        base_urls={"openrouter": url},
        # The default of 64 calls in flight would be what the throughput figure measures.
        config=ConfigFile(limits={"openrouter": LimitEntry(in_flight=1000)}),
    )
    return Gateway(settings, caps=Caps(cost=10**12, calls=10**9, seconds=3600.0))


async def council(generate: Generate) -> None:
    config = EngineConfig(
        openrouter_api_key="",
        generate=generate,
        triage_model="openrouter/auto-triage",
        default_model="openrouter/auto",
    )
    await Crucible(config, seed=1).run("Should a small team split its monolith?")


async def captured(url: str) -> list[list[Request]]:
    """The requests of one council, in the groups that go out together."""
    requests: list[Request] = []
    async with gateway(url) as open_gateway:

        async def spy(request: Request):
            requests.append(request)
            return await open_gateway.generate(request)

        await council(spy)
    groups: list[list[Request]] = []
    for request in requests:
        place = (request.label.phase, request.label.round)
        if groups and (groups[-1][0].label.phase, groups[-1][0].label.round) == place:
            groups[-1].append(request)
        else:
            groups.append([request])
    assert sum(map(len, groups)) == CALLS, [len(group) for group in groups]
    return groups


async def bare(session: aiohttp.ClientSession, url: str, groups: list[list[Request]]) -> None:
    """The same calls with nothing around them but JSON."""

    async def call(request: Request) -> str:
        body = {
            "model": request.model,
            "messages": [{"role": m.role, "content": m.content} for m in request.messages],
        }
        async with session.post(f"{url}/chat/completions", json=body) as response:
            data = await response.json()
            return data["choices"][0]["message"]["content"]

    for group in groups:
        await asyncio.gather(*map(call, group))


async def cpu_ratios(url: str) -> tuple[list[float], list[float], list[float]]:
    """CPU milliseconds a council: bare, through the gateway, and recorded; alternating in one process."""
    groups = await captured(url)
    took: tuple[list[float], list[float], list[float]] = ([], [], [])
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder) / "runs.db")
        started = RunStarted(run_id="bench", protocol="crucible", title="", task={}, settings={}, seed=1)
        log = store.start(started)
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector) as session, gateway(url) as open_gateway:
            recorded = recording(open_gateway.generate, log.emit)
            works: list[Callable[[], Awaitable[None]]] = [
                lambda: bare(session, url, groups),
                lambda: council(open_gateway.generate),
                lambda: council(recorded),
            ]
            for round_number in range(ROUNDS + 1):
                for work, figures in zip(works, took, strict=True):
                    gc.collect()
                    begun = time.process_time()
                    for _ in range(COUNCILS):
                        await work()
                    if round_number:  # the first round warms up
                        figures.append((time.process_time() - begun) * 1000 / COUNCILS)
        log.close()
        store.close()
    return took


async def throughput(url: str, councils: int = 64) -> tuple[float, float]:
    """Wall seconds for 64 councils at once: bare and through the gateway."""
    groups = await captured(url)
    walls: list[tuple[float, float]] = []
    async with (
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session,
        gateway(url) as open_gateway,
    ):
        for _ in range(3):
            begun = time.perf_counter()
            await asyncio.gather(*(bare(session, url, groups) for _ in range(councils)))
            middle = time.perf_counter()
            await asyncio.gather(*(council(open_gateway.generate) for _ in range(councils)))
            walls.append((middle - begun, time.perf_counter() - middle))
    return min(a for a, _ in walls), min(b for _, b in walls)


def figures() -> Iterator[Figure]:
    """The council figures."""
    with server(0) as url:
        plain, wrapped, recorded = map(median, asyncio.run(cpu_ratios(url)))
    yield Figure("CPU a council of 18 calls, bare aiohttp", plain, "ms")
    yield Figure("... through the gateway, every wrapper on", wrapped / plain, "x", at_most=1.5)
    yield Figure("... and recorded in the store", recorded / plain, "x", at_most=2.0)
    with server(0.05) as url:
        plain, ours = asyncio.run(throughput(url))
    yield Figure("64 councils at 50 ms an answer, of bare aiohttp's pace", plain / ours, "x", at_least=0.8)
