"""Councils over real HTTP against a bare client that makes the same calls: CPU of the client, and pace."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

from bench.clients import Cost, hold, measured, settings
from bench.figures import Figure, spread
from bench.server import server
from llm_runtime.gateway import Gateway
from llm_runtime.messages import Request

CALLS = 18
#: How often all is measured: what the machine does meanwhile differs, so each ratio is of neighbours in time.
REPETITIONS = 5
LATENCY_S = 0.05
AT_ONCE = 64
#: Answers that wait for each other: triage, four loops of positions and a critique, synthesis.
STEPS = 10


async def _captured(url: str) -> list[Request]:
    requests: list[Request] = []
    async with Gateway(settings(url)) as gateway:

        async def spy(request: Request):
            requests.append(request)
            return await gateway.generate(request)

        await hold(spy)
    return requests


def calls() -> str:
    """Return what one council sends, in the groups that go out together, as the bare client reads it."""
    with server(0) as url:
        requests = asyncio.run(_captured(url))
    assert len(requests) == CALLS
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for request in requests:
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        group = groups.setdefault((request.label.phase, request.label.round), [])
        group.append({"model": request.model, "messages": messages})
    assert len(groups) == STEPS
    return json.dumps(list(groups.values()))


def figures() -> Iterator[Figure]:
    """The council figures."""
    sent = calls()
    rounds: list[dict[tuple[str, int], Cost]] = []
    with server(0) as at_once, server(LATENCY_S) as later:
        for _ in range(REPETITIONS):
            rounds.append(
                {
                    (kind, together): measured(kind, at_once if together == 1 else later, together, councils, sent)
                    for together, councils in ((1, 60), (AT_ONCE, 200))
                    for kind in ("bare", "gateway", "recorded")
                }
            )
    for together, named in ((1, "a council of 18 calls"), (AT_ONCE, "64 councils at a time")):
        bare = [costs["bare", together].cpu for costs in rounds]
        yield spread(f"CPU, {named}, bare aiohttp that streams", bare, "ms")
        for kind, words, bound in (("gateway", "through the gateway", 1.5), ("recorded", "as a recorded run", 2.0)):
            ratios = [costs[kind, together].cpu / costs["bare", together].cpu for costs in rounds]
            yield spread(f"... {words}", ratios, "x", at_most=bound)
    for kind in ("gateway", "recorded"):
        paces = [costs["bare", AT_ONCE].wall / costs[kind, AT_ONCE].wall for costs in rounds]
        yield spread(f"64 at a time, 50 ms an answer, of bare pace: {kind}", paces, "x", at_least=0.8)
    ideal = STEPS * LATENCY_S * 1000 / AT_ONCE
    for kind in ("bare", "gateway", "recorded"):
        yield spread(f"... of the ideal pace: {kind}", [ideal / costs[kind, AT_ONCE].wall for costs in rounds], "x")
