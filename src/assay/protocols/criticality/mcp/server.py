"""An MCP server that knows which agent it serves: it shows what the agent's policy allows, and refuses the rest."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError

from criticality.agents.policies import POLICIES, TOOLS, Agent, NotAllowed, Server, require
from llm_runtime.errors import LlmRuntimeError


class AgentServer(MCPServer[None]):
    """One of the two servers (specification, section 8.1 "Criticality MCP Servers") in front of one agent.

    Args:
        kind: which of the two.
        agent: whom it serves; that is fixed for the life of the process, so nobody can claim to be another.
        lifespan: what is open as long as it serves.
    """

    def __init__(self, kind: Server, agent: Agent, lifespan: Any = None) -> None:
        super().__init__(
            f"criticality-{kind}-server", instructions=POLICIES[agent].role, log_level="WARNING", lifespan=lifespan
        )
        self.kind: Server = kind
        self.agent: Agent = agent

    def offer(self, *tools: Any) -> None:
        """Register those tools that the agent may use; each is a function named as the tool."""
        for tool in tools:
            if tool.__name__ in POLICIES[self.agent].tools(self.kind):
                self.add_tool(tool, description=TOOLS[self.kind][tool.__name__])

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool by name.

        Raises:
            ToolError: the policy forbids it, or the tool's own word why it cannot.
        """
        try:
            require(self.agent, self.kind, name)
            return await super().call_tool(name, arguments, context)
        except NotAllowed as refused:
            raise ToolError(str(refused)) from None
        except UnexpectedToolError as crash:
            if isinstance(crash.__cause__, LlmRuntimeError):
                raise ToolError(str(crash.__cause__)) from None
            raise
