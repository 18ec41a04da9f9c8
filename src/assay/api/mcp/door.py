"""``/mcp`` of `assay serve`: asks for a key; what speaks the protocol is loaded for the first program that has one.

The SDK takes a second and many megabytes, which a server that no agent asks does without.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from assay.api.desk import Desk
from assay.api.key_gate import KeyGate
from assay.api.refused import Refused


class Door:
    """An ASGI application.

    Args:
        desk: takes the orders.
        gate: knows the programs by their keys.
    """

    def __init__(self, desk: Desk, gate: KeyGate) -> None:
        self._desk = desk
        self._gate = gate
        self._manager: asyncio.Future[Any] | None = None
        self._closed = asyncio.Event()
        self._open: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        try:
            self._gate.caller({name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]})
        except Refused as fault:
            answer = JSONResponse({"error": str(fault)}, fault.status, {"www-authenticate": "Bearer"})
            await answer(scope, receive, send)
            return
        if self._manager is None:
            self._manager = asyncio.get_running_loop().create_future()
            self._open = asyncio.create_task(self._serve(self._manager), name="mcp")
        await (await asyncio.shield(self._manager)).handle_request(scope, receive, send)

    async def _serve(self, manager: asyncio.Future[Any]) -> None:
        # A task of its own: what is open is let go by the task that opened it.
        try:
            serving = await asyncio.to_thread(import_module, "assay.api.mcp.serving")
            async with serving.sessions(self._desk, self._gate) as opened:
                manager.set_result(opened)
                await self._closed.wait()
        except Exception as fault:
            if manager.done():
                raise
            manager.set_exception(fault)

    async def aclose(self) -> None:
        """Let everything go."""
        self._closed.set()
        if self._open is not None:
            await self._open
