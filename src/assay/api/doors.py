"""The doors for programs as addresses of `assay serve`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from starlette.routing import BaseRoute

from assay.api.desk import GRACE_S, Desk
from assay.api.keys import ApiKeys
from assay.api.openai import Endpoint
from assay.api.spending import Spending
from assay.web.app import Doors
from assay.web.app_state import AppState


def program_doors(store_url: str, grace_s: float = GRACE_S) -> Doors:
    """Return what opens the OpenAI endpoint.

    Args:
        store_url: of the store that is served: purses of keys are beside it.
        grace_s: seconds for which a run goes on that nobody waits for any more.
    """

    @asynccontextmanager
    async def opened(site: AppState) -> AsyncGenerator[Sequence[BaseRoute]]:
        spending = Spending(store_url, site.settings)
        desk = Desk(site.store, site.hub, site.runs, site.questions, spending, grace_s, site.closing)
        try:
            yield Endpoint(desk, ApiKeys(), site.gate.token).routes()
        finally:
            await desk.aclose()

    return opened
