"""What an endpoint lets through holds for all runs of a process together: they share limits, pauses and faults."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from pydantic import SecretStr
from tests.llm_runtime.test_slots import LlamaServer, ask

from llm_runtime.errors import DeadlineExceeded, ServerFault, StoreError
from llm_runtime.events import CallsQueued, EndpointPaused, Event
from llm_runtime.gateway import Gateway
from llm_runtime.http import Http
from llm_runtime.keys import Key
from llm_runtime.messages import Reply
from llm_runtime.settings import ConfigFile, Limits, Settings
from llm_runtime.shared import Shared
from llm_runtime.testing import LoopbackServer, Received
from llm_runtime.wrappers.accounts import Caps
from llm_runtime.wrappers.retrying import Backoff

#: Calls at once to a model of a vendor, where neither the vendor nor the user says how many.
UNSAID = Limits().in_flight or 0


def hosted(server: LoopbackServer, shared: Shared) -> Gateway:
    keys = {"openrouter": Key(SecretStr("sk-canary-0123456789"), "given")}
    return Gateway(Settings(keys, {"openrouter": f"{server.url}/v1"}), shared=shared)


class Run:
    """One run's gateway, made from settings that were read for it, and what it was told."""

    def __init__(self, shared: Shared, config: dict[str, Any], caps: Caps | None = None) -> None:
        self.events = list[Event]()
        self.fault: StoreError | None = None
        settings = Settings(config=ConfigFile.model_validate(config))
        self.gateway = Gateway(settings, caps=caps, emit=self.emit, shared=shared, backoff=Backoff(attempts=1))

    def emit(self, event: Event) -> None:
        if self.fault is not None:
            raise self.fault
        self.events.append(event)

    async def ask(self, count: int) -> list[Reply | BaseException]:
        calls = (self.gateway.generate(ask(number)) for number in range(count))
        return await asyncio.gather(*calls, return_exceptions=True)


@asynccontextmanager
async def runs(*configs: dict[str, Any], seconds: float | None = None) -> AsyncGenerator[list[Run]]:
    """Open runs side by side in one process; the last one has ``seconds``."""
    async with AsyncExitStack() as stack:
        shared = Shared(Http())
        stack.push_async_callback(shared.http.aclose)
        caps = [None] * (len(configs) - 1) + [Caps(seconds=seconds)]
        made = [Run(shared, config, cap) for config, cap in zip(configs, caps, strict=True)]
        for run in made:
            await stack.enter_async_context(run.gateway)
        yield made


async def test_two_runs_at_a_server_of_one_slot_send_one_call_at_a_time() -> None:
    server = LlamaServer(slots=1, together=1)
    async with server.listening() as url, runs(*[{"model": f"{url}#tiny"}] * 2) as (one, other):
        await asyncio.gather(one.ask(3), other.ask(3))
    assert server.most == 1 and len(server.order) == 6
    for run in (one, other):
        waiting = [event.waiting for event in run.events if isinstance(event, CallsQueued)]
        assert waiting and max(waiting) <= 3 and waiting[-1] == 0  # its own calls, not the other's


async def test_a_run_whose_time_is_up_waits_no_longer_for_the_place_of_another() -> None:
    server = LlamaServer(slots=1, together=2)
    async with server.listening() as url, runs(*[{"model": f"{url}#tiny"}] * 2, seconds=0.05) as (one, other):
        first = asyncio.ensure_future(one.ask(1))
        await server.came.wait()
        assert [type(fault) for fault in await other.ask(1)] == [DeadlineExceeded]
        await server.barrier.wait()  # lets the other run's call go
        assert [type(reply) for reply in await first] == [Reply]


async def test_keys_of_their_own_have_limits_of_their_own() -> None:
    server = LlamaServer(slots=1, together=2)
    async with server.listening() as base:
        entries = [{"endpoints": {"own": {"base_url": base, "in_flight": 1, "headers": {"X": key}}}} for key in "ab"]
        async with runs(*({"model": "own:tiny", **entry} for entry in entries)) as (one, other):
            await asyncio.gather(one.ask(1), other.ask(1))
    assert server.most == 2


async def test_a_limit_of_which_nobody_has_spoken_is_a_run_s_own() -> None:
    running = most = 0
    full = asyncio.Event()

    async def answer(_: Received) -> str:
        nonlocal running, most
        running += 1
        if (most := max(most, running)) == 2 * UNSAID:
            full.set()
        await full.wait()
        running -= 1
        return "yes"

    async with LoopbackServer(answer) as server, runs({}, {}) as (one, other):
        for run in (one, other):
            run.gateway = hosted(server, run.gateway.shared)
        await asyncio.gather(one.ask(UNSAID + 1), other.ask(UNSAID + 1))
    assert most == 2 * UNSAID


async def test_what_five_calls_of_several_runs_meet_holds_all_of_them_back_and_each_is_told() -> None:
    async with LoopbackServer((503, {"error": "down"})) as server:
        config = {"model": f"{server.url}/v1#tiny"}
        async with runs(config, config, config) as (full, one, other):
            full.fault = StoreError("the disk is full")
            faults = [*await full.ask(1), *await one.ask(2), *await other.ask(2)]
            assert len(faults) == 5 and all(isinstance(fault, ServerFault) for fault in faults)
            for run in (one, other):
                assert [event.seconds for event in run.events if isinstance(event, EndpointPaused)] == [30]
