"""Putting a body into a file so that nothing else can change (CT10).

Parse, replace, parse again; then the tree around the body must be the same, node by node, and the body must be one
block that begins and ends where the old one did. That holds declarations, their order, signatures, attributes and
macros at once. What a parser of ours and the compiler might read differently (line splices, digraphs, escapes that
are read before all else, hidden characters) is refused before.
"""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from criticality.bodies import BodyUnreadable, SpliceRefused, unfenced
from criticality.languages.base.grammar.declarations import Declaration, declarations, find, outermost
from criticality.languages.base.grammar.syntax import fault_line, parse, read, refuse_hidden, solid, text, walk
from criticality.languages.base.grammar.table import Table

if TYPE_CHECKING:
    from tree_sitter import Node


def read_body(table: Table, answer: str, name: str) -> str:
    """Return the body in an answer: bare, behind a code fence, or inside the whole function.

    Raises:
        SpliceRefused: too long, empty, or with characters that cannot be seen.
    """
    body = unfenced(answer)
    refuse_hidden(body)
    whole = _whole_function(table, body, name)
    return _dedented(table, body if whole is None else whole)


def _whole_function(table: Table, text: str, name: str) -> str | None:
    before, after = table.file
    source = f"{before}{text}{after}"
    data = source.encode()
    root = parse(table, data).root_node
    if root.has_error:
        return None
    functions = declarations(table, source)
    if len(functions) != 1 or functions[0].name != name:
        return None
    alone = len(outermost(table, root)) == 1
    return data[functions[0].start : functions[0].end].decode().strip("\n") if alone else None


def splice(table: Table, source: str, function: str, body: str) -> str:
    """Return the file with one body replaced.

    Args:
        function: its name, or its whole header.

    Raises:
        BodyUnreadable: the result does not parse.
        SpliceRefused: there is no such function, or the body reaches beyond it.
    """
    refuse_hidden(body)
    for pattern, words in table.refused.items():
        if re.search(pattern, body):
            raise SpliceRefused(f"the body holds {words}")
    data, tree = read(table, source)
    declaration = find(table, source, function)
    after = data[: declaration.start] + _laid_out(table, data, declaration, body) + data[declaration.end :]
    root = parse(table, after).root_node
    if root.has_error:
        line = fault_line(root) - data.count(b"\n", 0, declaration.start)
        raise BodyUnreadable(f"the body does not parse (line {max(1, line)})")
    block = _same_around(table, tree.root_node, root, declaration, len(after) - len(data))
    if block is None:
        raise SpliceRefused("the body declares something outside its function, or changes what stands around it")
    _refuse_code(table, block)
    return after.decode()


def body_of(table: Table, source: str, function: str) -> str:
    """Return the statements of a function as they stand, their indentation taken off.

    Raises:
        SpliceRefused: there is no such function.
    """
    data, _ = read(table, source)
    declaration = find(table, source, function)
    return _dedented(table, data[declaration.start : declaration.end].decode()).strip("\n").rstrip()


def _same_around(table: Table, before: Node, after: Node, declaration: Declaration, shift: int) -> Node | None:
    """Return the new body, where all around it is as it was."""
    for index in declaration.path:
        olds, news = solid(table, before), solid(table, after)
        if (after.type, after.start_byte, after.end_byte, len(news)) != (
            before.type, before.start_byte, before.end_byte + shift, len(olds),
        ):  # fmt: skip
            return None
        for place, (old, new) in enumerate(zip(olds, news, strict=True)):
            moved = shift if place > index else 0
            if place != index and (
                (new.start_byte, new.end_byte) != (old.start_byte + moved, old.end_byte + moved) or str(new) != str(old)
            ):
                return None
        before, after = olds[index], news[index]
    if (after.type, after.end_byte) != (before.type, before.end_byte + shift):
        return None
    if table.indented:
        return after if after.start_byte > declaration.start or after.start_byte == before.start_byte else None
    closed = after.start_byte == before.start_byte and after.children[-1].end_byte == after.end_byte
    return after if closed else None


def _refuse_code(table: Table, block: Node) -> None:
    """Refuse what attaches to the function from inside, and what is code only to other readers.

    Raises:
        SpliceRefused: an attribute, a preprocessor line, a digraph, a comment that a tool obeys.
    """
    for node in walk(block):
        if words := _attached(table, node):
            raise SpliceRefused(f"the body holds {words}")
    code = _code(table, block)
    for pattern, words in table.refused_code.items():
        if re.search(pattern, code):
            raise SpliceRefused(f"the body holds {words}")


def _attached(table: Table, node: Node) -> str:
    """Return words for what other tools read otherwise than the grammar does; empty where there is nothing."""
    # TypeScript's grammar reads a comment without an end as a regular expression; no compiler does.
    if node.type == "regex" and text(node).startswith("/*"):
        return "a comment without an end"
    if node.type in table.comments and table.directives is not None and table.directives.search(text(node)):
        return "a comment that a tool obeys"
    return table.attached.get(node.type, "")


def _code(table: Table, block: Node) -> str:
    """Return the text of a block without its literals and comments."""
    data, start = block.text or b"", block.start_byte
    quiet = table.strings | table.comments
    parts: list[bytes] = []
    at = 0
    for node in walk(block):
        begin = node.start_byte - start
        if node.type in quiet and begin >= at:
            parts.append(data[at:begin])
            at = node.end_byte - start
    return b" ".join([*parts, data[at:]]).decode()


def _laid_out(table: Table, data: bytes, declaration: Declaration, body: str) -> bytes:
    """Return the body on lines of its own, one level deeper than the brace that closes it."""
    if table.indented:
        return ("\n" + textwrap.indent(textwrap.dedent(body.strip("\n").rstrip()), table.indent)).encode()
    column = data.rfind(b"\n", 0, declaration.end) + 1
    closing = data[column : declaration.end].decode()
    if closing.strip():
        first = data.rfind(b"\n", 0, declaration.start) + 1
        line = data[first : declaration.start].decode()
        closing = line[: len(line) - len(line.lstrip())]
    inner = body.strip("\n").rstrip()
    if not _spans_lines(table, inner):
        inner = textwrap.indent(_dedented(table, inner), closing + table.indent)
    return f"\n{inner}\n{closing}".encode()


def _dedented(table: Table, body: str) -> str:
    if _spans_lines(table, body):
        return body
    plain = textwrap.dedent(body)
    if table.indent != "\t":
        return plain
    return re.sub(r"^(?: {4})+", lambda match: "\t" * (len(match[0]) // 4), plain, flags=re.MULTILINE)


def _spans_lines(table: Table, body: str) -> bool:
    """Tell whether a literal or comment goes over several lines, so that indentation is part of a value."""
    if "\n" not in body or not any(mark in body for mark in table.spanning):
        return False
    before, after = table.function
    root = parse(table, f"{before}{body}{after}".encode()).root_node
    return any(node.type in table.strings and node.start_point[0] != node.end_point[0] for node in walk(root))
