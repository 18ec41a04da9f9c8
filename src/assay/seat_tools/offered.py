"""Which tools there are, ours and those of packages, as a user names them and as a model is told of them."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, Field

from assay.fields import Ui
from llm_runtime.names import ToolName
from llm_runtime.plugins import found, load
from llm_runtime.structs import Struct
from llm_runtime.toml import own_table
from llm_runtime.tool_calls import ToolSpec

GROUP = "assay.seat_tools"
_OURS: Mapping[str, Mapping[str, Any]] = own_table("assay.seat_tools", "tools.toml")
_PLACES = {kind: str(row["make"]) for kind, row in _OURS.items()}
Call: TypeAlias = Callable[[Mapping[str, Any]], Awaitable[str]]
"""Carries a call out: takes its arguments, returns what the model reads."""


STANDS = "These words stand on the page."
"""What a tool answers that finds a quotation."""


class ToolFault(Exception):
    """A call that cannot be carried out; the model is told why."""


class SeatTool(Struct):
    """A tool that seats may use.

    Args:
        usage: as a user names it: ``"files:FOLDER"``. What stands before the colon is its entry point's name.
        about: what it does, for models.
        properties: of its arguments, as a JSON schema has them.
        required: those that must be there.
        make: ``(detail, names) -> call``, from what a user wrote behind the colon and the names of all tools; it
            raises a ``ConfigurationError`` where the tool is not there, before the run begins.
        detail: a pattern of what stands behind the colon; empty where nothing does.
        beside: the tool that it cannot do without.
        several: whether it can stand there more than once; models then know it as ``NAME_DETAIL``.
        opens: the argument that is an address of the web. A call with one is carried out where the seat was shown
            it; quotations are looked up with one and ``quote``, and :data:`STANDS` is the answer where they stand.
    """

    usage: str
    about: str
    properties: Mapping[str, Mapping[str, Any]]
    required: Sequence[str]
    make: Callable[[str, Sequence[str]], Call]
    detail: str = ""
    beside: str = ""
    several: bool = False
    opens: str = ""


def _kind(name: str) -> str:
    """Return the entry point's name; what stands there with a colon has a detail and another namesake none."""
    kind, colon, _ = name.partition(":")
    return kind + colon if kind + colon in _OURS else kind


@cache
def _tool(name: str) -> SeatTool:
    kind = _kind(name)
    made: Any = load(GROUP, kind, _PLACES)
    return SeatTool(**{**_OURS[kind], "make": made}) if kind in _OURS else made


def _checked(names: tuple[str, ...]) -> tuple[str, ...]:
    kinds = [_kind(name) for name in names]
    for name in names:
        if fault := _fault(name, kinds):
            raise ValueError(fault)
    return tuple(dict.fromkeys(names))


def _fault(name: str, kinds: Sequence[str]) -> str:
    """Return why a tool cannot be named so beside the others; empty where it can."""
    kind, (_, colon, detail) = _kind(name), name.partition(":")
    tool = _tool(kind) if kind in found(GROUP, _PLACES) else None
    if tool is None or bool(colon) != bool(tool.detail) or not re.fullmatch(tool.detail, detail):
        return f"there is no tool {name[:60]}; there are {', '.join(_tool(one).usage for one in found(GROUP, _PLACES))}"
    if not tool.several and kinds.count(kind) > 1:
        return f"{kind} can stand once among the tools"
    return f"{kind} needs {_tool(tool.beside).usage} beside it" if tool.beside not in ("", *kinds) else ""


Tools: TypeAlias = Annotated[
    tuple[ToolName, ...],
    AfterValidator(_checked),
    Field(exclude_if=lambda names: not names),
    Ui(
        help="Tools that seats may use: files:FOLDER, search, python, and of tools.toml mcp:NAME, search:NAME.",
        metavar="A,B,C",
        doors=("cli", "agent"),
    ),
]
"""A field that names tools: on the command line and in job files, and for agents those that read no files."""


def offered(names: Sequence[str]) -> tuple[ToolSpec, ...]:
    """Return what models are told of the tools, in the order in which they are named."""

    def spec(name: str) -> ToolSpec:
        tool = _tool(name)
        schema = {"type": "object", "properties": tool.properties, "required": list(tool.required)}
        return ToolSpec(_told(name), tool.about, schema)

    return tuple(map(spec, names))


def made(names: Sequence[str]) -> dict[str, Call]:
    """Return what carries out calls, by the names that models are told.

    Raises:
        ConfigurationError: a tool is not there: a folder, a sandbox, a server.
    """
    return {_told(name): _tool(name).make(name.partition(":")[2], names) for name in names}


def opening(names: Sequence[str]) -> dict[str, str]:
    """Return the tools that open addresses of the web, each with the argument that is one."""
    return {_told(name): _tool(name).opens for name in names if _tool(name).opens}


def word(arguments: Mapping[str, Any], name: str) -> str:
    """Return an argument that must be words.

    Raises:
        ToolFault: it is not there.
    """
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ToolFault(f"{name} is missing")
    return value


def _told(name: str) -> str:
    kind, _, detail = name.partition(":")
    return f"{kind}_{detail}" if _tool(name).several else kind
