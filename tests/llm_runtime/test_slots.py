"""A local server gets as many calls at once as it has slots, in the order in which they came; who waits is seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from llm_runtime.events import CallsQueued, Event
from llm_runtime.gateway import Gateway
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.settings import ConfigFile, Settings


class LlamaServer:
    """As much of llama-server as is asked here; it answers when all its slots, or all who are left, are busy."""

    def __init__(self, slots: int, together: int) -> None:
        self.slots = slots
        self.running = self.most = 0
        self.order = list[str]()
        self.came = asyncio.Event()
        self.barrier = asyncio.Barrier(together)

    async def props(self, _: web.Request) -> web.Response:
        return web.json_response({"default_generation_settings": {"n_ctx": 8192}, "total_slots": self.slots})

    async def models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "tiny", "owned_by": "llamacpp"}]})

    async def complete(self, request: web.Request) -> web.Response:
        asked: dict[str, Any] = await request.json()
        self.running += 1
        self.most = max(self.most, self.running)
        self.order.append(asked["messages"][0]["content"])
        self.came.set()
        await self.barrier.wait()
        self.running -= 1
        choice = {"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}
        return web.json_response({"model": "tiny", "choices": [choice]})

    @asynccontextmanager
    async def listening(self) -> AsyncGenerator[str]:
        app = web.Application()
        app.router.add_get("/props", self.props)
        app.router.add_get("/v1/models", self.models)
        app.router.add_post("/v1/chat/completions", self.complete)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        finally:
            await runner.cleanup()


def ask(number: int) -> Request:
    return Request("any", (Message("user", f"{number:02}"),), CallLabel("test", "ask", str(number)))


async def ask_eight(server: LlamaServer, **config: Any) -> list[Event]:
    events = list[Event]()
    async with server.listening() as url:
        settings = Settings(config=ConfigFile.model_validate({"model": f"{url}#tiny", **config}))
        async with Gateway(settings, emit=events.append) as gateway:
            await asyncio.gather(*(gateway.generate(ask(number)) for number in range(8)))
    return events


async def test_a_server_of_two_slots_gets_two_calls_at_once_in_their_order() -> None:
    server = LlamaServer(slots=2, together=2)
    events = await ask_eight(server)
    assert server.most == 2
    waves = [sorted(server.order[place : place + 2]) for place in range(0, 8, 2)]
    assert waves == [["00", "01"], ["02", "03"], ["04", "05"], ["06", "07"]]
    waiting = [event.waiting for event in events if isinstance(event, CallsQueued)]
    assert max(waiting) == 6 and waiting[-1] == 0


async def test_what_the_user_configured_goes_before_what_the_server_says() -> None:
    server = LlamaServer(slots=2, together=4)
    async with server.listening() as base:
        config = ConfigFile.model_validate({"endpoints": {"own": {"base_url": base, "in_flight": 4}}})
        async with Gateway(Settings(config=config)) as gateway:
            requests = [Request("own:tiny", ask(number).messages, ask(number).label) for number in range(8)]
            await asyncio.gather(*(gateway.generate(request) for request in requests))
    assert server.most == 4
