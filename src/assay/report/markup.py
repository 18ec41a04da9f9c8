"""Elements of HTML and SVG that escape themselves: the only way markup is made in this package."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import TypeAlias

from assay.report.clean import clean
from llm_runtime.structs import Struct

_VOID = frozenset({"br", "hr", "input", "link", "meta"})


class Trusted(Struct):
    """Markup that has already been made safe. Only a sanitiser and our own style sheet may become one."""

    html: str

    def __html__(self) -> str:
        """Return the markup, for templates."""
        return self.html


class Element(Struct):
    """A tag with attributes and children; text among the children is escaped when it is rendered."""

    tag: str
    attributes: tuple[tuple[str, str], ...] = ()
    children: tuple[Node, ...] = ()

    def __html__(self) -> str:
        """Return the markup, for templates; everything in it is escaped and cleaned."""
        return render(self)


Node: TypeAlias = "Element | Trusted | str"


def element(tag: str, *children: Node | Iterable[Node] | None, **attributes: str | float | None) -> Element:
    """Make an element; ``None`` leaves out a child or an attribute.

    In names of attributes ``_`` stands for ``-``; those that are words of Python end in ``_`` (``class_``).
    """
    nodes: list[Node] = []
    for child in children:
        if child is None:
            continue
        if isinstance(child, (str, Element, Trusted)):
            nodes.append(child)
        else:
            nodes.extend(child)
    named = tuple(
        (_attribute_name(name), value if isinstance(value, str) else number(value))
        for name, value in attributes.items()
        if value is not None
    )
    return Element(tag, named, tuple(nodes))


def render(node: Node) -> str:
    """Return the markup of a node, everything in it escaped and cleaned of control characters."""
    parts: list[str] = []
    _write(node, parts)
    return "".join(parts)


def number(value: float) -> str:
    """Write a number as an attribute: at most two decimals, none where they are zero."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _attribute_name(name: str) -> str:
    return name if name == "viewBox" else name.rstrip("_").replace("_", "-")


def _write(node: Node, parts: list[str]) -> None:
    if isinstance(node, str):
        parts.append(escape(clean(node), quote=False))
        return
    if isinstance(node, Trusted):
        parts.append(node.html)
        return
    parts.append(f"<{node.tag}")
    parts.extend(f' {name}="{escape(clean(value))}"' for name, value in node.attributes)
    parts.append(">")
    if node.tag in _VOID:
        return
    for child in node.children:
        _write(child, parts)
    parts.append(f"</{node.tag}>")
