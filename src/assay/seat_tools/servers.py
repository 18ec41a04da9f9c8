"""Tools of MCP servers that the user has allowed, one by one, in ``tools.toml`` beside ``config.toml``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

from pydantic import Field

from assay.seat_tools.offered import Call, SeatTool
from llm_runtime.errors import ConfigurationError, MissingExtraError
from llm_runtime.keys import read_toml
from llm_runtime.models import Model, fits
from llm_runtime.settings import config_dir

_SECONDS = 60.0


class Server(Model):
    """A server that is started for each call.

    Args:
        command: the program and its arguments.
        allow: names of the tools that may be called; no other is, or is shown.
    """

    command: tuple[str, ...] = Field(min_length=1)
    allow: tuple[str, ...] = Field(min_length=1)


def server_tool(name: str, _: Sequence[str]) -> Call:
    """Return what calls the tools of a server.

    Raises:
        ConfigurationError: ``tools.toml`` has no such server, or not as it should be.
    """
    path = config_dir() / "tools.toml"
    table = read_toml(path).get(name)
    if table is None:
        raise ConfigurationError(f"--tools mcp:{name}: write [{name}] with command and allow into {path}")
    with fits(f"{path}, [{name}]: "):
        server = Server.model_validate(table)
    if find_spec("mcp") is None:
        raise MissingExtraError("tools of MCP servers", "mcp")

    async def call(asked: Mapping[str, Any]) -> str:
        import mcp

        tool, arguments = asked.get("tool"), cast("object", asked.get("arguments") or dict[str, Any]())
        if tool != "list" and tool not in server.allow:
            return f"error: there is no tool {str(tool)[:40]}; there are: list, {', '.join(server.allow)}"
        if not isinstance(arguments, dict):
            return "error: arguments must be an object"
        command = mcp.StdioServerParameters(command=server.command[0], args=list(server.command[1:]))
        try:
            async with asyncio.timeout(_SECONDS), mcp.Client(command) as client:
                if tool == "list":
                    listed = [one for one in (await client.list_tools()).tools if one.name in server.allow]
                    return "\n".join(
                        f"{one.name}: {one.description or ''} {json.dumps(one.input_schema)}" for one in listed
                    )
                came = await client.call_tool(str(tool), cast("dict[str, Any]", arguments))
        except Exception as fault:
            return f"error: the server failed: {type(fault).__name__}"
        text = "\n".join(part.text for part in came.content if part.type == "text")
        return f"error: {text}" if came.is_error else text

    return call


MCP = SeatTool(
    usage="mcp:NAME",
    about="A server with tools of its own; list them first.",
    properties={
        "tool": {"type": "string", "description": "`list` shows what there is."},
        "arguments": {"type": "object"},
    },
    required=("tool",),
    make=server_tool,
    detail="[a-z0-9][a-z0-9_-]{0,39}",
    several=True,
)
