"""Looking at a body before it runs: what it may name, call and change; nothing is executed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from criticality.bodies import Finding
from criticality.languages.base.grammar.declarations import declarations
from criticality.languages.base.grammar.syntax import read, read_statements, text, walk
from criticality.languages.base.grammar.table import Table
from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from tree_sitter import Node

Purity: TypeAlias = Literal["pure", "reads", "writes", "io"]
_SPACE = re.compile(r"\s+")


class BodyPlace(Struct):
    """Where a body stands, in the names of the source.

    Args:
        name: the function's own.
        callable: what it may call: planned functions, itself, and what makes values of the domain.
        siblings: every function of the system.
    """

    name: str
    parameters: Collection[str]
    callable: Collection[str]
    siblings: Collection[str]
    purity: Purity


def inspect(table: Table, body: str, place: BodyPlace) -> list[Finding]:
    """Return what a body does that it may not, each once.

    Raises:
        BodyUnreadable: it does not parse.
    """
    _, block = read_statements(table, body)
    nodes = list(walk(block))
    local = set(place.parameters) | bound(table, nodes)
    known = local | set(place.callable)
    findings = [*_security(table, nodes, known), *_calls(table, nodes, place, local), *_purity(table, nodes, place)]
    return list(dict.fromkeys(findings))


def security(table: Table, body: str, known: Collection[str] = ()) -> list[Finding]:
    """Return what reaches outside of a function, by rules of ours over its tree.

    Args:
        known: parameters and names of the domain, which may be called like something outside.

    Raises:
        BodyUnreadable: it does not parse.
    """
    _, block = read_statements(table, body)
    nodes = list(walk(block))
    return list(dict.fromkeys(_security(table, nodes, set(known) | bound(table, nodes))))


def leaked(table: Table, source: str) -> list[str]:
    """Return functions of a skeleton whose bodies are more than what says that they are to do."""
    data, _ = read(table, source)
    wanted = _SPACE.sub("", table.todo).rstrip(";")
    return [
        declaration.name
        for declaration in declarations(table, source)
        if _SPACE.sub("", data[declaration.start : declaration.end].decode()).rstrip(";") != wanted
    ]


def bound(table: Table, nodes: Collection[Node]) -> set[str]:
    """Return names that a body binds itself, wherever in it."""
    names: set[str] = set()
    for node in nodes:
        if _declares_function(node):
            continue
        for field in table.bindings.get(node.type, ()):
            for pattern in node.children_by_field_name(field) if field else [node]:
                names |= {text(inner) for inner in walk(pattern) if "identifier" in inner.type}
    return names


def _declares_function(node: Node) -> bool:
    """C++ can declare a function inside another one: a name that it does not bind to anything of its own."""
    declarator = node.child_by_field_name("declarator")
    if node.type == "parameter_declaration" and node.parent is not None and node.parent.parent is not None:
        return node.parent.parent.type == "function_declarator"
    return node.type == "declaration" and declarator is not None and declarator.type == "function_declarator"


def _security(table: Table, nodes: list[Node], known: Collection[str]) -> Iterator[Finding]:
    for node in nodes:
        words = table.forbidden.get(node.type) or table.attached.get(node.type)
        if words is not None and not _is_own(node, nodes):
            yield Finding("security", f"it holds {words}, which a body may not")
        if node.child_count:
            if node.type in table.paths:
                yield from _path(table, node)
            continue
        name = text(node)
        if "identifier" not in node.type:
            continue
        if name in table.outside and not _is_member(node) and (name not in known or _is_called(table, node)):
            yield Finding("security", f"it uses {name}, which reaches outside the function")
        if name in table.members and _is_member(node):
            yield Finding("security", f"it uses {name}, which reaches inside the language")
    if table.macros:
        for node in nodes:
            if node.type == "macro_invocation":
                yield from _macro(table, node)
    for node in nodes:
        if node.type in table.comments and table.directives is not None and table.directives.search(text(node)):
            yield Finding("security", "it holds a comment that a tool obeys")


def _is_own(node: Node, nodes: list[Node]) -> bool:
    """Tell whether it is the body's own block, or a keyword that shares its name with a kind."""
    return node == nodes[0] or (not node.is_named and node.type not in ("async", "import"))


def _is_member(node: Node) -> bool:
    """Tell whether it names a part of a value: ``value.name``."""
    previous = node.prev_sibling
    return previous is not None and previous.type in (".", "?.", "->")


