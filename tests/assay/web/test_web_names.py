"""What a member names is what everybody may reach: no address and no folder, whatever field holds it, at any door.

The ways are read off the registry's models: a kind of run that is new, or has a new field, is tried at once.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import aiohttp
import pytest
from pydantic import BaseModel
from tests.assay.web import guest_protocol

from assay import registry
from assay.api.keys import ApiKey, ApiKeys
from assay.hooks import hooks_of
from assay.launch import Launcher
from assay.protocol import RunType
from assay.registry import read_run, run_types
from assay.terms import Terms
from llm_runtime.messages import Reply, Request, Usage
from llm_runtime.names import FieldsOf, Names
from llm_runtime.settings import Settings
from llm_runtime.store.upkeep import mark

from .conftest import Web
from .test_web_people import COUNCIL, Browser, House, house

__all__ = ["house"]

SECRET = "the secret of this machine"
#: What a kind of run needs so that nothing but the field under trial is wrong.
WHOLE: dict[str, dict[str, Any]] = {
    "crux.debate": {"personas": ["maud-tarrowby", "ilario-fennimast"]},
    "crux.compare": {"authors": ["maud-tarrowby", "ilario-fennimast"]},
    "fire_circle.circle": {"user": "Is this fair?"},
}


@dataclass
class Canary:
    """A listener that nobody may reach, a folder that nobody may make, a file that nobody may read."""

    port: int
    folder: Path
    file: Path
    heard: int = 0
    sung: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def spellings(self) -> list[str]:
        """The ways to name them."""
        port, mailbox = self.port, f"mailbox:{self.folder}"
        addresses = [f"http://127.0.0.1:{port}/v1#m", f"http://localhost:{port}/v1"]
        return [*addresses, f"endpoint:http://127.0.0.1:{port}/v1#m", mailbox, str(self.folder), str(self.file)]


@pytest.fixture
async def canary(tmp_path: Path) -> AsyncIterator[Canary]:
    (tmp_path / "secret.txt").write_text(SECRET)
    seen = Canary(0, tmp_path / "never", tmp_path / "secret.txt")

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.heard += 1
        seen.sung.set()
        writer.close()

    listening = await asyncio.start_server(hear, "127.0.0.1", 0)
    seen.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield seen


@pytest.fixture
async def anna(house: House) -> AsyncIterator[Browser]:
    """A member, whose browser opens a connection for each request: there are pauses between them."""
    cookie = (await house.enter("anna")).cookie
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(force_close=True)) as client:
        yield Browser(Web(house.web.url, house.web.site, client), cookie)


@pytest.fixture
def guest(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The guest's protocol, as an entry point makes it known."""
    known = {**registry.protocols(), "guest": guest_protocol.PROTOCOL}
    caches = (registry.run_types, registry._by_any_name)
    monkeypatch.setattr(registry, "_look", lambda: (known, {}))
    for cache in caches:
        cache.cache_clear()
    yield
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


def places(annotation: Any, text: str, marks: tuple[Any, ...] = ()) -> Iterator[Any]:
    """Yield the values of a type in which a text can stand, once for each place."""
    origin, inner = get_origin(annotation), get_args(annotation)
    fields = next((mark.model for mark in marks if isinstance(mark, FieldsOf)), None)
    if origin is Annotated:
        yield from places(inner[0], text, (*marks, *inner[1:]))
    elif origin in (Union, UnionType):
        for one in inner:
            yield from places(one, text, marks)
    elif fields is not None or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        model = fields or annotation
        whole = {} if fields else required(model)
        for name, info in model.model_fields.items():
            for value in places(info.annotation, text, tuple(info.metadata)):
                yield {**whole, name: value}
    elif origin is dict:
        seats = ("red_team", "*", "person")
        values = places(inner[1], text) if inner[1] is not Any else [text, [text], {"model": text}]
        yield from ({seats[0]: value} for value in values)
    elif origin in (list, tuple):
        for value in places(inner[0], text):
            yield [value, value] if origin is tuple else [value]
    elif annotation is str or annotation is Any:
        yield text


