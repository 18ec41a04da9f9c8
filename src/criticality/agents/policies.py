"""Who may use which tool: the least that each agent's work needs, and nothing beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from llm_runtime.errors import LlmRuntimeError

Agent: TypeAlias = Literal["architect", "auditor", "structurer", "worker", "guardian"]
Server: TypeAlias = Literal["artifact", "toolchain"]

#: Every tool of each server; ``scan_security`` is what the Guardian is there for.
TOOLS: dict[Server, tuple[str, ...]] = {
    "artifact": ("read_spec_section", "append_decision", "get_type_witness", "validate_schema"),
    "toolchain": (
        "verify_structure", "run_function_test", "run_property_test", "check_complexity", "scan_security",
    ),
}  # fmt: skip
_READING = ("read_spec_section", "get_type_witness", "validate_schema")


class NotAllowed(LlmRuntimeError):
    """An agent asked for what its policy does not give it. Nothing was done."""


@dataclass(frozen=True, slots=True)
class _Policy:
    """What one agent may use.

    Args:
        role: one sentence, told to the agent.
        artifact: tools of the artifact server.
        toolchain: tools of the toolchain server. To run code is not to read it, so who only reads gets no tests.
        one_function: whether it sees a single function, named when the server starts.
    """

    role: str
    artifact: tuple[str, ...] = ()
    toolchain: tuple[str, ...] = ()
    one_function: bool = False

    def tools(self, server: Server) -> tuple[str, ...]:
        """Return the tools of a server that the agent may use."""
        return self.artifact if server == "artifact" else self.toolchain


POLICIES: dict[Agent, _Policy] = {
    "architect": _Policy("Interviews and writes specifications; runs nothing.", artifact=TOOLS["artifact"]),
    "auditor": _Policy(
        "Looks for what does not hold; reads, and changes nothing.",
        artifact=_READING,
        toolchain=("verify_structure", "check_complexity"),
    ),
    "structurer": _Policy("Writes types and signatures, never logic.", artifact=_READING),
    "worker": _Policy(
        "Writes one function; knows its signature and its tests, not the specification.",
        toolchain=("verify_structure", "run_function_test", "run_property_test", "check_complexity"),
        one_function=True,
    ),
    "guardian": _Policy(
        "Watches a worker's code for what is dangerous.",
        toolchain=("scan_security", "check_complexity"),
        one_function=True,
    ),
}


def require(agent: Agent, server: Server, tool: str) -> None:
    """Let an agent through, or not.

    Raises:
        NotAllowed: its policy does not give it the tool.
    """
    allowed = POLICIES[agent].tools(server)
    if tool not in allowed:
        may = ", ".join(allowed) or "nothing of this server"
        raise NotAllowed(f"the policy of the {agent} does not allow {tool}; it may use {may}")
