"""Councils over real HTTP against a bare client that makes the same calls: CPU of the client, and pace."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.clients import Cost, hold, measured, recorded_in, settings
from bench.figures import Figure, spread
from bench.server import server
from llm_runtime.events import CallStarted
from llm_runtime.gateway import Gateway
from llm_runtime.messages import Request

#: How often all is measured: what the machine does meanwhile differs, so each ratio is of neighbours in time.
REPETITIONS = 5
LATENCY_S = 0.05
AT_ONCE = 64
#: Calls of a council, and answers that wait for each other: triage, four loops of positions and a critique,
#: synthesis. In a recorded one the clerk reads the four critiques besides, one after the other.
SIZES = {"gateway": (18, 10), "recorded": (22, 14)}
#: Bare clients: one that reads whole answers, which is what a user would write, and one that streams and parses.
_WHOLE, _STREAMED = "bare, whole answers", "bare, streamed"
#: What a council may cost beside the first.
_BOUNDS = {"gateway": 1.5, "recorded": 3.0}
#: And in all.
_MOST_MS = {"recorded": 25.0}


async def _captured(url: str) -> list[dict[str, Any]]:
    requests: list[dict[str, Any]] = []
    async with Gateway(settings(url)) as gateway:

        async def spy(request: Request):
            requests.append(request.to_dict())
            return await gateway.generate(request)

        await hold(spy)
    return requests


async def _captured_recorded(url: str) -> list[dict[str, Any]]:
    with TemporaryDirectory() as folder:
        async with recorded_in(Path(folder), url) as (store, council):
            await council()
            events = [event for _, event in store.events(store.find("latest"))]
    return [event.request for event in events if isinstance(event, CallStarted)]


def calls(kind: str) -> str:
    """Return what one council of a kind sends, in the groups that go out together, as the bare client reads it."""
    with server(0) as url:
        requests = asyncio.run((_captured if kind == "gateway" else _captured_recorded)(url))
    groups: dict[tuple[str, int], list[dict[str, Any]]] = {}
    for request in requests:
        group = groups.setdefault((request["label"]["phase"], request["label"]["round"]), [])
        group.append({"model": request["model"], "messages": request["messages"]})
    assert (len(requests), len(groups)) == SIZES[kind], (len(requests), len(groups))
    return json.dumps(list(groups.values()))


def figures() -> Iterator[Figure]:
    """The council figures: each kind beside bare clients that make the same calls."""
    sent = {kind: calls(kind) for kind in SIZES}
    rounds: list[dict[tuple[str, str, int], Cost]] = []
    with server(0) as at_once, server(LATENCY_S) as later:
        for _ in range(REPETITIONS):
            rounds.append(
                {
                    (kind, client, together): measured(
                        client, at_once if together == 1 else later, together, count, sent[kind]
                    )
                    for together, count in ((1, 60), (AT_ONCE, 200))
                    for kind in SIZES
                    for client in (_WHOLE, kind, _STREAMED)
                }
            )
    for together, named in ((1, "one at a time"), (AT_ONCE, "64 at a time")):
        for kind, bound in _BOUNDS.items():
            costs = {client: [one[kind, client, together].cpu for one in rounds] for client in (_WHOLE, _STREAMED)}
            yield spread(f"CPU, a council of {SIZES[kind][0]} calls, {named}, {_WHOLE}", costs[_WHOLE], "ms")
            own = [one[kind, kind, together].cpu for one in rounds]
            yield spread(f"... {kind}", own, "ms", at_most=_MOST_MS.get(kind))
            for client, bare in costs.items():
                ratios = [one[kind, kind, together].cpu / cost for one, cost in zip(rounds, bare, strict=True)]
                yield spread(f"... {kind}, of {client}", ratios, "x", at_most=bound if client == _WHOLE else None)
    for kind, (_, steps) in SIZES.items():
        paces = [one[kind, _WHOLE, AT_ONCE].wall / one[kind, kind, AT_ONCE].wall for one in rounds]
        yield spread(f"64 at a time, 50 ms an answer, of bare pace: {kind}", paces, "x", at_least=0.8)
        ideal = steps * LATENCY_S * 1000 / AT_ONCE
        for client in (_WHOLE, kind):
            shares = [ideal / one[kind, client, AT_ONCE].wall for one in rounds]
            yield spread(f"... of the ideal pace: {client}", shares, "x")
