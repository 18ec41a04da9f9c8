"""The ASGI application: its routes behind the guard, and errors as pages or data."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TypeAlias

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from assay.web.app_state import AppState, respond
from assay.web.guard import GuardMiddleware
from assay.web.listing import keep_words
from assay.web.permissions import NotAllowed
from assay.web.routes import routes
from assay.web.templating import render
from llm_runtime.errors import BudgetExceeded, ConfigurationError, LlmRuntimeError, RunNotFound, StoreBusy

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

    app = Starlette(
        routes=routes(),
        exception_handlers={LlmRuntimeError: _refused, HTTPException: _unknown, Exception: _broken},
        lifespan=lifespan,
    )
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
    message = "a fault of Assay's own; the server's output says where"
    return _told(request, fault, message, "Something is wrong", 500)


async def _unknown(request: Request, fault: Exception) -> Response:
    assert isinstance(fault, HTTPException)
    words = "There is no such page." if fault.status_code == 404 else ""
    return _told(request, fault, fault.detail, str(fault.status_code), fault.status_code, words)


def _told(request: Request, fault: Exception, message: str, title: str, status: int, words: str = "") -> Response:
    data = {"error": type(fault).__name__, "message": message}
    return respond(
        request, lambda: data, lambda: render("error.html", title=title, message=words or message), status
    )
