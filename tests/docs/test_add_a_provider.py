"""What ``docs/add-a-provider.md`` says is enough: one row for a host, one module for another wire."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import TypeAdapter
from tests.docs.pages import files_of

from llm_runtime import CallLabel, Message, Request
from llm_runtime.dialects import DIALECTS, HOSTED, Dialect
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import MalformedReply
from llm_runtime.gateway import Gateway
from llm_runtime.http import Http
from llm_runtime.keys import write_key
from llm_runtime.settings import load_settings
from llm_runtime.testing import LoopbackServer

PAGE = "add-a-provider.md"
QUESTION = Request("cohere:some-model", (Message("user", "Is it so?"),), CallLabel("docs", "ask"))


async def test_one_row_makes_a_provider(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    ((name, fields),) = tomllib.loads(files_of(PAGE)["row"]).items()
    row = TypeAdapter(Dialect).validate_python({"name": name, **fields})
    assert name not in DIALECTS
    for table in (DIALECTS, HOSTED):
        monkeypatch.setitem(table, name, row)  # pyright: ignore[reportArgumentType] - as if it stood in the table
    async with LoopbackServer("It is.") as server:
        environment = {row.url_env: f"{server.url}/v1", "ASSAY_LOCAL_SERVERS": ""}
        write_key(tmp_path, name, "a-key-0123456789")
        settings = load_settings(environment, tmp_path, tmp_path)
        async with Gateway(settings) as gateway:
            reply = await gateway.generate(QUESTION)
            reachable = [one.provider for one in await gateway.router.reachable() if not one.fault]
        assert (reply.text, reply.provider, reply.model) == ("It is.", name, "some-model")
        assert server.requests[0].headers["authorization"] == "Bearer a-key-0123456789"
        assert name in reachable


async def test_one_module_speaks_another_wire() -> None:
    module: dict[str, Any] = {}
    exec(compile(files_of(PAGE)["plain.py"], "plain.py", "exec"), module)
    bodies = [{"text": "It is."}, {"words": "It is."}]

    async def complete(request: web.Request) -> web.Response:
        assert await request.json() == {"prompt": "Is it so?"}
        return web.json_response(bodies.pop(0), headers={"x-request-id": "one"})

    app = web.Application()
    app.router.add_post("/complete", complete)
    runner = web.AppRunner(app)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        http = Http()
        generate = module["plain"](Endpoint("plain", f"http://127.0.0.1:{runner.addresses[0][1]}"), http)
        reply = await generate(QUESTION)
        assert (reply.text, reply.provider, reply.request_id) == ("It is.", "plain", "one")
        with pytest.raises(MalformedReply, match="no text"):
            await generate(QUESTION)
        await http.aclose()
    finally:
        await runner.cleanup()
