"""``criticality-artifact-server``: agents see committed truth, and nothing that somebody only said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from assay.protocols.criticality.mcp.server import AgentServer
from criticality.agents import artifact_tools
from criticality.agents.artifact_tools import DecisionEntry
from criticality.agents.policies import Agent
from criticality.project.journal import Clock


def artifact_server(root: Path, agent: Agent, clock: Clock) -> AgentServer:
    """Make the server for one agent of one project."""
    server = AgentServer("artifact", agent)

    def read_spec_section(section: str) -> str:
        return artifact_tools.read_spec_section(root, section)

    def append_decision(decision: DecisionEntry) -> dict[str, Any]:
        return artifact_tools.append_decision(root, agent, decision, clock).model_dump()

    def get_type_witness(name: str) -> dict[str, Any]:
        return artifact_tools.get_type_witness(root, name)

    def validate_schema(artifact: str) -> dict[str, Any]:
        return artifact_tools.validate_schema(root, artifact)

    server.offer(read_spec_section, append_decision, get_type_witness, validate_schema)
    return server
