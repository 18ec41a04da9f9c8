"""How complex, how deep and how long a function is (McCabe 1976; CT15)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from criticality.languages.base.grammar.syntax import text, walk
from criticality.languages.base.grammar.table import Table

if TYPE_CHECKING:
    from tree_sitter import Node


#: Branches that do not nest: a choice between two values; a catch is as deep as its try.
_FLAT = ("ternary_expression", "conditional_expression", "catch_clause")


def measure(table: Table, block: Node, body: str) -> dict[str, int]:
    """``complexity``, ``nesting`` and ``length`` (lines of the body, without its braces)."""
    length = body.strip().count("\n") + 1
    return {"complexity": complexity(table, block), "length": length, "nesting": nesting(table, block)}


def complexity(table: Table, block: Node) -> int:
    """One more than the decisions: branches, loops, arms but the last resort, and operators that cut short."""
    return 1 + sum(_decides(table, node) for node in walk(block, table.closed))


def _decides(table: Table, node: Node) -> bool:
    if node.type in table.cases:
        return not _is_last_resort(table, node)
    if node.type in table.short_circuit:
        return node.parent is not None and node.parent.type in ("binary_expression", "boolean_operator")
    # What belongs to a decision, as its ``else`` does and the guard of an arm, is none of its own.
    belongs = node.parent is not None and node.parent.type in table.conditions.keys() | table.cases
    return node.type in table.loops | table.conditions.keys() or (node.type in table.decides and not belongs)


def _is_last_resort(table: Table, node: Node) -> bool:
    """``default``, ``_``, and the arm of a match that takes whatever is left."""
    if node.type == "match_arm":
        siblings = [child for child in node.parent.named_children if child.type == "match_arm"] if node.parent else []
        return node == siblings[-1]
    return table.otherwise.match(text(node).lstrip()) is not None


def nesting(table: Table, block: Node) -> int:
    """Tell how deep branches and loops stand in each other; an ``else if`` is no deeper than its ``if``."""
    deepest = 0
    queue = [(block, 0)]
    while queue:
        node, level = queue.pop()
        opens = node.type in table.loops or (node.type in table.branches and node.type not in _FLAT)
        inner = level + 1 if opens and not _is_else_if(node) else level
        deepest = max(deepest, inner)
        queue += [(child, inner) for child in node.children if child.type not in table.closed]
    return deepest


def _is_else_if(node: Node) -> bool:
    if not node.type.startswith("if_") or node.parent is None:
        return False
    return node.parent.type == "else_clause" or node.parent.child_by_field_name("alternative") == node
