"""Finding the catalog's smells in any of the languages: measures, flow, bindings, literals, repetition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

from criticality.catalog import DetectedSmell, smells
from criticality.languages.base.grammar.declarations import declarations
from criticality.languages.base.grammar.inspection import bound
from criticality.languages.base.grammar.measures import measure
from criticality.languages.base.grammar.syntax import condition_of, read, solid, text, walk
from criticality.languages.base.grammar.table import Table

if TYPE_CHECKING:
    from tree_sitter import Node

_MEASURED = (
    ("deep-nesting", "nesting"), ("high-cyclomatic-complexity", "complexity"), ("long-function-body", "length"),
)  # fmt: skip
#: Kinds that bind a name to a value.
_BINDING = (
    "let_declaration", "variable_declarator", "short_var_declaration", "var_spec", "init_declarator", "assignment",
)  # fmt: skip
#: Numbers that need no name.
_PLAIN = frozenset({"0", "1", "2", "-1", "0.0", "1.0", "10", "100"})


def detect(table: Table, modules: Mapping[str, str]) -> tuple[list[DetectedSmell], dict[str, dict[str, int]]]:
    """Smells, and complexity, length and nesting of each function.

    Args:
        modules: source by module name.

    Returns:
        smells in the order of the modules and their functions; metrics by ``module.function``.
    """
    detected: list[DetectedSmell] = []
    metrics: dict[str, dict[str, int]] = {}
    for module, source in modules.items():
        data, tree = read(table, source)
        repeated_types = _repeated_types(table, tree.root_node)
        for declaration in declarations(table, source):
            block = tree.root_node
            for index in declaration.path:
                block = solid(table, block)[index]
            name = f"{module}.{declaration.name}"
            metrics[name] = measure(table, block, data[declaration.start : declaration.end].decode())
            detected += _of_function(table, name, block, metrics[name], repeated_types)
    return detected, metrics


def too_much(name: str, measured: Mapping[str, int]) -> Iterator[DetectedSmell]:
    """Yield a smell for each measure of a function that is beyond what the catalog allows."""
    for smell_id, key in _MEASURED:
        over = measured[key] - smells()[smell_id].threshold
        if over > 0:
            yield DetectedSmell(smell_id, name, over)


def _of_function(
    table: Table, name: str, block: Node, measured: Mapping[str, int], repeated_types: Counter[str]
) -> Iterator[DetectedSmell]:
    known = smells()
    yield from too_much(name, measured)
    nodes = list(walk(block))
    counted = {
        "unreachable-code": _unreachable(table, nodes),
        "unused-binding": _unused(table, block, nodes),
        "magic-values": _magic(table, nodes),
        "imperative-loop": _collecting_loops(table, nodes),
        "verbose-null-handling": _null_choices(table, nodes),
        "repeated-code-blocks": _repeated(table, nodes, int(known["repeated-code-blocks"].threshold)),
        "missing-type-abstraction": _written_out(
            table, block, repeated_types, known["missing-type-abstraction"].threshold
        ),
    }
    for smell_id, count in counted.items():
        if count:
            yield DetectedSmell(smell_id, name, float(count))
    comments = sum(1 for node in nodes if node.type in table.comments)
    if comments / measured["length"] > known["over-documentation"].threshold:
        yield DetectedSmell("over-documentation", name, comments / measured["length"])


def _statements(table: Table, node: Node) -> list[Node]:
    """Return the statements of a block, in whatever the grammar keeps them."""
    if node.type not in table.blocks | {"statement_list"}:
        return []
    inner = [child for child in node.named_children if child.type not in table.comments]
    return [] if len(inner) == 1 and inner[0].type == "statement_list" else inner


def _unwrapped(node: Node) -> Node:
    return node.named_children[0] if node.type == "expression_statement" and node.named_children else node


def _unreachable(table: Table, nodes: list[Node]) -> int:
    blocks = (_statements(table, node) for node in nodes)
    return sum(1 for block in blocks for statement in block[:-1] if _unwrapped(statement).type in table.exits)


def _unused(table: Table, block: Node, nodes: list[Node]) -> int:
    """Return names that stand nowhere but where they are bound, and values that are named only to be returned."""
    occurrences = Counter(text(node) for node in nodes if not node.child_count and "identifier" in node.type)
    words = text(block)
    lone = sum(
        1
        for name in bound(table, [node for node in nodes if node.type in _BINDING])
        if not name.startswith("_") and occurrences[name] == 1 and f"{{{name}}}" not in words
    )
    returned = 0
    for node in nodes:
        for first, second in pairwise(_statements(table, node)):
            binding = any(n.type in _BINDING for n in (first, *first.named_children))
            names = bound(table, [n for n in walk(first) if n.type in _BINDING]) if binding else set[str]()
            value = text(second).removeprefix("return").strip(" ;\n\t")
            returned += value in names and occurrences[value] == 2
    return lone + returned


def _magic(table: Table, nodes: list[Node]) -> int:
    """Numbers in comparisons whose meaning nothing says."""
    comparisons = ("<", "<=", ">", ">=", "==", "!=", "===", "!==")
    return sum(
        1
        for node in nodes
        if node.type in table.numbers
        and node.parent is not None
        and any(child.type in comparisons for child in node.parent.children)
        and text(node).rstrip("nLlUuFf").partition("_")[0] not in _PLAIN
    )


def _collecting_loops(table: Table, nodes: list[Node]) -> int:
    """Loops that do nothing but add to a collection, perhaps under one condition."""
    return sum(
        1 for node in nodes if node.type in table.loops and _only_collects(table, node.child_by_field_name("body"))
    )


def _only_collects(table: Table, node: Node | None, deep: bool = False) -> bool:
    if node is None:
        return False
    inner = _statements(table, node.named_children[0] if _holds_list(node) else node)
    if len(inner) != 1:
        return False
    only = _unwrapped(inner[0])
    if only.type in table.conditions and not deep and only.child_by_field_name("alternative") is None:
        return _only_collects(table, only.child_by_field_name("consequence"), deep=True)
    called = text(only).replace("\n", " ")
    return only.type in {*table.callees, "assignment_statement"} and any(
        f".{push}(" in called or f"= {push}(" in called for push in table.pushes
    )


def _holds_list(node: Node) -> bool:
    return len(node.named_children) == 1 and node.named_children[0].type == "statement_list"


def _null_choices(table: Table, nodes: list[Node]) -> int:
    """Choices whose condition is whether a value is there, with one value in each branch."""
    if table.nothing is None:
        return 0
    count = 0
    for node in nodes:
        if node.type == "match_expression":
            arms = [n for n in walk(node) if n.type == "match_arm"]
            count += len(arms) == 2 and table.nothing.search(text(node)) is not None and text(node).count("\n") <= 3
        elif node.type in table.conditions and node.type not in table.loops:
            condition = condition_of(table, node)
            other = node.child_by_field_name("alternative")
            short = text(node).count("\n") <= 4 and "return" not in text(node)
            if condition is not None and other is not None and short:
                count += table.nothing.search(text(condition)) is not None
    return count


def _repeated(table: Table, nodes: list[Node], least: int) -> int:
    """Count runs of at least so many statements that stand in the function more than once."""
    runs: Counter[tuple[str, ...]] = Counter()
    for node in nodes:
        inner = [" ".join(text(statement).split()) for statement in _statements(table, node)]
        runs.update(tuple(inner[i : i + least]) for i in range(len(inner) - least + 1))
    return sum(1 for count in runs.values() if count > 1)


def _repeated_types(table: Table, root: Node) -> Counter[str]:
    return Counter(" ".join(text(node).split()) for node in walk(root) if node.type in table.types)


def _written_out(table: Table, block: Node, repeated: Counter[str], least: float) -> int:
    """Long types of this function that its module writes out again and again."""
    own = {" ".join(text(node).split()) for node in walk(block.parent or block) if node.type in table.types}
    return sum(1 for kind in own if len(kind) > least and repeated[kind] > 1)
