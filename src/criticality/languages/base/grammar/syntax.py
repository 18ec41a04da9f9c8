"""Text to tree and through it: one parser a language, loaded when it is first asked for."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, cast

from criticality.bodies import BodyUnreadable, SpliceRefused
from criticality.languages.base.grammar.table import Table
from llm_runtime.extras import needing

if TYPE_CHECKING:
    from tree_sitter import Node, Parser, Tree

#: Control, format, surrogate, private and unassigned characters, and separators that some languages end a line at.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@cache
def _parser(package: str, entry: str) -> Parser:
    with needing(f"reading source with {package}", "code"):
        from tree_sitter import Language, Parser

        # The wheels hand out a capsule, which the stubs do not know.
        return Parser(Language(cast("object", getattr(import_module(package), entry)())))


def parse(table: Table, data: bytes) -> Tree:
    """Return the tree of a file; look at ``root_node.has_error``.

    Raises:
        MissingExtraError: the grammar is not installed.
    """
    return _parser(table.package, table.entry).parse(data)


@lru_cache(maxsize=64)
def read(table: Table, source: str) -> tuple[bytes, Tree]:
    """Read a file that parses; return its bytes and its tree.

    Raises:
        BodyUnreadable: it does not parse.
    """
    data = source.encode()
    tree = parse(table, data)
    if tree.root_node.has_error:
        raise BodyUnreadable(f"the module does not parse (line {fault_line(tree.root_node) + 1})")
    return data, tree


def read_statements(table: Table, body: str) -> tuple[bytes, Node]:
    """Return a body by itself, and the block it makes.

    Raises:
        BodyUnreadable: it is no body.
    """
    before, after = table.function
    if table.indented:
        body = textwrap.indent(textwrap.dedent(body), table.indent)
    data = f"{before}{body}{after}".encode()
    root = parse(table, data).root_node
    if root.has_error:
        raise BodyUnreadable(f"the body does not parse (line {max(1, fault_line(root) + 1 - before.count(chr(10)))})")
    start = len(before.encode())
    block = root.descendant_for_byte_range(start - 2, start)
    if table.indented and block is not None and len(solid(table, root)) == 1:
        block = block.child_by_field_name("body")
    while block is not None and block.type not in table.blocks:
        block = block.parent
    end = len(data.rstrip()) - len(after.strip()) + (not table.indented)
    if block is None or block.end_byte < end:
        raise BodyUnreadable("the body ends its function too early")
    return data, block


def fault_line(root: Node) -> int:
    """Return the line, from 0, of the first thing that does not fit."""
    node = root
    while True:
        inner = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inner is None or node.is_error:
            return node.start_point[0]
        node = inner


def walk(node: Node, closed: Collection[str] = ()) -> Iterator[Node]:
    """Yield a node and everything in it, in the order of the text, but for what is in nodes of closed kinds."""
    cursor = node.walk()
    while True:
        current = cursor.node
        assert current is not None
        yield current
        if current.type not in closed and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def solid(table: Table, node: Node) -> list[Node]:
    """Return the children of a node that are no comments."""
    return [child for child in node.children if child.type not in table.comments]


def condition_of(table: Table, node: Node) -> Node | None:
    """Return what a choice or a loop asks."""
    place = table.conditions.get(node.type, "")
    return node.named_children[int(place)] if place.isdigit() else node.child_by_field_name(place)


def text(node: Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode()


def refuse_hidden(body: str) -> None:
    """No character that a reader cannot see, or that another tool reads as the end of a line.

    Raises:
        SpliceRefused: bidirectional and zero-width characters, line separators, control characters.
    """
    for char in body:
        if char not in "\n\t" and not " " <= char <= "~" and unicodedata.category(char) in _HIDDEN:
            raise SpliceRefused(f"the body holds the hidden character U+{ord(char):04X}; write it as an escape")