def required(model: type[BaseModel]) -> dict[str, Any]:
    """Return some value for each field that must be there."""
    fields = {name: info.annotation for name, info in model.model_fields.items() if info.is_required()}
    return {
        name: get_args(kind)[0] if get_origin(kind) is Literal else next(places(kind, "Why does it rain?"), 1)
        for name, kind in fields.items()
    }


def whole_of(run: RunType) -> dict[str, Any]:
    bounds = {"max_calls": 3} if "max_calls" in run.bounds else {}
    return {**required(hooks_of(run).task), **required(hooks_of(run).options), **bounds, **WHOLE.get(run.name, {})}


def ways(run: RunType, canary: Canary, *, terms: bool = True) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each field of a kind of run with each way to name what nobody may reach."""
    for model in (hooks_of(run).task, hooks_of(run).options, *([Terms] if terms else [])):
        for at, info in model.model_fields.items():
            if get_origin(info.annotation) is Literal:
                continue
            for text in canary.spellings:
                for value in places(info.annotation, text, tuple(info.metadata)):
                    yield at, {at: value}


def typed(model: type[BaseModel]) -> set[str]:
    """Return the fields whose type says that they name something."""

    def says(annotation: Any) -> bool:
        marked = [one for one in get_args(annotation) if isinstance(one, Names)]
        return bool(marked) or any(says(one) for one in get_args(annotation))

    return {
        name
        for name, info in model.model_fields.items()
        if any(isinstance(mark, Names) for mark in info.metadata) or says(info.annotation)
    }


async def quiet(house: House, canary: Canary, who: str) -> None:
    """Wait until no run is under way, and look that nobody reached anything."""
    for run in house.web.store.runs(limit=10_000):
        watch = house.web.site.hub.watch(run.run_id)
        with watch.viewed():
            for question in house.web.site.questions.of_run(run.run_id):
                house.web.site.questions.answer(run.run_id, question.name, "{}")
            if house.web.site.runs.owns(run.run_id):
                await house.web.site.runs.stop(run.run_id)
        log = b"".join(record.body for record in house.web.store.records(run.run_id))
        assert SECRET.encode() not in log, (who, run.run_id)
    assert canary.heard == 0, who
    assert not canary.folder.exists(), who


@pytest.mark.long
async def test_no_field_of_any_kind_of_run_leads_a_member_anywhere(
    house: House, anna: Browser, canary: Canary, guest: None
) -> None:
    tried = 0
    for kind, run in run_types().items():
        fields = typed(hooks_of(run).task) | typed(hooks_of(run).options)
        refused = set[str]()
        for at, given in ways(run, canary):
            tried += 1
            status, text = await anna.ask("POST", "/runs", json={**whole_of(run), "kind": kind, **given})
            assert status < 500, (kind, given, text)
            if status != 201:
                refused.add(at)
        assert fields <= refused, (kind, fields - refused)
        await quiet(house, canary, kind)
    assert tried >= 120


@pytest.mark.long
async def test_nothing_that_a_run_goes_on_with_leads_a_member_anywhere(
    house: House, anna: Browser, canary: Canary
) -> None:
    council = run_types()["crucible.council"]
    _, run_id = await anna.start(max_calls=1)
    await house.over(run_id, "stopped")
    for door, more in (("resume", {}), ("fork", {"at": 1})):
        for at, given in ways(council, canary):
            if at in Terms.model_fields:
                status, text = await anna.ask("POST", f"/runs/{run_id}/{door}", json={"max_calls": 3, **more, **given})
                assert status in (201, 400), (door, given, text)
                assert status == 400 or given[at] not in canary.spellings[:2], (door, given)
        await quiet(house, canary, door)


async def test_what_an_admin_named_leads_no_member_anywhere_from_a_shared_run(
    house: House, anna: Browser, canary: Canary
) -> None:
    async def model(request: Request) -> Reply:
        return Reply("no", "vendor/model-1", "scripted", Usage(1, 1))

    for number, text in enumerate(canary.spellings[:4]):
        run = read_run("crucible.council", {"query": "Why?"}, {"triage_model": text})
        running = await Launcher(house.web.store, Settings).start(run, run_id=f"w-{number}", model=model)
        await running.outcome()
        mark(house.web.store, f"w-{number}", "shared:all")
        status, text = await anna.ask("POST", f"/runs/w-{number}/fork", json={"at": 1})
        assert status == (400 if number != 2 else 201), text
    await quiet(house, canary, "fork of a shared run")


@pytest.mark.long
async def test_no_other_door_leads_a_member_anywhere(house: House, anna: Browser, canary: Canary) -> None:
    bearer = {"Authorization": f"Bearer {ApiKeys().add(ApiKey(name='notes', hash='', person='anna'))}"}
    council, debate = run_types()["crucible.council"], run_types()["crux.debate"]
    chat = {"model": "assay/crucible", "messages": [{"role": "user", "content": "Why?"}]}
    for at, given in ways(council, canary):
        async with house.web.client.post(
            f"{house.web.url}/v1/chat/completions", json={**chat, "assay": given}, headers=bearer
        ) as answer:
            assert answer.status == 400, (given, await answer.text())
        for body in ({**given, "queue": "1"}, {**given, "kind": "crucible.council", "estimate": "1"}):
            status, text = await anna.ask("POST", "/runs", json={"query": "Why?", **body})
            assert status in (200, 400, 403, 404), (body, text)
        batch = {"kind": "crucible.council", "rows": "query\nWhy?", "models": str(given[at]), **given}
        assert (await anna.ask("POST", "/batches", json=batch))[0] == 403
    for at, given in ways(debate, canary):
        if at in typed(hooks_of(debate).options) | {"engine", "model", "seats"}:
            body = {"topic": "Is it so?", "personaIds": WHOLE["crux.debate"]["personas"], "max_calls": 3, **given}
            status, text = await anna.ask("POST", "/api/dialogue", json=body)
            assert status < 500, (given, text)
    await quiet(house, canary, "/v1, queue, batch, /api/dialogue")


@pytest.mark.long
async def test_an_agent_of_a_member_is_led_nowhere(house: House, anna: Browser, canary: Canary) -> None:
    mcp = pytest.importorskip("mcp", reason="the MCP SDK is not installed")
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    key = ApiKeys().add(ApiKey(name="notes", hash="", person="anna"))
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http,
        mcp.Client(streamable_http_client(f"{house.web.url}/mcp", http_client=http)) as client,
    ):
        for text in canary.spellings:
            for tool, given in (
                ("ask", {"question": "Why?", "preset": text}),
                ("ask", {"question": "Why?", "purpose": text}),
                ("ask", {"question": "Why?", "triage_model": text, "budget": 0}),
                ("debate", {"topic": "Is it so?", "personas": [text, text]}),
            ):
                await client.call_tool(tool, given)
    await quiet(house, canary, "/mcp")


async def test_no_form_reads_a_file_of_the_server_whoever_fills_it_in(house: House) -> None:
    boss = await house.enter("boss", role="admin")
    for sent, why in (
        ({"data": {**COUNCIL, "attach": "/etc/passwd"}}, "attach: only https"),
        ({"json": {**COUNCIL, "tools": ["files:/etc", "search"]}}, "tools can be set on the command line"),
    ):
        status, text = await boss.ask("POST", "/runs", **sent)
        assert status == 400 and why in text


async def test_an_admin_names_what_they_like(house: House, canary: Canary, guest: None) -> None:
    boss = await house.enter("boss", role="admin")
    fields = {"kind": "guest.ask", "question": "Why?", "others": {"a": canary.spellings[0]}, "out": str(canary.folder)}
    status, text = await boss.ask("POST", "/runs", json=fields)
    assert status == 201, text
    async with asyncio.timeout(30):
        await canary.sung.wait()
