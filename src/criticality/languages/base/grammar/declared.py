"""What a transformation may put before a function: private functions, constants and names of types."""

from __future__ import annotations

from criticality.bodies import SpliceRefused
from criticality.languages.base.grammar.declarations import declarations, outermost
from criticality.languages.base.grammar.inspection import security
from criticality.languages.base.grammar.syntax import parse, refuse_hidden, text, walk
from criticality.languages.base.grammar.table import Table


def declaration_fault(table: Table, written: str) -> str:
    """Tell why declarations may not stand in a module, in one line; empty where they may."""
    if not written.strip():
        return ""
    before, after = table.file
    source = f"{before}{written}{after}"
    root = parse(table, source.encode()).root_node
    if root.has_error:
        return "the declarations do not parse"
    try:
        refuse_hidden(written)
    except SpliceRefused as refused:
        return str(refused).replace("the body holds", "the declarations hold")
    for node in outermost(table, root):
        pattern = table.declares.get(node.type)
        if pattern is None or not pattern.match(text(node)):
            return "the declarations hold more than private functions, constants and names of types"
        if node.type not in table.functions and any(n.type in table.callees for n in walk(node)):
            return "the declarations hold a constant that is computed"
    data = source.encode()
    for declaration in declarations(table, source):
        findings = security(table, data[declaration.start : declaration.end].decode())
        if findings:
            return f"{declaration.name}: {findings[0].what}"
    return ""
