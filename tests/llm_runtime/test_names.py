"""Names are found by their types wherever they stand, and bound settings lead nowhere else."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

import pytest
from pydantic import SecretStr

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, ConfigurationError
from llm_runtime.gateway import Gateway
from llm_runtime.http import Http
from llm_runtime.keys import Key
from llm_runtime.models import Model
from llm_runtime.names import FieldsOf, FilePath, Folder, ModelName, Source, ToolName, names_in
from llm_runtime.routing import permitted
from llm_runtime.settings import ConfigFile, EndpointEntry, Settings


class Engine(Model):
    judge: ModelName = ""
    rounds: int = 3


class Seat(Model):
    model: ModelName | None = None
    notes: tuple[FilePath, ...] = ()


class Options(Model):
    seats: list[Seat] = []
    by_role: dict[str, ModelName] = {}
    pairs: list[tuple[str, ModelName]] = []
    engine: Annotated[dict[str, Any], FieldsOf(Engine)] = {}
    nested: Engine = Engine()
    read: tuple[Source, ...] = ()
    tools: tuple[ToolName, ...] = ()
    out: Folder = ""
    words: str = "mailbox:just-a-text"


def test_every_name_is_found_and_no_other_text() -> None:
    options = Options(
        seats=[Seat(model="a", notes=("n.md",)), Seat()],
        by_role={"x": "b"},
        pairs=[("not me", "c")],
        engine={"judge": "d", "rounds": 2, "unknown": "e"},
        nested=Engine(judge="f"),
        read=("https://example.org", "./file"),
        tools=("files:/srv", "search"),
        out="/out",
    )
    assert [(name.kind, name.text, name.field) for name in names_in(options)] == [
        ("model", "a", "seats"),
        ("file", "n.md", "seats"),
        ("model", "b", "by_role"),
        ("model", "c", "pairs"),
        ("model", "d", "engine"),
        ("model", "f", "nested"),
        ("address", "https://example.org", "read"),
        ("file", "./file", "read"),
        ("tool", "files:/srv", "tools"),
        ("folder", "/srv", "tools"),
        ("tool", "search", "tools"),
        ("folder", "/out", "out"),
    ]


def bound(**more: Any) -> Settings:
    config = ConfigFile(model="mailbox:/srv/ours", endpoints={"own": EndpointEntry(base_url="http://10.0.0.5/v1")})
    keys = {"openrouter": Key(SecretStr("sk-canary-0123456789"), "given")}
    return Settings(keys=keys, config=config, environment={"ASSAY_LOCAL_SERVERS": ""}, **more).bound()


@pytest.mark.parametrize(
    ("name", "may"),
    [
        *((name, True) for name in ("openrouter:x/y", "own:tiny", "ollama:qwen3", "some/id", "terminal:", "")),
        *((name, False) for name in ("mailbox:/tmp/x", "mailbox:", "http://10.0.0.5/v1", "https://example.org#m")),
        *((name, False) for name in ("http://", "http://[::1", "mailbox:/srv/ours/", "http://own/v1")),
        ("mailbox:/srv/ours", True),
    ],
)
async def test_bound_settings_lead_to_what_is_configured_and_nowhere_else(name: str, may: bool) -> None:
    settings = bound()
    assert permitted(settings, name) is may
    if not may:
        async with Gateway(settings) as gateway:
            with pytest.raises(ConfigurationError):
                await gateway.router.resolve(name)


#: Ways to write an address of this machine or its network in a base URL.
INWARD = (
    *("127.0.0.1", "localhost", "0.0.0.0", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.1."),
    *("[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::127.0.0.1]", "[::]", "127.255.255.254"),
)


async def test_a_judged_endpoint_connects_to_nothing_of_this_machine_however_it_is_written() -> None:
    heard: list[object] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.append(writer)
        writer.close()

    listening = await asyncio.start_server(hear, "127.0.0.1", 0)
    port, http = listening.sockets[0].getsockname()[1], Http()
    async with listening:
        for host in INWARD:
            endpoint = Endpoint("vendor", f"http://{host}:{port}/v1", judged=True)
            with pytest.raises(CallError):
                await http.get_json(endpoint, "/models")
        assert not heard
        # What the configuration names may be here, and a connection to it is of no use to what is judged.
        counts = list[int]()
        for judged in (False, True):
            with pytest.raises(CallError):
                await http.get_json(Endpoint("own", f"http://127.0.0.1:{port}/v1", judged=judged), "/models")
            counts.append(len(heard))
        assert counts[0] == counts[1] > 0
    await http.aclose()
