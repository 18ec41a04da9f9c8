"""What ``docs/add-a-provider.md`` says is enough: one row for a host, one package for another wire."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from pydantic import TypeAdapter
from tests.docs.pages import files_of, install, write_files

from llm_runtime import CallLabel, Message, Request
from llm_runtime.dialects import DIALECTS, HOSTED, Dialect
from llm_runtime.errors import ConfigurationError, MalformedReply, ReplyTruncated
from llm_runtime.gateway import Gateway
from llm_runtime.keys import write_key
from llm_runtime.settings import Settings, load_settings, merged
from llm_runtime.testing import LoopbackServer
from llm_runtime.wires import Held
from llm_runtime.wrappers.retrying import Backoff

PAGE = "add-a-provider.md"
QUESTION = Request("acme:some-model", (Message("user", "Is it so?"),), CallLabel("docs", "ask"))


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


class Service:
    """What the page's wire speaks to."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.asked: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()
        self._answers = list(answers)

    async def __aenter__(self) -> Service:
        app = web.Application()
        app.router.add_post("/complete", self._complete)
        app.router.add_get("/names", self._names)
        self._runner = web.AppRunner(app)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _complete(self, request: web.Request) -> web.Response:
        self.asked.append(await request.json())
        self.keys.add(request.headers.get("authorization"))
        return web.json_response(self._answers.pop(0), headers={"x-request-id": "one"})

    async def _names(self, _: web.Request) -> web.Response:
        return web.json_response(["small", "large"])


@pytest.fixture
def settings_at(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Settings]:
    """Install the page's package and read the page's configuration, for a service at an address."""
    write_files(PAGE, tmp_path / "written")
    install(tmp_path / "written" / "plain", tmp_path / "site")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))

    def settings(url: str, **changes: Any) -> Settings:
        written = (tmp_path / "written" / "config.toml").read_text()
        (tmp_path / "config.toml").write_text(written.replace("http://127.0.0.1:9000", url))
        environment = {"SERVICE_KEY": "a-key-0123456789", "ASSAY_LOCAL_SERVERS": ""}
        return merged(load_settings(environment, tmp_path, tmp_path), **changes)

    return settings


async def test_a_package_brings_a_wire(settings_at: Callable[..., Settings]) -> None:
    answers = {"text": "It is."}, {"words": "It is."}, {"text": "It", "whole": False}
    once = Backoff(attempts=1)
    async with Service(*answers) as service, Gateway(settings_at(service.url, max_tokens=7), backoff=once) as gateway:
        reply = await gateway.generate(replace(QUESTION, model="service:small"))
        assert (reply.text, reply.provider, reply.request_id) == ("It is.", "service", "one")
        with pytest.raises(MalformedReply, match="no text"):
            await gateway.generate(replace(QUESTION, model="service:small"))
        with pytest.raises(ReplyTruncated, match="cut"):
            await gateway.generate(replace(QUESTION, model="service:small"))
        reachable = {one.provider: one.models for one in await gateway.router.reachable()}
    assert service.asked == [{"model": "small", "prompt": "Is it so?", "limit": 7}] * 3
    assert service.keys == {"Bearer a-key-0123456789"}
    assert reachable == {"service": ["small", "large"]}


@pytest.mark.parametrize(
    ("terms", "needs", "words"),
    [({"effort": "high"}, (), "does not hold effort"), ({}, ("schema",), "does not hold a schema")],
)
async def test_what_the_wire_does_not_hold_is_refused_before_anything_is_sent(
    settings_at: Callable[..., Settings], terms: dict[str, Any], needs: tuple[Held, ...], words: str
) -> None:
    async with Service() as service:
        settings = settings_at(service.url, model="service:small", **terms)
        async with Gateway(settings, needs=frozenset(needs)) as gateway:
            with pytest.raises(ConfigurationError, match=words):
                await gateway.ready()
    assert not service.asked


async def test_what_is_no_need_is_told_in_words_and_at_the_end(settings_at: Callable[..., Settings]) -> None:
    heard: list[tuple[str, str]] = []
    async with Service({"text": '{"so": true}'}) as service:
        settings = settings_at(service.url, model="service:small")
        async with Gateway(settings, on_delta=lambda _, delta: heard.append((delta.kind, delta.text))) as gateway:
            await gateway.generate(replace(QUESTION, schema='{"type": "object"}'))
    assert service.asked[0]["prompt"].endswith('fits this JSON schema:\n{"type": "object"}')
    assert heard == [("progress", ""), ("text", '{"so": true}')]
