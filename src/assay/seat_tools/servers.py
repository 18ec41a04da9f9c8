"""Tools of MCP servers that the user has allowed, one by one, in ``tools.toml`` beside ``config.toml``."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

from pydantic import Field

from assay.seat_tools.offered import Call
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


def table_of(kind: str, name: str, needs: str) -> tuple[str, Mapping[str, Any]]:
    """Return a table of ``tools.toml``, and how what is wrong in it begins.

    Raises:
        ConfigurationError: there is none.
    """
    path = config_dir() / "tools.toml"
    table = read_toml(path).get(name)
    if not isinstance(table, dict):
        raise ConfigurationError(f"--tools {kind}:{name}: write [{name}] with {needs} into {path}")
    return f"{path}, [{name}]: ", cast("Mapping[str, Any]", table)


def server_in(where: str, table: Mapping[str, Any]) -> Server:
    """Return the server that a table describes.

    Raises:
        ConfigurationError: it is not as it should be, or the extra ``mcp`` is not installed.
    """
    with fits(where):
        server = Server.model_validate(table)
    if find_spec("mcp") is None:
        raise MissingExtraError("tools of MCP servers", "mcp")
    return server


def server_tool(name: str, _: Sequence[str]) -> Call:
    """Return what calls the tools of a server.

    Raises:
        ConfigurationError: ``tools.toml`` has no such server, or not as it should be.
    """
    server = server_in(*table_of("mcp", name, "command and allow"))

    async def call(asked: Mapping[str, Any]) -> str:
        tool, arguments = asked.get("tool"), cast("object", asked.get("arguments") or dict[str, Any]())
        if tool != "list" and tool not in server.allow:
            return f"error: there is no tool {str(tool)[:40]}; there are: list, {', '.join(server.allow)}"
        if not isinstance(arguments, dict):
            return "error: arguments must be an object"
        return await ask_server(server, str(tool), cast("dict[str, Any]", arguments))

    return call


async def ask_server(server: Server, tool: str, arguments: dict[str, Any]) -> str:
    """Start a server and call a tool of it; ``list`` describes those that are allowed."""
    import mcp

    command = mcp.StdioServerParameters(command=server.command[0], args=list(server.command[1:]))
    try:
        async with asyncio.timeout(_SECONDS), mcp.Client(command) as client:
            if tool == "list":
                listed = [one for one in (await client.list_tools()).tools if one.name in server.allow]
                return "\n".join(
                    f"{one.name}: {one.description or ''} {json.dumps(one.input_schema)}" for one in listed
                )
            came = await client.call_tool(tool, arguments)
    except Exception as fault:
        return f"error: the server failed: {type(fault).__name__}"
    text = "\n".join(part.text for part in came.content if part.type == "text")
    return f"error: {text}" if came.is_error else text
