"""Two guests, a protocol and a wire, each a package of its own, installed beside Assay and met at every door."""

from __future__ import annotations

import asyncio
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.commands import Commands, Done, bare_world
from tests.docs.pages import ROOT, install

from llm_runtime.testing import LoopbackServer, Received

Assay = Callable[..., Awaitable[Done]]
TOKEN = "a-token-for-tests-0123"
CALL = '```tool\n{"tool": "moon", "arguments": {"month": "May"}}\n```'
pytestmark = pytest.mark.process


def gardener(received: Received) -> str:
    """Look at the moon where there is a tool for it, then answer."""
    text = str(received.messages[-1].content)
    if "full on the 12th over Kent" in text:
        return "Sow them after the 12th."
    return CALL if "Tell when the moon is full" in text else "Sow them when you like."


@pytest.fixture
async def models() -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(gardener) as running:
        yield running


@pytest.fixture
def world(tmp_path: Path, models: LoopbackServer) -> dict[str, str]:
    """An environment in which both guests are installed and the wire's server is configured."""
    for guest in ("almanac", "telegraph"):
        install(ROOT / "tests" / "guests" / guest, tmp_path / "site")
    world = bare_world(tmp_path)
    config = Path(world["ASSAY_CONFIG_DIR"])
    config.mkdir(parents=True, exist_ok=True)
    (config / "config.toml").write_text(
        f'model = "far:one"\n[endpoints.far]\ndialect = "telegraph"\nbase_url = "{models.url}"\n'
    )
    place = [str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    return world | {"PYTHONPATH": os.pathsep.join(place), "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def assay(commands: Commands, world: dict[str, str], tmp_path: Path) -> Assay:
    async def run(*words: str) -> Done:
        return await commands.run(*words, cwd=tmp_path, env=world)

    return run


async def test_on_the_command_line_its_seat_uses_its_tool_over_the_guests_wire(
    assay: Assay, models: LoopbackServer
) -> None:
    done = await assay("almanac", "beans", "--tools", "moon:Kent", "--json")
    assert done.code == 0, done.err
    assert done.json["result"] == {"advice": "Sow them after the 12th."}
    assert len(models.requests) == 2 and "in the next 4 weeks" in str(models.requests[0].messages)
    shown = await assay("almanac", "--help")
    assert "default: 4; 1<=x<=52" in " ".join(shown.out.split())
    replayed = await assay("runs", "replay", done.json["run_id"])
    assert (replayed.code, len(models.requests)) == (0, 2), replayed.err


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("almanac", "beans", "--max-tokens", "5"), "its wire telegraph does not hold max_tokens"),
        (("almanac", "beans", "--effort", "high"), "its wire telegraph does not hold effort"),
        (("ask", "Why?"), "its wire telegraph does not hold a schema"),
        (("almanac", "beans", "--tools", "moon:kent"), "moon:PLACE"),
    ],
)
async def test_what_does_not_fit_is_one_line_and_asks_nothing(
    assay: Assay, models: LoopbackServer, words: tuple[str, ...], fault: str
) -> None:
    done = await assay(*words)
    assert (done.code, done.err.count("\n")) == (2, 1) and fault in done.err
    assert not models.requests


async def test_a_batch_puts_it_to_every_row(assay: Assay, models: LoopbackServer, tmp_path: Path) -> None:
    (tmp_path / "plants.csv").write_text("plant\nbeans\nkale\n")
    (tmp_path / "job.toml").write_text(
        'run = "almanac.advice"\n[input]\npath = "plants.csv"\n[input.columns]\nplant = "plant"\n'
        '[options]\ntools = ["moon:Kent"]\n'
    )
    done = await assay("batch", "run", "job.toml")
    assert (done.code, len(models.requests)) == (0, 4), done.err


@pytest.mark.long
async def test_agents_reach_it_with_its_own_fields(world: dict[str, str], tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp", reason="the MCP SDK is not installed; make test installs it")
    from mcp.client.stdio import StdioServerParameters, stdio_client

    words = ["-m", "assay", "mcp"]
    process = StdioServerParameters(command=sys.executable, args=words, env=world, cwd=tmp_path)
    async with mcp.Client(stdio_client(process)) as agent:
        (tool,) = [one for one in (await agent.list_tools()).tools if one.name == "almanac_advice"]
        assert "plant" in tool.input_schema["required"]
        for tools, answer in ([], "Sow them when you like."), (["moon:Kent"], "Sow them after the 12th."):
            told = await agent.call_tool("almanac_advice", {"plant": "beans", "tools": tools})
            assert not told.is_error and told.structured_content["answer"] == answer


@pytest.mark.long
async def test_pages_have_its_form_its_page_its_file_its_words_and_chat_programs_its_model(
    assay: Assay, world: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("starlette", reason="the web extra is not installed")
    pytest.importorskip("jinja2", reason="the web extra is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    serving = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "assay", "serve", "--port", str(port)),
        cwd=tmp_path,
        env={**world, "ASSAY_TOKEN": TOKEN},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        assert serving.stdout is not None
        assert f":{port}/" in (await serving.stdout.readline()).decode()
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port}", headers=headers) as client:

            async def got(path: str) -> tuple[int, str, Any]:
                async with client.get(path) as response:
                    return response.status, await response.text(), response.headers

            _, page, sent = await got("/almanac")
            assert "&lt;May&gt;" in page and "default-src 'none'" in sent["content-security-policy"]
            assert '<a href="/almanac" aria-current="page">Almanac</a>' in page
            style = re.search(r'href="(/static/almanac/[^"]+)"', page)
            assert style is not None
            status, text, sent = await got(style[1])
            assert (status, sent["content-type"].partition(";")[0]) == (200, "text/css") and "main h1" in text
            assert "immutable" in sent["cache-control"]
            for path in ("almanac/notes.txt", "almanac/..%2f__init__.py", "almanac/%2e%2e/task.py", "nobody/year.css"):
                assert (await got(f"/static/{path}"))[0] == 404
            status, text, _ = await got("/no-such-page")
            assert status == 404 and "REPLACED" not in text
            assert 'name="plant"' in (await got("/new?kind=almanac.advice"))[1]

            async with client.post("/runs.json", json={"kind": "almanac.advice", "plant": "kale"}) as response:
                assert response.status == 201, await response.text()
                run_id = (await response.json())["run_id"]
            await got(f"/runs/{run_id}/stream")
            _, page, _ = await got(f"/runs/{run_id}")
            assert "Sow them when you like." in page and "when the gardener would sow, by the moon" in page
            assert f'href="/almanac/{run_id}"' in page and "a word of the house" not in page

            _, listed, _ = await got("/v1/models")
            assert "assay/almanac" in [one["id"] for one in json.loads(listed)["data"]]
            asked = {"model": "assay/almanac", "messages": [{"role": "user", "content": "peas"}]}
            async with client.post("/v1/chat/completions", json=asked) as response:
                said = await response.json()
            assert said["choices"][0]["message"]["content"] == "Sow them when you like."
    finally:
        serving.terminate()
        await serving.communicate()
