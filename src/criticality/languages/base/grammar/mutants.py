"""Small wrong versions of a body, made in its text: one place each, the rest byte for byte."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING

from criticality.languages.base.grammar.syntax import condition_of, parse, read_statements, text, walk
from criticality.languages.base.grammar.table import Table

if TYPE_CHECKING:
    from tree_sitter import Node

_TURNED = {"true": "false", "false": "true", "True": "False", "False": "True"}


def mutants(table: Table, body: str) -> list[str]:
    """Return every single small change of a body, each once, in the order of the text.

    Changes: comparisons, arithmetic and logic swapped; numbers by one; truth values turned; ``all``/``any`` and
    ``min``/``max`` exchanged; a condition negated; a statement left out.

    Raises:
        BodyUnreadable: it does not parse.
    """
    data, block = read_statements(table, body)
    before, after = (len(part.encode()) for part in table.function)
    texts: list[str] = []
    for node in walk(block):
        for start, end, new in _changes(table, node):
            whole = data[:start] + new.encode() + data[end:]
            other = whole[before : len(whole) - after].decode()
            other = textwrap.dedent(other) if table.indented else other
            if other not in (body, *texts) and not parse(table, whole).root_node.has_error:
                texts.append(other)
    return texts


def _changes(table: Table, node: Node) -> Iterator[tuple[int, int, str]]:
    if node.type in table.conditions:
        condition = condition_of(table, node)
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
        for statement in [child for child in node.named_children if child.type not in table.comments][:-1]:
            if statement.type in table.droppable:
                yield statement.start_byte, statement.end_byte, ""


def _is_operator(node: Node) -> bool:
    """Not the ``<`` of type arguments, nor the sign of a number or a reference."""
    parent = node.parent
    if parent is None:
        return False
    kinds = ("binary", "boolean", "comparison", "assignment", "augmented_", "compound_", "update", "inc_", "dec_")
    return parent.type.startswith(kinds)


def _negated(table: Table, condition: Node) -> tuple[int, int, str]:
    written = text(condition)
    # Brackets that belong to the statement, or stand around all of it, stay outside.
    bracketed = condition.type in ("parenthesized_expression", "condition_clause") and written.endswith(")")
    turned = table.negation.format(written[1:-1] if bracketed else written)
    return condition.start_byte, condition.end_byte, f"({turned})" if bracketed else turned


def _one_more(written: str) -> str:
    """``5`` -> ``6`` with its suffix; nothing where it is not written in tens."""
    digits = written.replace("_", "")
    end = next((i for i, char in enumerate(digits) if not char.isdigit()), len(digits))
    if end == 0 or digits[end : end + 1] in ("x", "b", "o"):
        return ""
    return f"{int(digits[:end]) + 1}{digits[end:]}"
