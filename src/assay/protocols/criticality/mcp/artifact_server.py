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
        """A section of the approved specification as TOML, e.g. "system", "claims" or "data_models.Account"."""
        return artifact_tools.read_spec_section(root, section)

    def append_decision(decision: DecisionEntry) -> dict[str, Any]:
        """Append a decision to the ledger. It stands for good: later ones can supersede it, none can erase it."""
        return artifact_tools.append_decision(root, agent, decision, clock).model_dump()

    def get_type_witness(name: str) -> dict[str, Any]:
        """What is guaranteed of every value of a named type, and how one is made."""
        return artifact_tools.get_type_witness(root, name)

    def validate_schema(artifact: str) -> dict[str, Any]:
        """Whether "spec" or "ledger", as it lies on the disk, fits its schema, and where it does not."""
        return artifact_tools.validate_schema(root, artifact)

    server.offer(read_spec_section, append_decision, get_type_witness, validate_schema)
    return server
