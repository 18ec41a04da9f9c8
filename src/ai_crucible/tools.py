"""The solver's four tools, and what carries them out in the box: no shell, one narrow channel."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any, Protocol, cast

from ai_crucible.types import TOOL_CLASSES, ToolClass
from llm_runtime.tool_calls import ToolCall, ToolSpec
from sandbox import Completed
from sandbox.told import clip, shown

SUBMIT = "submit"

TOOLS: tuple[ToolSpec, ...] = tuple(
    ToolSpec(**spec) for spec in json.loads(resources.files("ai_crucible").joinpath("tools.json").read_bytes())
)


class WorkBox(Protocol):
    """What a tool needs of a box; :class:`sandbox.Box` is one."""

    async def run(self, argv: list[str], *, stdin: bytes = b"") -> Completed: ...
    async def read(self, path: str) -> bytes: ...
    async def write(self, path: str, data: bytes) -> None: ...


def tool_class(call: ToolCall) -> ToolClass | None:
    """Return which budget a call counts against; ``None`` for a tool that does not exist."""
    return next((kind for kind in TOOL_CLASSES if kind == call.name), None)


def faults(call: ToolCall) -> str:
    """Return why a call cannot be carried out, in one line for the model; empty where it can."""
    if call.fault:
        return f"that call cannot be read: {call.fault}"
    spec = next((tool for tool in TOOLS if tool.name == call.name), None)
    if spec is None:
        return f"there is no tool {call.name[:40]!r}; there are: {', '.join(tool.name for tool in TOOLS)}"
    properties: Mapping[str, Any] = spec.parameters["properties"]
    for name in spec.parameters["required"]:
        if name not in call.arguments:
            return f"{spec.name} needs {name}"
    for name, value in call.arguments.items():
        if name not in properties:
            return f"{spec.name} takes no {name[:40]!r}"
        if not _fits(value, properties[name]["type"]):
            return f"{spec.name}: {name} is a {'list of strings' if name == 'argv' else 'string'}"
    return ""


def _fits(value: object, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str)
    words = cast(list[object], value) if isinstance(value, list) else []
    return bool(words) and all(isinstance(word, str) and word for word in words)


async def carry_out(box: WorkBox, call: ToolCall) -> str:
    """Do what an admitted, faultless call asks, and say what came of it.

    Raises:
        BoxDied: the box is gone.
    """
    arguments = call.arguments
    try:
        if call.name == "exec":
            return shown(await box.run(arguments["argv"], stdin=arguments.get("stdin", "").encode()))
        if call.name == "read_file":
            return clip((await box.read(arguments["path"])).decode("utf-8", "replace"))
        data = arguments["content"].encode("utf-8", "surrogatepass")
        await box.write(arguments["path"], data)
        return f"wrote {len(data)} bytes"
    except (OSError, ValueError) as fault:
        return f"error: {fault}"
