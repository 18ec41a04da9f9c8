"""The functions of a file: what each is called, its header, and where its body stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from criticality.bodies import SpliceRefused
from criticality.languages.base.grammar.syntax import read, solid, text, walk
from criticality.languages.base.grammar.table import Table
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from tree_sitter import Node


class Declaration(Struct):
    """One function with a body.

    Args:
        header: all before the body, white space made single.
        start, end: where the statements stand, between the braces or below the documentation, in bytes.
        path: which child to go down to, from the root to the body; comments are not counted.
    """

    name: str
    header: str
    start: int
    end: int
    path: tuple[int, ...]


def declarations(table: Table, source: str) -> tuple[Declaration, ...]:
    """Return every function that is not inside another one's body, in the order of the text.

    Raises:
        BodyUnreadable: the source does not parse.
    """
    _, tree = read(table, source)
    return tuple(_below(table, tree.root_node, ()))


def _below(table: Table, node: Node, path: tuple[int, ...]) -> Iterator[Declaration]:
    for index, child in enumerate(solid(table, node)):
        if child.type in table.functions:
            declaration = _declaration(table, child, (*path, index))
            if declaration is not None:
                yield declaration
        elif child.type not in table.blocks:
            yield from _below(table, child, (*path, index))


def _declaration(table: Table, node: Node, path: tuple[int, ...]) -> Declaration | None:
    body = node.child_by_field_name("body")
    if body is None or body.type not in table.blocks:
        return None
    place = next(i for i, child in enumerate(solid(table, node)) if child == body)
    header = text(node).encode()[: body.start_byte - node.start_byte].decode()
    span = _lines(table, node, body) if table.indented else (body.children[0].end_byte, body.children[-1].start_byte)
    return Declaration(_name(node), " ".join(header.split()), *span, (*path, place)) if span else None


def _lines(table: Table, node: Node, body: Node) -> tuple[int, int] | None:
    """Tell where indented statements stand: whole lines, without the documentation before them."""
    whole, shift = node.text or b"", node.start_byte
    first, *others = body.named_children
    documented = bool(others) and bool(first.named_children) and first.named_children[0].type in table.strings
    before = whole.find(b"\n", first.end_byte - shift) if documented else -1
    own = others[0] if documented else first
    before = before if documented else whole.rfind(b"\n", 0, own.start_byte - shift)
    return (before + shift, body.end_byte) if 0 <= before < own.start_byte - shift else None


def _name(node: Node) -> str:
    """Its own name, that of the declarator inside, or that of the constant it is the value of."""
    name = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    if name is None and node.parent is not None:
        name = node.parent.child_by_field_name("name")
    while name is not None and (inner := name.child_by_field_name("declarator")) is not None:
        name = inner
    return text(name) if name is not None else ""


def find(table: Table, source: str, function: str) -> Declaration:
    """Return the one function of that name, or with that header where the language overloads.

    Raises:
        SpliceRefused: there is none, or more than one.
    """
    every = declarations(table, source)
    wanted = " ".join(function.split())
    matches = [d for d in every if wanted == d.header] or [d for d in every if function == d.name]
    if not matches:
        raise SpliceRefused(f"the module has no function called {function}")
    if len(matches) > 1:
        raise SpliceRefused(f"the module has {len(matches)} functions called {function}; name it by its whole header")
    return matches[0]


def outermost(table: Table, root: Node) -> list[Node]:
    """Return the declarations of a file themselves, without comments and without what makes them a file."""
    nodes = root.named_children
    if table.file[1]:
        nodes = next(node for node in walk(root) if node.type == "class_body").named_children
    return [node for node in nodes if node.type not in {*table.comments, "package_clause"}]
