"""Whole processes: import and start-up times, memory, and the replay of a council."""

from __future__ import annotations

import asyncio
import gc
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from statistics import median

from bench.figures import Figure
from bench.server import POSITION, TRIAGE
from crucible import Crucible, EngineConfig
from llm_runtime.events import Event
from llm_runtime.messages import Generate
from llm_runtime.providers.scripted import scripted
from llm_runtime.replay import Recording
from llm_runtime.wrappers.recording import recording
from llm_runtime.wrappers.replaying import replaying

ONE_COUNCIL = """
import asyncio, sys
from bench.clients import gateway
async def main():
    async with gateway(sys.argv[1]) as council:
        await council()
asyncio.run(main())
try:
    # Not ru_maxrss first: on Linux a child starts with what its parent had at the most.
    lines = open("/proc/self/status").read().splitlines()
    print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024)
except OSError:
    import resource
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1024))
"""


def start_up(*arguments: str) -> float:
    """Median wall seconds of a fresh interpreter over seven runs, the first not counted."""
    walls: list[float] = []
    for run in range(8):
        begun = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        if run:
            walls.append(time.perf_counter() - begun)
    return median(walls)


def replay_cost() -> float:
    """Median CPU milliseconds of replaying a recorded council of 18 calls."""
    import json

    events: list[Event] = []
    model = scripted(lambda request: json.dumps(TRIAGE) if request.label.phase == "triage" else POSITION)

    async def run(generate: Generate) -> None:
        await Crucible(EngineConfig(openrouter_api_key="", generate=generate), seed=1).run("Split it?")

    asyncio.run(run(recording(model, events.append)))
    recorded = Recording.from_events(events)

    async def replays() -> list[float]:
        took: list[float] = []
        for _ in range(30):
            gc.collect()
            begun = time.process_time()
            await run(replaying(recorded))
            took.append((time.process_time() - begun) * 1000)
        return took

    return median(asyncio.run(replays()))


def figures() -> Iterator[Figure]:
    """The process figures."""
    from bench.server import server

    bare = start_up("-c", "pass")
    yield Figure("import crucible", start_up("-c", "import crucible") - bare, "s", at_most=0.2)
    yield Figure("assay --help, whole process", start_up("-m", "assay", "--help"), "s", at_most=0.4)
    yield Figure("replay of a council of 18 calls, CPU", replay_cost(), "ms", at_most=5)
    with server(0) as url:
        command = [sys.executable, "-c", ONE_COUNCIL, url]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ})
    yield Figure("memory of a process with one council", float(done.stdout), "MiB", at_most=60)
