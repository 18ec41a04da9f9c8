"""Which tools there are, as a user names them and as a model is told of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, Field

from assay.fields import Ui
from llm_runtime.names import ToolName
from llm_runtime.tool_calls import ToolSpec

_SERVER = re.compile(r"mcp:[a-z0-9][a-z0-9_-]{0,39}")


_PATH = "As a listing shows it; `.` lists the top."
_FIRST = "The first line to show; 1 where left out."
#: Of each kind: what it does, its arguments, and which of them must be there.
_KINDS: dict[str, tuple[str, dict[str, dict[str, str]], list[str]]] = {
    "files": (
        "Read a text file with line numbers, or list a folder.",
        {"path": {"type": "string", "description": _PATH}, "first": {"type": "integer", "description": _FIRST}},
        ["path"],
    ),
    "search": (
        "Find the lines of these files that hold all the words, whatever their case.",
        {"words": {"type": "string", "description": "Separated by blanks."}},
        ["words"],
    ),
    "python": (
        "Run a Python program without a network and without files; what it prints is the result.",
        {"code": {"type": "string", "description": "The whole program."}},
        ["code"],
    ),
    "mcp": (
        "A server with tools of its own; list them first.",
        {"tool": {"type": "string", "description": "`list` shows what there is."}, "arguments": {"type": "object"}},
        ["tool"],
    ),
}


def _checked(names: tuple[str, ...]) -> tuple[str, ...]:
    kinds = [name.partition(":")[0] for name in names]
    for name, kind in zip(names, kinds, strict=True):
        if name not in ("search", "python") and not re.fullmatch(r"files:.+", name) and not _SERVER.fullmatch(name):
            raise ValueError(f"there is no tool {name[:60]}; there are files:FOLDER, search, python, mcp:NAME")
        if kind != "mcp" and kinds.count(kind) > 1:
            raise ValueError(f"{kind} can stand once among the tools")
    if "search" in kinds and "files" not in kinds:
        raise ValueError("search needs files:FOLDER beside it")
    return tuple(dict.fromkeys(names))


Tools: TypeAlias = Annotated[
    tuple[ToolName, ...],
    AfterValidator(_checked),
    Field(exclude_if=lambda names: not names),
    Ui(
        help="Tools that seats may use: files:FOLDER, search, python (in a box), mcp:NAME of tools.toml.",
        metavar="A,B,C",
        doors=("cli",),
    ),
]
"""A field that names tools; on the command line and in job files alone."""


def offered(names: Sequence[str]) -> tuple[ToolSpec, ...]:
    """Return what models are told of the tools, in the order in which they are named."""

    def spec(name: str) -> ToolSpec:
        kind, _, rest = name.partition(":")
        about, fields, required = _KINDS[kind]
        schema = {"type": "object", "properties": fields, "required": required}
        return ToolSpec(f"mcp_{rest}" if kind == "mcp" else kind, about, schema)

    return tuple(map(spec, names))
