"""Who may use which tool: the least that each agent's work needs, and nothing beside it."""

from __future__ import annotations

from typing import Literal, TypeAlias

from llm_runtime.errors import LlmRuntimeError
from llm_runtime.models import Model
from llm_runtime.toml import own_table

Agent: TypeAlias = Literal["architect", "auditor", "structurer", "worker", "guardian"]
Server: TypeAlias = Literal["artifact", "toolchain"]


class NotAllowed(LlmRuntimeError):
    """An agent asked for what its policy does not give it. Nothing was done."""


class _Policy(Model):
    """What one agent may use.

    Args:
        role: one sentence, told to the agent.
        artifact, toolchain: tools of the two servers.
        one_function: whether it sees a single function, named when the server starts.
    """

    role: str
    artifact: tuple[str, ...] = ()
    toolchain: tuple[str, ...] = ()
    one_function: bool = False

    def tools(self, server: Server) -> tuple[str, ...]:
        """Return the tools of a server that the agent may use."""
        return self.artifact if server == "artifact" else self.toolchain


_TABLE = own_table("criticality.agents", "policies.toml")
#: Every tool of each server, with what is said of it.
TOOLS: dict[Server, dict[str, str]] = _TABLE["tools"]
POLICIES: dict[Agent, _Policy] = {name: _Policy.model_validate(one) for name, one in _TABLE["policies"].items()}


def require(agent: Agent, server: Server, tool: str) -> None:
    """Let an agent through, or not.

    Raises:
        NotAllowed: its policy does not give it the tool.
    """
    allowed = POLICIES[agent].tools(server)
    if tool not in allowed:
        may = ", ".join(allowed) or "nothing of this server"
        raise NotAllowed(f"the policy of the {agent} does not allow {tool}; it may use {may}")
