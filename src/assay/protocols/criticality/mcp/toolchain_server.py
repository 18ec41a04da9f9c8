"""``criticality-toolchain-server``: compiler, tests and scanners as structured answers, never as raw output."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

from assay.protocols.criticality.mcp.server import AgentServer
from criticality import load_config
from criticality.agents.policies import Agent
from criticality.agents.workbench import Workbench
from criticality.judging.court import Court
from criticality.languages import language
from criticality.project.files import CONFIG


def toolchain_server(root: Path, agent: Agent, function: str | None = None) -> AgentServer:
    """Make the server for one agent of one project; ``function`` is the one that a worker or a guardian sees."""
    target, court = language(load_config(root / CONFIG).project.language), Court(1)
    tools = target.toolchain()
    bench = Workbench(root, target, tools, court, function)

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncGenerator[None]:
        async with tools, aclosing(court):
            yield

    server = AgentServer("toolchain", agent, lifespan)

    server.offer(
        bench.verify_structure, bench.run_function_test, bench.run_property_test, bench.check_complexity,
        bench.scan_security,
    )  # fmt: skip
    return server
