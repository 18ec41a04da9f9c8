"""What answers requests to tools, beside the models: each within bounds of its own, and never with more than it is
allowed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, cast

from assay.seat_tools.reading import Folder
from assay.seat_tools.servers import server_tool
from assay.seat_tools.using import TOOL
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import Generate, Reply, Request, Usage

Tool: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[str]]
_PYTHON_S = 20.0


class ToolFault(Exception):
    """A call that cannot be carried out; the model is told why."""


def beside(generate: Generate, options: Any) -> Generate:
    """Answer requests to the tools of ``options``, and pass all others on; without any it is ``generate`` itself.

    Raises:
        ConfigurationError: a tool is not there: a folder, a sandbox, a server.
    """
    if not options.tools:
        return generate
    # It starts processes, which a council without tools does without.
    from sandbox import SandboxError
    from sandbox.told import clip

    tools = _tools(options.tools)

    async def answer(request: Request) -> Reply:
        if not request.model.startswith(TOOL):
            return await generate(request)
        try:
            arguments = cast("dict[str, Any]", json.loads(request.messages[-1].content))
            text = await tools[request.model.removeprefix(TOOL)](arguments)
        except (ToolFault, SandboxError, OSError, ConfigurationError, TimeoutError) as fault:
            text = f"error: {fault or type(fault).__name__}"
        return Reply(clip(text), request.model, "tool", Usage(0, 0), cost=0, cost_source="free")

    return answer


def _tools(names: Sequence[str]) -> dict[str, Tool]:
    tools: dict[str, Tool] = {}
    for name in names:
        kind, _, rest = name.partition(":")
        if kind == "files":
            tools |= _of_folder(Folder(Path(rest)), search="search" in names)
        elif kind == "python":
            from sandbox import NoIsolation, backend

            try:
                backend()
            except NoIsolation as fault:
                raise ConfigurationError(f"--tools python: {fault}") from None
            tools["python"] = lambda arguments: _python(_word(arguments, "code"))
        elif kind == "mcp":
            tools[f"mcp_{rest}"] = server_tool(rest)
    return tools


def _of_folder(folder: Folder, *, search: bool) -> dict[str, Tool]:
    async def files(arguments: Mapping[str, Any]) -> str:
        return await asyncio.to_thread(folder.read, _word(arguments, "path"), arguments.get("first", 1))

    async def found(arguments: Mapping[str, Any]) -> str:
        return await asyncio.to_thread(folder.search, _word(arguments, "words"))

    return {"files": files, **({"search": found} if search else {})}


def _word(arguments: Mapping[str, Any], name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolFault(f"{name} is missing")
    return value


async def _python(code: str) -> str:

    from sandbox import open_box
    from sandbox.told import shown

    box = await open_box()
    try:
        return shown(await box.run(["python3", "-I", "-"], stdin=code.encode(), seconds=_PYTHON_S))
    finally:
        await box.close()
