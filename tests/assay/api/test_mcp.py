"""Agents begin runs, wait for them in pieces, look after them, and read their reports."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.assay.web import guest_protocol
from tests.lazily import Lazily, needs

from assay import registry
from assay.api.desk import Desk
from assay.api.mcp.calls import Caller
from llm_runtime.store import open_store
from llm_runtime.testing import LoopbackServer

from .conftest import TOKEN, TRIAGE, Programs, council_answer

needs("mcp", reason="the MCP SDK is not installed; make test installs it")
httpx2, mcp, server = Lazily("httpx2"), Lazily("mcp"), Lazily("assay.api.mcp.server")
streams = Lazily("mcp.client.streamable_http")

TOOLS = {
    *("ask", "critique", "judge_prompt", "debate", "compare"),
    *("fire_circle_study", "fire_circle_gate", "ai_crucible_trial", "criticality_build", "criticality_adopt"),
    *("crux_compare", "crux_persona", "crux_fidelity", "crux_judge", "divide"),
    *("run_status", "run_result", "cancel_run", "answer"),
}
QUESTION = "Which database should a team of three run?"


@asynccontextmanager
async def agent(programs: Programs, most_s: float = 45) -> AsyncIterator[mcp.Client]:
    """An agent in this process, whose calls return after so many seconds."""
    site = programs.web.site
    desk = Desk(site.store, site.hub, site.runs, site.questions)
    async with mcp.Client(server.assay_server(Caller(desk, most_s))) as client:
        yield client


@asynccontextmanager
async def over_http(programs: Programs, key: str) -> AsyncIterator[mcp.Client]:
    async with (
        httpx2.AsyncClient(headers={"Authorization": f"Bearer {key}"}, timeout=60) as http,
        mcp.Client(streams.streamable_http_client(f"{programs.web.url}/mcp", http_client=http)) as client,
    ):
        yield client


async def call(client: mcp.Client, tool: str, /, **arguments: Any) -> Any:
    came = await client.call_tool(tool, arguments)
    text = "".join(part.text for part in came.content if part.type == "text")
    return text if came.is_error else came.structured_content


async def test_a_council_is_asked_and_its_report_and_ledger_are_read(programs: Programs) -> None:
    async with over_http(programs, TOKEN) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        told = await call(client, "ask", question=QUESTION, attachments=[{"name": "notes", "text": "MARKER"}])
        assert told["state"] == "finished" and told["answer"].startswith("**Use SQLite**") and not told["next"]
        assert told["cost_usd"] > 0 and told["steps"]
        base = f"assay://runs/{told['run_id']}"
        report = (await client.read_resource(f"{base}/report.md")).contents[0]
        assert report.mime_type == "text/markdown" and "Use SQLite" in report.text
        ledger = json.loads((await client.read_resource(f"{base}/ledger.json")).contents[0].text)
        assert [one["effect"] for one in ledger["objections"]] == ["unclear"] * 2
        with pytest.raises(mcp.MCPError, match="no run"):
            await client.read_resource("assay://runs/elsewhere/report.md")
    assert any("MARKER" in str(one.messages) for one in programs.models.requests)


async def test_a_call_returns_in_time_with_a_run_to_ask_for_again(programs: Programs) -> None:
    programs.answers.open.clear()
    async with agent(programs, most_s=0.5) as client:
        told = await call(client, "ask", question=QUESTION)
        assert told["state"] == "running" and told["next"] == "run_result" and told["answer"] == ""
        run_id = told["run_id"]
        # Asked again, it is the same council.
        assert (await call(client, "ask", question=QUESTION))["run_id"] == run_id
        assert (await call(client, "run_status", run_id=run_id))["state"] == "running"
        assert (await call(client, "run_result", run_id=run_id))["next"] == "run_result"
        assert (await call(client, "cancel_run", run_id=run_id))["state"] == "stopped"
        programs.answers.open.set()
    async with agent(programs) as client:
        told = await call(client, "ask", question=QUESTION)
    assert told["run_id"] == run_id and told["state"] == "finished" and programs.councils() == 1


async def test_progress_is_told_while_a_call_waits(programs: Programs) -> None:
    heard: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, message))
        # The last answer comes only when the first word of progress has.
        programs.answers.open.set()

    programs.answers.open.clear()
    async with over_http(programs, TOKEN) as client:
        await client.call_tool("ask", {"question": QUESTION}, progress_callback=hear)
    assert len(heard) > 1 and [one for one, _ in heard] == sorted({one for one, _ in heard})
    assert any("loop" in (message or "").lower() for _, message in heard)


async def test_a_person_is_asked_and_answers(programs: Programs, tmp_path: Path) -> None:
    folder = tmp_path / "config"
    folder.mkdir(exist_ok=True)
    (folder / "presets.toml").write_text('[mine]\nkind = "crucible"\nseats = { triage = "terminal:" }\n')
    async with agent(programs) as client:
        (ask,) = [tool for tool in (await client.list_tools()).tools if tool.name == "ask"]
        assert ask.input_schema["properties"]["preset"]["enum"] == ["", "mine"]
        told = await call(client, "ask", question=QUESTION, preset="mine")
        (asked,) = told["asks"]
        assert told["state"] == "running" and QUESTION in asked["text"] and "triage" in asked["about"]
        run_id = told["run_id"]
        assert "not open" in await call(client, "answer", run_id=run_id, name="q99", text="x")
        await call(client, "answer", run_id=run_id, name=asked["name"], text=json.dumps(TRIAGE))
        assert (await call(client, "run_result", run_id=run_id))["state"] == "finished"


async def test_what_cannot_be_is_said_in_one_line(programs: Programs) -> None:
    faults: list[tuple[str, dict[str, Any], str]] = [
        ("ask", {"question": ""}, "question"),
        ("ask", {"question": "Why?", "budget": -1}, "budget"),
        ("ask", {"question": "Why?", "preset": "nobody"}, "no preset nobody"),
        ("ask", {"question": "Why?", "purpose": "fun"}, "purpose"),
        ("ask", {"question": "x" * 300_000}, "shorten"),
        ("judge_prompt", {"user": "\x00"}, ""),
        ("debate", {"topic": "Tea?", "personas": ["one"]}, "personas"),
        ("debate", {"topic": "Tea?", "personas": ["one", "two"]}, "there is no persona called one"),
        ("compare", {"questions": []}, "questions"),
        ("run_status", {"run_id": "../../etc"}, "there is no run"),
        ("run_result", {"run_id": "latest"}, "there is no run"),
        ("cancel_run", {"run_id": "nowhere"}, "there is no run"),
        ("ask", {"question": "Why?", "budget": 0.0000001}, ""),
    ]
    async with agent(programs) as client:
        for tool, arguments, word in faults:
            told = await call(client, tool, **arguments)
            assert word in str(told), (tool, told)
            assert isinstance(told, str) or told["why"], (tool, told)
        (debate,) = [tool for tool in (await client.list_tools()).tools if tool.name == "debate"]
        assert "maud-tarrowby" in debate.input_schema["properties"]["personas"]["items"]["enum"]


async def test_a_key_opens_mcp_and_shows_only_its_own_runs(programs: Programs) -> None:
    for headers in ({"authorization": ""}, {"authorization": "Bearer wrong"}):
        async with programs.web.client.post(f"{programs.web.url}/mcp", json={}, headers=headers) as answer:
            assert answer.status == 401
    async with over_http(programs, TOKEN) as client:
        others = (await call(client, "ask", question=QUESTION))["run_id"]
    async with over_http(programs, programs.key("narrow", allow=("crucible",), budget="1")) as client:
        assert "no run" in await call(client, "run_result", run_id=others)
        assert "does not allow" in await call(client, "judge_prompt", user="Obey.")
        own = await call(client, "ask", question=QUESTION)
        assert own["state"] == "finished" and own["run_id"] != others
        assert (await call(client, "run_status", run_id=own["run_id"]))["state"] == "finished"


async def test_a_client_of_the_older_protocol_gets_its_answer_as_events(programs: Programs) -> None:
    """The wire of 2025-11-25: a handshake, then a call whose progress and result come as server-sent events."""
    url, accept = f"{programs.web.url}/mcp", {"accept": "application/json, text/event-stream"}
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {
            **{"jsonrpc": "2.0", "id": 2, "method": "tools/call"},
            "params": {"name": "ask", "arguments": {"question": QUESTION}, "_meta": {"progressToken": "p1"}},
        },
    ]
    came: list[Any] = []
    for message in messages:
        version = {"mcp-protocol-version": "2025-11-25"} if message["id"] == 2 else {}
        async with programs.web.client.post(url, json=message, headers={**accept, **version}) as answer:
            assert answer.status == 200, await answer.text()
            lines = [line.decode().strip() async for line in answer.content]
            came += [json.loads(line[6:]) for line in lines if line.startswith("data: ") and len(line) > 6]
    assert came[0]["result"]["protocolVersion"] == "2025-11-25"
    assert any(one.get("method") == "notifications/progress" for one in came)
    assert came[-1]["result"]["structuredContent"]["answer"].startswith("**Use SQLite**")


@pytest.mark.long
@pytest.mark.process
async def test_a_process_serves_an_agent_and_leaves_no_run_behind(tmp_path: Path) -> None:
    """`assay mcp`, as an editor starts it."""
    async with LoopbackServer(council_answer, models=["m"]) as models:
        (tmp_path / "config").mkdir()
        (tmp_path / "config/config.toml").write_text(f'model = "{models.url}/v1#m"\n')
        env = {"ASSAY_CONFIG_DIR": str(tmp_path / "config"), "ASSAY_LOCAL_SERVERS": ""}
        store = str(tmp_path / "runs.db")
        command = mcp.StdioServerParameters(
            command=sys.executable, args=["-m", "assay", "mcp", "--store", store], env={**env, **_path()}
        )
        async with asyncio.timeout(120), mcp.Client(command) as client:
            told = await call(client, "ask", question=QUESTION)
            assert told["answer"].startswith("**Use SQLite**")
    assert [run.state for run in open_store(tmp_path / "runs.db").runs()] == ["finished"]


def _path() -> dict[str, str]:
    import os

    return {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}


async def test_a_guest_is_a_tool_with_fields_of_its_own(programs: Programs, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {**registry.protocols(), "guest": guest_protocol.PROTOCOL}
    monkeypatch.setattr(registry, "protocols", lambda: known)
    registry.run_types.cache_clear()
    registry._by_any_name.cache_clear()  # pyright: ignore[reportPrivateUsage]
    try:
        async with agent(programs) as client:
            (tool,) = [one for one in (await client.list_tools()).tools if one.name == "guest_ask"]
            assert {"question", "judges", "others", "untold", "model", "budget"} <= set(tool.input_schema["properties"])
            assert "out" not in tool.input_schema["properties"] and tool.input_schema["required"] == ["question"]
            told = await call(client, "guest_ask", question="Who?", judges=[{"model": "a/b"}])
            assert told["state"] == "finished", told
    finally:
        monkeypatch.undo()
        registry.run_types.cache_clear()
        registry._by_any_name.cache_clear()  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("chosen", [["files:/etc"], ["files:notes", "search"], ["mcp:../notes"], ["shell"]])
async def test_an_agent_chooses_tools_for_seats_and_none_that_reads_files(
    programs: Programs, chosen: list[str]
) -> None:
    async with agent(programs) as client:
        offered = {one.name: one.input_schema["properties"] for one in (await client.list_tools()).tools}
        assert "tools" in offered["ask"] and "tools" in offered["compare"] and "tools" not in offered["debate"]
        told = await client.call_tool("ask", {"question": "Why?", "tools": chosen})
        assert told.is_error and "tool" in str(told.content)
    assert not list(programs.store.runs())


async def test_a_key_names_no_address_and_no_folder(programs: Programs) -> None:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("ask", {"question": "Why?", "models": ["http://127.0.0.1:9/v1#m", "a/b"]}),
        ("ask", {"question": "Why?", "seats": {"clerk": "mailbox:/tmp/letters"}}),
        ("ask", {"question": "Why?", "model": "mailbox:/tmp/letters"}),
        ("debate", {"topic": "Tea?", "personas": ["maud-tarrowby", "ilario-fennimast"], "fast": "mailbox:/x"}),
        ("judge_prompt", {"user": "Obey.", "classifier": "http://127.0.0.1:9/v1#m"}),
        ("criticality_build", {"name": "mine", "folder": "/tmp/mine"}),
        ("ai_crucible_trial", {"puzzles": ["all"]}),
    ]
    async with over_http(programs, programs.key("plain")) as client:
        for tool, arguments in calls:
            told = await call(client, tool, **arguments)
            assert isinstance(told, str) and "only an admin" in told, (tool, told)


async def test_the_commands_of_an_agent_say_what_it_was_asked(programs: Programs) -> None:
    async with agent(programs) as client:
        for one in (await client.list_prompts()).prompts:
            (argument,) = one.arguments
            told = await client.get_prompt(one.name, {argument.name: f"{QUESTION} {{x}} {{{{ y }}}}"})
            (message,) = told.messages
            assert f": {QUESTION} {{x}} {{{{ y }}}}\n" in message.content.text and "run_result" in message.content.text
