"""The MCP server: tools that begin runs and look after them, reports as resources, prompts for agents.

Every call returns within 50 seconds, for clients give up at 60: with the result, or with the run to ask for again.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from inspect import Parameter, Signature
from typing import Annotated, Any, TypeAlias

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ToolError, UnexpectedToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from assay import __version__
from assay.api.keys import ApiKey
from assay.api.mcp.calls import Caller, RunReply
from assay.api.mcp.tools import RunTool, run_tools
from assay.api.refused import Refused
from assay.report.places import story_text
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.prompts import load_prompt
from llm_runtime.rewording import reworded

AnyContext: TypeAlias = Context[Any, Any]
WhoAsks: TypeAlias = Callable[[AnyContext], ApiKey | None]
"""Returns the key of whoever sent a request; ``None`` is bound by nothing."""

_Words = Annotated[str, Field(min_length=1)]
_RunId = Annotated[str, Field(description="As the reply of another tool has it.")]


class AssayServer(MCPServer[Any]):
    """Refuses in one line, and names what can be chosen: agents guess otherwise."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """Call a tool by name.

        Raises:
            ToolError: it cannot be done; says why.
        """
        try:
            return await super().call_tool(name, arguments, context)
        except UnexpectedToolError as crash:
            if isinstance(crash.__cause__, LlmRuntimeError | Refused):
                raise ToolError(str(crash.__cause__)) from None
            raise


def assay_server(caller: Caller, who: WhoAsks = lambda _: None, lifespan: Any = None) -> AssayServer:
    """Make the server.

    Args:
        caller: begins runs and waits for them.
        who: tells whose request it is.
        lifespan: what is open as long as it serves.
    """
    told = load_prompt(__package__ or "", "instructions").text
    server = AssayServer(name="assay", instructions=told, version=__version__, log_level="WARNING", lifespan=lifespan)
    _offer_runs(server, caller, who)
    _offer_care(server, caller, who)
    _offer_resources(server, caller, who)
    _offer_prompts(server)
    return server


def _offer_runs(server: AssayServer, caller: Caller, who: WhoAsks) -> None:
    costs = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
    for tool in run_tools():
        server.add_tool(
            _begin(tool, caller, who), tool.name, description=tool.tool.about or tool.run.about, annotations=costs
        )


def _begin(tool: RunTool, caller: Caller, who: WhoAsks) -> Callable[..., Any]:
    """Return what a call does, with the signature that the tool's parameters make."""

    async def begin(mcp_context: AnyContext, **given: Any) -> RunReply:
        return await caller.run(tool.run.name, tool.fields(given), who(mcp_context), mcp_context)

    context = Parameter("mcp_context", Parameter.KEYWORD_ONLY, annotation=AnyContext)
    begin.__signature__ = Signature([context, *tool.parameters], return_annotation=RunReply)  # pyright: ignore[reportFunctionMemberAccess] - inspect reads it
    begin.__annotations__ = {one.name: one.annotation for one in (context, *tool.parameters)} | {"return": RunReply}
    return begin


def _offer_care(server: AssayServer, caller: Caller, who: WhoAsks) -> None:
    async def run_status(run_id: _RunId, ctx: AnyContext) -> RunReply:
        """Say how a run stands, at once: its state, its latest steps, what it asks a person."""
        return caller.status(run_id, who(ctx))

    async def run_result(run_id: _RunId, ctx: AnyContext) -> RunReply:
        """Wait up to 40 seconds for a run's result. Call it again while the reply says so."""
        return await caller.wait(run_id, who(ctx), ctx)

    async def cancel_run(run_id: _RunId, ctx: AnyContext) -> RunReply:
        """Stop a run. What it was answered is kept: the same request goes on where it was."""
        return await caller.cancel(run_id, who(ctx))

    async def answer(run_id: _RunId, name: _Words, text: _Words, ctx: AnyContext) -> RunReply:
        """Answer what a run asks a person, by the question's name. Ask the user; never answer in their place."""
        return caller.answer(run_id, name, text, who(ctx))

    tools: tuple[Callable[..., Any], ...] = (run_status, run_result, cancel_run, answer)
    for number, tool in enumerate(tools):
        server.add_tool(tool, annotations=ToolAnnotations(read_only_hint=number < 2, destructive_hint=False))


def _offer_resources(server: AssayServer, caller: Caller, who: WhoAsks) -> None:
    desk = caller.desk

    def own(run_id: str, ctx: AnyContext) -> str:
        with reworded("", LlmRuntimeError, Refused, kind=ResourceError):
            return desk.own(run_id, who(ctx))

    def report(run_id: str, ctx: AnyContext) -> str:
        """Tell the whole run, as Markdown."""
        return story_text(desk.hub.watch(own(run_id, ctx)).story(), ".md")

    def ledger(run_id: str, ctx: AnyContext) -> str:
        """List each objection of a council's red team, and what became of it, in which words."""
        written = desk.hub.watch(own(run_id, ctx)).head.result.get("ledger")
        if written is None:
            raise ResourceError(f"run {run_id} has no ledger: it is no council, is not finished, or wrote none")
        return json.dumps(written, ensure_ascii=False)

    server.resource("assay://runs/{run_id}/report.md", mime_type="text/markdown")(report)
    server.resource("assay://runs/{run_id}/ledger.json", mime_type="application/json")(ledger)


def _offer_prompts(server: AssayServer) -> None:
    def council(question: str) -> str:
        """Put a question to a council with a red team."""
        return load_prompt(__package__ or "", "council").render(question=question)

    def red_team(subject: str) -> str:
        """Have a text attacked before anybody relies on it."""
        return load_prompt(__package__ or "", "red_team").render(subject=subject)

    def gate(prompt: str) -> str:
        """Judge a prompt before it goes into use."""
        return load_prompt(__package__ or "", "gate").render(prompt=prompt)

    for prompt in (council, red_team, gate):
        server.prompt(description=prompt.__doc__)(prompt)
