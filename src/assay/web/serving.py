"""The ASGI application and its serving: the address it listens at, what is printed, errors as pages, its end."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from assay.web.app_state import AppState, respond
from assay.web.guard import Gate, GuardMiddleware
from assay.web.listing import keep_words
from assay.web.permissions import NotAllowed
from assay.web.routes import routes
from assay.web.templating import render
from llm_runtime.errors import BudgetExceeded, ConfigurationError, LlmRuntimeError, RunNotFound, StoreBusy
from llm_runtime.store import RunStore

Doors: TypeAlias = Callable[[AppState], AbstractAsyncContextManager[Sequence[BaseRoute]]]
"""Opens further addresses over the application's parts, and closes them when it ends."""


@asynccontextmanager
async def no_doors(site: AppState) -> AsyncGenerator[Sequence[BaseRoute]]:
    """Open nothing beside the pages."""
    yield ()


def application(site: AppState, doors: Doors = no_doors) -> ASGIApp:
    """Make the whole application: the guard stands before everything, error pages included.

    Args:
        site: its parts.
        doors: opens further addresses, and closes them with the server.
    """

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        async with doors(site) as opened:
            # The pages have no address that one of these could take.
            app.router.routes[:0] = opened
            words = asyncio.create_task(_take_words(site), name="words")
            yield
            site.closing.set()
            site.close_models()
            await words
            await site.runs.close()
            await site.workers.close()
            await site.spending.aclose()

    faults = {LlmRuntimeError: _refused, HTTPException: _unknown, Exception: _broken}
    app = Starlette(routes=routes(), exception_handlers=faults, lifespan=lifespan)
    app.state.site = site
    # Streams are left as they are. Pages hold the secret path of the launch, which is in their address anyway.
    return GuardMiddleware(GZipMiddleware(app, compresslevel=5), site.gate)


async def _take_words(site: AppState) -> None:
    """Take the words of runs that nobody searched before, a few at a time."""
    left = 1
    while left and not site.closing.is_set():
        left = await asyncio.to_thread(keep_words, site.store)


#: What is told of our own errors: the status and the title of the page, the special ones first.
_REFUSALS: tuple[tuple[type[LlmRuntimeError], int, str], ...] = (
    (RunNotFound, 404, "Not found"),
    (StoreBusy, 409, "Busy"),
    (NotAllowed, 403, "Not allowed"),
    (BudgetExceeded, 402, "Nothing left to spend"),
    (ConfigurationError, 400, "That does not fit"),
    (LlmRuntimeError, 500, "Something is wrong"),
)


async def _refused(request: Request, fault: Exception) -> Response:
    """Show an error of ours, with what to do about it."""
    status, title = next((status, title) for kind, status, title in _REFUSALS if isinstance(fault, kind))
    return _told(request, fault, str(fault), title, status)


async def _broken(request: Request, fault: Exception) -> Response:
    """Show that Assay itself is at fault; the server's log has all of it."""
    return _told(request, fault, "a fault of Assay's own; the server's output says where", "Something is wrong", 500)


async def _unknown(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)
    words = "There is no such page; perhaps it is gone." if fault.status_code == 404 else ""
    return _told(request, fault, fault.detail, fault.detail.capitalize(), fault.status_code, words)


def _told(request: Request, fault: Exception, message: str, title: str, status: int, words: str = "") -> Response:
    data = {"error": type(fault).__name__, "message": message}
    return respond(request, lambda: data, lambda: render("error.html", title=title, message=words or message), status)


_GRACE_S = 2
"""Seconds that open answers have to end, once the server is to stop."""


class _Server(uvicorn.Server):
    """Says when it answers, and ends open streams before it waits for them."""

    def __init__(self, config: uvicorn.Config, site: AppState, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._site = site
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the server."""
        self._site.end_streams()
        await super().shutdown(sockets)


def serve(
    store: RunStore, gate: Gate, host: str, port: int, ready: Callable[[str], object], doors: Doors,
    proxies: Sequence[str],
) -> None:  # fmt: skip
    """Serve until a signal ends it.

    Args:
        store: whose runs are shown.
        gate: who may come in, and by which names.
        host: the address to listen at.
        port: 0 takes any that is free.
        ready: takes the one-time address, once it is answered.
        doors: opens further addresses.
        proxies: addresses whose word is taken for where a request came from, and over what.

    Raises:
        ConfigurationError: the address is taken, or is none of this machine.
    """
    with listening(host, port) as listener:
        number = listener.getsockname()[1]
        name = "127.0.0.1" if host in ("0.0.0.0", "") else "[::1]" if host == "::" else host
        name = f"[{name}]" if ":" in name and not name.startswith("[") else name
        address = f"http://{name}:{number}/open?key={gate.key}"
        site = AppState(store, gate)
        # asyncio warns of every page that goes away while its stream writes; that is how pages end.
        logging.getLogger("asyncio").setLevel(logging.ERROR)
        _Server(configuration(site, doors, proxies), site, lambda: ready(address)).run(sockets=[listener])


def configuration(site: AppState, doors: Doors, proxies: Sequence[str] = ()) -> uvicorn.Config:
    """Return how the application is served; ``proxies`` as for :func:`serve`."""
    return uvicorn.Config(
        application(site, doors),
        log_level="warning",
        access_log=False,
        server_header=False,
        ws="none",
        lifespan="on",
        proxy_headers=bool(proxies),
        forwarded_allow_ips=list(proxies),
        timeout_graceful_shutdown=_GRACE_S,
    )


def listening(host: str, port: int) -> socket.socket:
    """Open the socket that the application answers on.

    Raises:
        ConfigurationError: the address is taken, or is none of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once on connections that name their protocol: else the text of each page waits 40 ms for the
    # reader to acknowledge its head.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(128)
    except OSError as fault:
        listener.close()
        raise ConfigurationError(
            f"cannot listen at {host} port {port}: {fault.strerror}; choose another with --port"
        ) from None
    return listener