def _is_called(table: Table, node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.child_by_field_name(table.callees.get(parent.type, "")) == node


def _path(table: Table, node: Node) -> Iterator[Finding]:
    """Look at the first two parts of ``std::fs::read``; the beginning decides."""
    if node.parent is not None and node.parent.type in table.paths:
        return
    parts = [part for part in re.split(r"::|\.", _SPACE.sub("", text(node))) if part]
    allowed = table.roots.get(parts[0]) if parts else None
    if allowed is None or len(parts) < 2:
        return
    second = re.split(r"[<(]", parts[1])[0]
    if second not in allowed:
        yield Finding("security", f"it uses {parts[0]}::{second}, which is not for computing")


def _macro(table: Table, node: Node) -> Iterator[Finding]:
    name = text(node.children[0])
    if name not in table.macros and f"{name}!" not in table.wants:
        yield Finding("security", f"it uses the macro {name}, which is not among those that a body may use")


def _calls(table: Table, nodes: list[Node], place: BodyPlace, local: set[str]) -> Iterator[Finding]:
    allowed = set(place.callable) | {place.name} | local
    for node in nodes:
        if not node.child_count and node.type in table.names and not _is_member(node):
            name = text(node)
            if name in place.siblings and name not in allowed and not _is_key(node):
                yield Finding("semantic", f"it uses {name}, which is not among its planned calls")
        field = table.callees.get(node.type)
        if field is None or not table.builtins:
            continue
        callee = node.child_by_field_name(field)
        if callee is None or callee.type not in table.names:
            continue
        name = text(callee)
        if name not in {*allowed, *table.builtins, *place.siblings} and not name[:1].isupper():
            yield Finding("semantic", f"it calls {name}, which is not among its planned calls")
    whole = _SPACE.sub("", text(nodes[0]))
    if any(_SPACE.sub("", want) in whole for want in table.wants):
        yield Finding("semantic", "it leaves something to do")


def _is_key(node: Node) -> bool:
    """Tell whether it names a field of a value that is being made."""
    following = node.next_sibling
    return following is not None and following.type == ":"


def _purity(table: Table, nodes: list[Node], place: BodyPlace) -> Iterator[Finding]:
    purity = place.purity
    if purity != "io":
        for code in (_SPACE.sub(" ", text(node)) for node in nodes if _is_spoken(table, node)):
            told = ((table.console, "writes to the console"), (table.unsteady, "differs from call to call"))
            for names, what in told:
                used = next((name for name in names if re.match(rf"(?:.*::)?{re.escape(name)}", code)), None)
                if used is not None:
                    yield Finding("semantic", f"it uses {used.strip('.(')}, which {what}; PURITY is {purity}")
    if purity in ("writes", "io"):
        return
    targets = [target for node in nodes for target in _targets(table, node)]
    # A parameter that is bound anew is the function's own from then on.
    arguments = set(place.parameters) - {text(target) for target in targets if target.type in table.names}
    changed = [target for target in targets if target.type in table.reaches]
    changed += [value for node in nodes for value in _changed_by_call(table, node)]
    if any(_root(table, value) in arguments for value in changed):
        yield Finding("semantic", f"it changes a value that it was given; PURITY is {purity}")


#: Kinds whose text is a name as written, with its path or its arguments.
_SPOKEN = frozenset(
    {
        "call_expression", "member_expression", "method_invocation", "macro_invocation", "qualified_identifier",
        "scoped_identifier", "new_expression", "object_creation_expression", "field_access",
    }
)  # fmt: skip


def _is_spoken(table: Table, node: Node) -> bool:
    return node.type in _SPOKEN or (node.type in table.names and text(node) in table.console)


def _targets(table: Table, node: Node) -> Iterator[Node]:
    """Yield what an assignment, a step or a ``delete`` changes."""
    if node.type == "unary_expression" and node.children[0].type == "delete":
        yield node.children[-1]
    field = table.targets.get(node.type)
    if field is None:
        return
    target = node.child_by_field_name(field) if field else _first_named(node)
    if target is not None:
        yield from target.named_children if target.type == "expression_list" else [target]


def _first_named(node: Node) -> Node | None:
    return next(iter(node.named_children), None)


def _changed_by_call(table: Table, call: Node) -> Iterator[Node]:
    """Yield the value that a method changes: ``value`` of ``value.sort()``, the argument of ``slices.Sort``."""
    callee = call.child_by_field_name(table.callees.get(call.type, ""))
    if callee is None:
        return
    method = callee.children[-1] if callee.child_count else callee
    if text(method) not in table.mutators:
        return
    receiver = call.child_by_field_name("object")
    arguments = call.child_by_field_name("arguments")
    if receiver is not None:
        yield receiver
    elif callee.type in table.reaches:
        yield callee.children[0]
    if table.changes_arguments and arguments is not None:
        yield from arguments.named_children[:1]


def _root(table: Table, node: Node) -> str:
    """Return the name that a part of a value begins with."""
    while node.type in table.reaches:
        field = table.reaches[node.type]
        inner = node.child_by_field_name(field) if field else _first_named(node)
        if inner is None:
            return ""
        node = inner
    return text(node) if node.type in table.names else ""
