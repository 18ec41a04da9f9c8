"""The doors for programs as addresses of `assay serve`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from importlib.util import find_spec

from starlette.routing import BaseRoute, Route

from assay.api.catalogue import chat_models
from assay.api.desk import GRACE_S, Desk
from assay.api.key_gate import KeyGate
from assay.api.keys import ApiKeys
from assay.api.mcp.door import Door
from assay.api.openai import ChatEndpoint
from assay.hooks import hooks_of
from assay.web.app_state import AppState
from assay.web.serving import Doors


def program_doors(grace_s: float = GRACE_S) -> Doors:
    """Return what opens the OpenAI endpoint, and ``/mcp`` where the extra is installed.

    Args:
        grace_s: seconds for which a run goes on that nobody waits for any more.

    Raises:
        ConfigurationError: a preset or the file of keys is at fault.
    """
    chat_models()
    keys = ApiKeys()
    keys.all()

    @asynccontextmanager
    async def opened(site: AppState) -> AsyncGenerator[Sequence[BaseRoute]]:
        desk = Desk(site.store, site.hub, site.runs, site.questions, grace_s, site.closing)
        gate = KeyGate(keys, site.gate.token, site.gate.people)
        async with AsyncExitStack() as stack:
            stack.push_async_callback(desk.aclose)
            # In a thread, once the server answers: the first program that asks has its first byte within a second.
            stack.push_async_callback(asyncio.wait, [asyncio.create_task(asyncio.to_thread(_load))])
            routes = ChatEndpoint(desk, gate).routes()
            if find_spec("mcp") is not None:
                door = Door(desk, gate)
                stack.push_async_callback(door.aclose)
                routes.append(Route("/mcp", door, methods=["GET", "POST", "DELETE"]))
            yield routes

    return opened


def _load() -> None:
    """Load what a question to the first model takes."""
    hooks_of(next(iter(chat_models().values())).run).fold(0)
    for module in ("aiohttp", "llm_runtime.gateway"):
        import_module(module)
