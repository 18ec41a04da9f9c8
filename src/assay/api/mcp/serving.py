"""The MCP server on its two ways: standard input and output, and ``/mcp`` of `assay serve`."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from assay.api.desk import Desk
from assay.api.key_gate import KeyGate
from assay.api.keys import ApiKey
from assay.api.mcp.calls import Caller
from assay.api.mcp.server import AnyContext, assay_server
from assay.api.refused import Refused
from assay.web.live_runs import LiveRuns
from assay.web.questions import Questions
from assay.web.running import ActiveRuns
from llm_runtime.settings import load_settings
from llm_runtime.store import RunStore

_MOST_BYTES = 1 << 20


def serve_stdio(store: RunStore) -> None:
    """Serve one agent until it leaves; runs under way are then stopped, and can be gone on with."""
    hub = LiveRuns(store)
    questions = Questions(hub.take_turn)
    desk = Desk(store, hub, ActiveRuns(store, questions, load_settings, hub.take_turn), questions)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncGenerator[None]:
        try:
            yield
        finally:
            await desk.runs.close()
            await desk.aclose()

    assay_server(Caller(desk), lifespan=lifespan).run("stdio")


@asynccontextmanager
async def sessions(desk: Desk, gate: KeyGate) -> AsyncGenerator[StreamableHTTPSessionManager]:
    """Open what answers requests over HTTP; each brings its key, and no session is kept between them."""

    def who(context: AnyContext) -> ApiKey | None:
        request = context.request_context.request
        if request is None:
            raise Refused(401, "no key", "no_key")
        return gate.caller(request.headers)

    server = assay_server(Caller(desk), who)
    # Which names and origins are served is decided before anything comes here.
    open_to_all = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server.streamable_http_app(stateless_http=True, max_request_body_size=_MOST_BYTES, transport_security=open_to_all)
    async with server.session_manager.run():
        yield server.session_manager
