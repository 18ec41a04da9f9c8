"""Small wrong versions of a body, made in its text: one place each, the rest byte for byte."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from criticality.languages.base.grammar.syntax import read_statements, text, walk
from criticality.languages.base.grammar.table import Table

if TYPE_CHECKING:
    from tree_sitter import Node

_TURNED = {"true": "false", "false": "true"}


def mutants(table: Table, body: str) -> list[str]:
    """Return every single small change of a body, each once, in the order of the text.

    Changes: comparisons, arithmetic and logic swapped; numbers by one; truth values turned; ``all``/``any`` and
    ``min``/``max`` exchanged; a condition negated; a statement left out.

    Raises:
        BodyUnreadable: it does not parse.
    """
    _, block = read_statements(table, body)
    shift = len(table.function[0].encode())
    plain = body.encode()
    texts: list[str] = []
    for node in walk(block):
        for start, end, new in _changes(table, node):
            other = (plain[: start - shift] + new.encode() + plain[end - shift :]).decode()
            if other != body and other not in texts:
                texts.append(other)
    return texts


def _changes(table: Table, node: Node) -> Iterator[tuple[int, int, str]]:
    if node.type in table.conditions:
        condition = node.child_by_field_name(table.conditions[node.type])
        if condition is not None and not text(condition).startswith("let "):
            yield _negated(table, condition)
    if not node.is_named and node.type in table.operators and _is_operator(node):
        yield node.start_byte, node.end_byte, table.operators[node.type]
    elif node.type in table.truths:
        yield node.start_byte, node.end_byte, _TURNED[text(node)]
    elif node.type in table.numbers:
        changed = _one_more(text(node))
        if changed:
            yield node.start_byte, node.end_byte, changed
    elif "identifier" in node.type and text(node) in table.exchanged:
        yield node.start_byte, node.end_byte, table.exchanged[text(node)]
    if node.type in table.blocks or node.type == "statement_list":
        statements = [child for child in node.named_children if child.type not in table.comments]
        for statement in statements[:-1]:
            if statement.type in table.droppable:
                yield statement.start_byte, statement.end_byte, ""


def _is_operator(node: Node) -> bool:
    """Not the ``<`` of type arguments, nor the sign of a number or a reference."""
    parent = node.parent
    if parent is None:
        return False
    kinds = ("binary", "assignment", "update", "inc_", "dec_")
    return parent.type.startswith(kinds) or parent.type in (
        "compound_assignment_expr",
        "augmented_assignment_expression",
    )


def _negated(table: Table, condition: Node) -> tuple[int, int, str]:
    written = text(condition)
    inside = (
        written[1:-1] if written.startswith("(") and written.endswith(")") and _is_bracketed(condition) else None
    )
    if inside is not None:
        return condition.start_byte, condition.end_byte, f"(!({inside}))"
    return condition.start_byte, condition.end_byte, f"!({written})"


def _is_bracketed(condition: Node) -> bool:
    """Tell whether its brackets belong to the statement or stand around all of it."""
    return condition.type in ("parenthesized_expression", "condition_clause")


def _one_more(written: str) -> str:
    """``5`` -> ``6`` with its suffix; nothing where it is not written in tens."""
    digits = written.replace("_", "")
    end = next((i for i, char in enumerate(digits) if not char.isdigit()), len(digits))
    if end == 0 or digits[end : end + 1] in ("x", "b", "o"):
        return ""
    return f"{int(digits[:end]) + 1}{digits[end:]}"
