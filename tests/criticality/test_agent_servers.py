"""What an agent of one's own may see and do: an MCP client that tries everything, as each of the five agents."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import sys
import tomllib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tests.criticality.conftest import Borrowed
from tests.lazily import Lazily, needs
from turnstile_system import ANSWERS, Script, clock, needs_toolchain

from criticality import AnswersFile, Orchestrator, create_project
from criticality.agents.policies import POLICIES, TOOLS
from criticality.languages import language
from criticality.machine.states import Active, ProtocolState
from criticality.orchestrator import read_project
from criticality.project.files import LEDGER, holding

needs("mcp", reason="the MCP SDK is not installed; make test installs it")
mcp = Lazily("mcp")
artifacts = Lazily("assay.protocols.criticality.mcp.artifact_server")
toolchains = Lazily("assay.protocols.criticality.mcp.toolchain_server")

pytestmark = [needs_toolchain, pytest.mark.asyncio(loop_scope="module")]
python = language("python")
DECISION = {"constraint": "Amounts are whole cents", "category": "data_model"}


def in_lattice(state: ProtocolState) -> bool:
    return isinstance(state, Active) and state.phase.phase == "lattice"


async def made(folder: Path, tools: Any, until: Any = None) -> Path:
    """A project that was driven so far."""
    create_project(folder, "turn-stile", seed=7, clock=clock)
    answers = AnswersFile(ANSWERS)
    async with Orchestrator(folder, Script().model(), human=answers, clock=clock, tools=Borrowed(tools)) as project:  # pyright: ignore[reportArgumentType]
        await project.run(until=until)
    return folder


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def once_approved(tools: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return await made(tmp_path_factory.mktemp("approved") / "turn-stile", tools, in_lattice)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def once_built(tools: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return await made(tmp_path_factory.mktemp("built") / "turn-stile", tools)


@pytest.fixture
def approved(once_approved: Path, tmp_path: Path) -> Path:
    """A project whose specification a person has approved."""
    return Path(shutil.copytree(once_approved, tmp_path / "turn-stile"))


@pytest.fixture
def built(once_built: Path, tmp_path: Path) -> Path:
    """A project whose functions stand."""
    return Path(shutil.copytree(once_built, tmp_path / "turn-stile"))


async def call(app: Any, tool: str, **arguments: Any) -> tuple[bool, str]:
    """Whether it went well, and the text that came back."""
    async with mcp.Client(app) as client:
        return said(await client.call_tool(tool, arguments))


def said(came: Any) -> tuple[bool, str]:
    return not came.is_error, "\n".join(part.text for part in came.content)


@pytest.mark.parametrize("agent", POLICIES)
async def test_each_agent_is_shown_what_its_policy_allows_and_refused_the_rest(approved: Path, agent: Any) -> None:
    app = artifacts.artifact_server(approved, agent, clock)
    async with mcp.Client(app) as client:
        shown = {tool.name for tool in (await client.list_tools()).tools}
        assert shown == set(POLICIES[agent].artifact)
        for tool in set(TOOLS["artifact"]) - shown:
            came = await client.call_tool(tool, {"decision": DECISION, "section": "system", "name": "x"})
            fine, text = said(came)
            assert not fine and f"the policy of the {agent} does not allow {tool}" in text
    assert "Amounts are whole cents" not in (approved / LEDGER).read_text() or agent == "architect"


async def test_a_section_of_the_specification_comes_as_toml(approved: Path) -> None:
    fine, text = await call(
        artifacts.artifact_server(approved, "auditor", clock), "read_spec_section", section="system.name"
    )
    assert fine and tomllib.loads(text) == {"system": {"name": "turn-stile"}}
    fine, text = await call(
        artifacts.artifact_server(approved, "auditor", clock), "read_spec_section", section="secrets"
    )
    assert not fine and "there are: meta, system" in text


async def test_an_architect_enters_a_decision_and_the_project_goes_on_with_it(
    approved: Path, drive: Callable[..., Any]
) -> None:
    app = artifacts.artifact_server(approved, "architect", clock)
    fine, text = await call(app, "append_decision", decision=DECISION)
    assert fine, text
    made = json.loads(text)
    assert made["confidence"] == "inferred" and made["source"] == "architect"
    assert "Amounts are whole cents" in (approved / LEDGER).read_text()
    fine, text = await call(
        app, "append_decision", decision={**DECISION, "constraint": "Amounts are cents", "supersedes": made["id"]}
    )
    ledger = read_project(approved)[2]
    assert fine and ledger.statuses()[made["id"]] == "superseded"
    assert (await drive(approved, Script())).type == "completed"


async def test_what_a_person_said_can_be_superseded_by_a_person_alone(approved: Path) -> None:
    ledger = read_project(approved)[2]
    canonical = ledger.standing("canonical")[0].id
    app = artifacts.artifact_server(approved, "architect", clock)
    for change, told in (
        ({"supersedes": canonical}, "only a person can override it"),
        ({"confidence": "canonical"}, "confidence"),
        ({"dependencies": ["d999"]}, "it rests on d999"),
        ({"supersedes": "d999"}, "it supersedes d999"),
    ):
        fine, text = await call(app, "append_decision", decision={**DECISION, **change})
        assert not fine and told in text
    assert len(read_project(approved)[2].operations) == len(ledger.operations)


async def test_a_project_that_is_being_worked_on_takes_no_decision(approved: Path) -> None:
    with holding(approved):
        fine, text = await call(
            artifacts.artifact_server(approved, "architect", clock), "append_decision", decision=DECISION
        )
    assert not fine and "another process works on" in text


async def test_a_witness_says_what_holds_of_every_value(approved: Path) -> None:
    spec = read_project(approved)[1].spec
    assert spec is not None
    name = next(iter([*spec.newtypes, *spec.data_models]))
    fine, text = await call(artifacts.artifact_server(approved, "structurer", clock), "get_type_witness", name=name)
    assert fine and json.loads(text)["witness"]["name"] == name
    fine, text = await call(
        artifacts.artifact_server(approved, "structurer", clock), "get_type_witness", name="Nothing"
    )
    assert not fine and "there is no witness 'Nothing'" in text


async def test_an_artifact_that_was_edited_by_hand_is_told_where_it_does_not_fit(approved: Path) -> None:
    app = artifacts.artifact_server(approved, "auditor", clock)
    assert await call(app, "validate_schema", artifact="spec") == (True, '{\n  "valid": true,\n  "errors": []\n}')
    (approved / "spec" / "spec.toml").write_text('[system]\nname = "Not A Name"\n')
    fine, text = await call(app, "validate_schema", artifact="spec")
    assert fine and json.loads(text)["valid"] is False and "system.name" in text


async def test_without_an_approved_specification_there_is_nothing_to_read(project: Path) -> None:
    fine, text = await call(artifacts.artifact_server(project, "auditor", clock), "read_spec_section", section="system")
    assert not fine and "the interview comes first" in text


async def test_an_agent_is_served_over_standard_input_by_the_command_line(approved: Path) -> None:
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(
        command=sys.executable, args=["-m", "assay", "build", "mcp", "artifact", "--as", "auditor", "-C", str(approved)]
    )
    fine, text = await call(server, "read_spec_section", section="system.name")
    assert fine and "turn-stile" in text


@pytest.mark.parametrize("agent", POLICIES)
async def test_each_agent_may_run_what_its_policy_allows_and_nothing_beside(built: Path, agent: Any) -> None:
    app = toolchains.toolchain_server(built, agent, "parity.is_even" if POLICIES[agent].one_function else None)
    async with mcp.Client(app) as client:
        shown = {tool.name for tool in (await client.list_tools()).tools}
        assert shown == set(POLICIES[agent].toolchain)
        for tool in set(TOOLS["toolchain"]) - shown:
            asked = {"function_name": "parity.is_even", "claim_id": "parity_001", "file_path": "src"}
            fine, text = said(await client.call_tool(tool, asked))
            assert not fine and f"the policy of the {agent} does not allow {tool}" in text


async def test_a_worker_writes_its_function_and_is_told_how_that_went(built: Path) -> None:
    place = next((built / "src").glob("*/parity.py"))
    right = place.read_text()
    app = toolchains.toolchain_server(built, "worker", "parity.is_even")
    async with mcp.Client(app) as client:

        async def verdict(source: str) -> dict[str, Any]:
            place.write_text(source)
            fine, text = said(await client.call_tool("run_function_test", {"function_name": "parity.is_even"}))
            assert fine, text
            return json.loads(text)

        def with_body(body: str) -> str:
            return python.splice(right, "is_even", body)

        assert (await verdict(right))["passed"] is True
        wrong = await verdict(with_body("return True"))
        assert (wrong["passed"], wrong["kind"]) == (False, "test")
        assert (await verdict(with_body("return 'yes'")))["kind"] == "type"
        stolen = await verdict(with_body("return bool(open('/etc/passwd'))"))
        assert stolen["kind"] == "security" and "open" in stolen["what"][0]
        place.write_text(right)
        assert said(await client.call_tool("verify_structure", {})) == (True, '{\n  "passed": true,\n  "errors": []\n}')


async def test_a_worker_sees_one_function_and_no_other(built: Path) -> None:
    async with mcp.Client(toolchains.toolchain_server(built, "worker", "parity.is_even")) as client:
        others = [name for name in read_project(built)[1].functions if name != "parity.is_even"]
        for tool, asked in (
            ("run_function_test", {"function_name": others[0]}),
            ("run_property_test", {"claim_id": "nobody_001"}),
            ("check_complexity", {"file_path": "../../../etc/passwd"}),
            ("check_complexity", {"file_path": "criticality.toml"}),
        ):
            fine, text = said(await client.call_tool(tool, asked))
            assert not fine and "there are: " in text
        path = next((built / "src").glob("*/parity.py")).relative_to(built).as_posix()
        fine, text = said(await client.call_tool("check_complexity", {"file_path": path}))
        assert fine and list(json.loads(text)) == ["parity.is_even"]


async def test_a_guardian_finds_what_reaches_outside(built: Path) -> None:
    place = next((built / "src").glob("*/parity.py"))
    place.write_text(python.splice(place.read_text(), "is_even", "return eval('n % 2 == 0')"))
    app = toolchains.toolchain_server(built, "guardian", "parity.is_even")
    fine, text = await call(app, "scan_security", function_name="parity.is_even")
    found = json.loads(text)
    assert fine and found["scanner"] and any("eval" in finding for finding in found["findings"])


async def listening(process: asyncio.subprocess.Process, port: int) -> None:
    """Until the process takes connections."""
    while process.returncode is None:
        with suppress(OSError):
            (await asyncio.open_connection("127.0.0.1", port))[1].close()
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"the server ended with {process.returncode}")


async def test_an_agent_is_served_over_http_on_this_machine_alone(built: Path) -> None:
    import aiohttp

    command = ("-m", "assay", "build", "mcp", "toolchain", "--as", "worker", "--function", "parity.is_even")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *command, "--http", str(port), "-C", str(built)), stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await listening(process, port)
        fine, text = await call(f"http://127.0.0.1:{port}/mcp", "run_function_test", function_name="parity.is_even")
        assert fine and json.loads(text)["passed"] is True
        async with aiohttp.ClientSession() as session:
            rebound = {"Host": "evil.example", "Accept": "application/json, text/event-stream"}
            async with session.post(f"http://127.0.0.1:{port}/mcp", json={}, headers=rebound) as answer:
                assert answer.status == 421, "another name for this address is not let in"
    finally:
        process.kill()
        await process.wait()
