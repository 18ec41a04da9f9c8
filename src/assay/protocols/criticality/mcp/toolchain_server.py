"""``criticality-toolchain-server``: compiler, tests and scanners as structured answers, never as raw output."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from assay.protocols.criticality.mcp.server import AgentServer
from criticality import load_config
from criticality.agents.policies import Agent
from criticality.agents.workbench import Workbench
from criticality.judging.court import Court
from criticality.languages import language
from criticality.project.files import CONFIG
from criticality.testing import Limits


def toolchain_server(root: Path, agent: Agent, function: str | None = None) -> AgentServer:
    """Make the server for one agent of one project; ``function`` is the one that a worker or a guardian sees."""
    config = load_config(root / CONFIG)
    target = language(config.project.language)
    limits = Limits(seconds=config.orchestrator.timeouts.injection_per_function_seconds)
    tools = target.toolchain(parallel=1, limits=limits)
    court = Court(1)
    bench = Workbench(root, target, tools, court, function)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncGenerator[None]:
        async with tools:
            try:
                yield
            finally:
                await court.aclose()

    server = AgentServer("toolchain", agent, lifespan)

    async def verify_structure() -> dict[str, Any]:
        """Compile or type-check the sources."""
        return await bench.verify_structure()

    async def run_function_test(function_name: str) -> dict[str, Any]:
        """Run the tests of one function's contract on its body as it stands on the disk; MODULE.NAME."""
        return await bench.run_function_test(function_name)

    async def run_property_test(claim_id: str) -> dict[str, Any]:
        """Run the tests of one claim."""
        return await bench.run_property_test(claim_id)

    async def check_complexity(file_path: str) -> dict[str, Any]:
        """Complexity, length and nesting of the functions in a module's file, by its path in the project."""
        return await bench.check_complexity(file_path)

    async def scan_security(function_name: str) -> dict[str, Any]:
        """Look for what is dangerous in one function's body as it stands on the disk; MODULE.NAME."""
        return await bench.scan_security(function_name)

    server.offer(verify_structure, run_function_test, run_property_test, check_complexity, scan_security)
    return server
