"""One kind of client in a process of its own, at a steady pace: what a council costs it, and how long it takes.

``python -m bench.clients KIND URL AT_ONCE COUNCILS`` prints a line of JSON. Nothing is measured until a third as
many councils have been held, and as many are under way at the end as at the beginning.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import aiohttp

    from llm_runtime.messages import Generate
    from llm_runtime.settings import Settings
    from llm_runtime.store import RunStore

Council: TypeAlias = Callable[[], Awaitable[object]]

QUESTION = "Should a small team split its monolith?"


@dataclass(frozen=True, slots=True)
class Cost:
    """What one council came to: milliseconds of CPU of the client's process, and of wall time at this pace."""

    cpu: float
    wall: float


def measured(kind: str, url: str, at_once: int, councils: int, calls: str) -> Cost:
    """Measure one kind of client in a new process; ``calls`` is what the bare one sends, as JSON."""
    command = [sys.executable, "-m", "bench.clients", kind, url, str(at_once), str(councils)]
    done = subprocess.run(command, check=True, input=calls, stdout=subprocess.PIPE, text=True)
    return Cost(**json.loads(done.stdout))


@asynccontextmanager
async def bare(url: str, *, streamed: bool) -> AsyncGenerator[Council]:
    """Make the same calls with aiohttp and JSON, and nothing around them."""
    import aiohttp

    groups: list[list[dict[str, Any]]] = json.load(sys.stdin)
    read = _streamed if streamed else _whole
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call(payload: dict[str, Any]) -> None:
            async with session.post(f"{url}/chat/completions", json={**payload, "stream": streamed}) as response:
                assert await read(response)

        async def council() -> None:
            for group in groups:
                await asyncio.gather(*map(call, group))

        yield council


async def _whole(response: aiohttp.ClientResponse) -> str:
    return (await response.json())["choices"][0]["message"]["content"]


async def _streamed(response: aiohttp.ClientResponse) -> str:
    # By pieces: reading line by line costs aiohttp three times as much, and would flatter us.
    text, rest = "", b""
    async for piece in response.content.iter_any():
        *events, rest = (rest + piece).split(b"\n\n")
        for event in events:
            if event != b"data: [DONE]":
                text += json.loads(event[6:])["choices"][0]["delta"].get("content", "")
    return text


def settings(url: str) -> Settings:
    """Return what a user has configured who holds a key for the server at ``url``."""
    from pydantic import SecretStr

    from llm_runtime.keys import Key
    from llm_runtime.settings import ConfigFile, Limits, Settings

    return Settings(
        keys={"openrouter": Key(SecretStr("sk-bench"), "bench")},
        base_urls={"openrouter": url},
        # The default of 64 calls in flight would be what is measured.
        config=ConfigFile(limits={"openrouter": Limits(in_flight=1000)}),
    )


async def hold(generate: Generate) -> None:
    """Hold one council."""
    from bench.server import TRIAGE_MODEL
    from crucible import Crucible, EngineConfig

    config = EngineConfig(
        openrouter_api_key="", generate=generate, triage_model=TRIAGE_MODEL, default_model="openrouter/auto"
    )
    await Crucible(config, seed=1).run(QUESTION)


@asynccontextmanager
async def gateway(url: str) -> AsyncGenerator[Council]:
    """Hold councils through one gateway, every wrapper on, as the library is used."""
    from llm_runtime.gateway import Gateway
    from llm_runtime.wrappers.accounts import Caps

    caps = Caps(cost=10**12, calls=10**9, seconds=3600.0)
    async with Gateway(settings(url), caps=caps) as opened:
        yield lambda: hold(opened.generate)


@asynccontextmanager
async def recorded_in(folder: Path, url: str) -> AsyncGenerator[tuple[RunStore, Council]]:
    """Hold councils as ``assay ask --budget 1000`` does: each a run of its own, with all that is written of it."""
    from assay.launch import Launcher
    from assay.registry import read_run
    from assay.terms import Terms
    from bench.server import TRIAGE_MODEL
    from llm_runtime.store import open_store

    options = {"form": "prose", "triage_model": TRIAGE_MODEL, "default_model": "openrouter/auto"}
    terms, configured = Terms(budget=1000.0, deadline=3600.0), settings(url)
    store = open_store(folder / "runs.db")
    launcher = Launcher(store, lambda: configured)

    async def council() -> None:
        run = read_run("crucible.council", {"query": QUESTION}, options)
        outcome = await (await launcher.start(run, terms)).outcome()
        assert outcome.state == "finished", outcome

    yield store, council
    store.close()


@asynccontextmanager
async def recorded(url: str) -> AsyncGenerator[Council]:
    """Hold recorded councils in a store of their own."""
    with TemporaryDirectory() as folder:
        async with recorded_in(Path(folder), url) as (_, council):
            yield council


KINDS: dict[str, Callable[[str], Any]] = {
    "bare, streamed": lambda url: bare(url, streamed=True),
    "bare, whole answers": lambda url: bare(url, streamed=False),
    "gateway": gateway,
    "recorded": recorded,
}


async def steady(council: Council, at_once: int, councils: int) -> Cost:
    """Keep ``at_once`` councils under way, and measure ``councils`` of them once a third as many have ended."""
    ended, last = 0, councils // 3 + councils
    stamps: dict[int, tuple[float, float]] = {}

    async def seat() -> None:
        nonlocal ended
        while ended < last:
            await council()
            ended += 1
            stamps[ended] = time.process_time(), time.perf_counter()

    await asyncio.gather(*(seat() for _ in range(at_once)))
    (cpu, wall), (cpu_then, wall_then) = stamps[councils // 3], stamps[last]
    return Cost((cpu_then - cpu) * 1000 / councils, (wall_then - wall) * 1000 / councils)


async def main(kind: str, url: str, at_once: str, councils: str) -> None:
    """Measure, and print what came out; the collector looks seldom, as in our command line and workers."""
    from llm_runtime.garbage import collect_rarely

    collect_rarely()
    async with KINDS[kind](url) as council:
        print(json.dumps(asdict(await steady(council, int(at_once), int(councils)))))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
