"""Looking at a body before it runs: what it may name, call and change (AST only, nothing is executed)."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from importlib import import_module
from types import ModuleType

from criticality.bodies import Finding
from criticality.languages.base.grammar.table import read_table
from criticality.languages.python.names import IMPORTABLE, PACKAGE
from criticality.languages.python.skeleton import body_source
from criticality.lattice_plan import FunctionPlan

_TABLE = read_table(PACKAGE)
#: What gives away frames.
_INSIDE = ("gi_", "cr_", "ag_", "tb_", "f_", "co_")


def inspect_body(body: str, function: FunctionPlan, *, module: str, siblings: Collection[str]) -> list[Finding]:
    """Return what a body does that it may not.

    Args:
        body: statements that parse.
        module: the name of the module that the function stands in.
        siblings: names of the other functions that its module defines or imports.
    """
    tree = ast.parse(f"def {function.name}():\n{body_source(body)}")
    found = [*_security(tree, {p.name for p in function.parameters}), *_plan(tree, function, module, siblings)]
    return list(dict.fromkeys([*found, *_purity(tree, function)]))


def leaked_logic(source: str) -> list[str]:
    """Return functions of a skeleton whose bodies are more than documentation and ``todo``."""
    wanted = ast.dump(ast.parse(_TABLE.todo).body[0])
    leaks: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            statements = node.body[1:] if ast.get_docstring(node) is not None else node.body
            if [ast.dump(s) for s in statements] != [wanted]:
                leaks.append(node.name)
    return leaks


def declaration_fault(text: str) -> str:
    """Tell why this may not stand before a function: declarations are private, and nothing in them runs."""
    if not text.strip():
        return ""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return "the declarations do not parse"
    for node in tree.body:
        names = [node.name] if isinstance(node, ast.FunctionDef) else []
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.target, ast.Name)
            and isinstance(node.value, ast.Constant)
        ):
            names = [node.target.id]
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.Subscript):
            names = [t.id for t in node.targets if isinstance(t, ast.Name)]
        if not names or not all(n.startswith("_") and not n.startswith("__") for n in names):
            return "the declarations hold more than private functions, constants and aliases"
    return ""


def _security(tree: ast.AST, parameters: Collection[str]) -> Iterator[Finding]:
    for node in ast.walk(tree):
        if words := _TABLE.forbidden.get(type(node).__name__):
            yield Finding("security", f"it holds {words}, which a body may not")
        elif isinstance(node, ast.Name) and (node.id in _TABLE.outside or node.id.startswith("__")):
            yield Finding("security", f"it uses {node.id}, which reaches outside the function")
        elif isinstance(node, ast.Attribute) and node.attr.startswith(("__", *_INSIDE)):
            yield Finding("security", f"it reads {node.attr}, which reaches inside the language")
        elif isinstance(node, ast.Attribute) and node.attr in _TABLE.members:
            yield Finding("security", f"it uses {node.attr}; write it out, or an f-string")
    yield from _modules(tree, parameters)


def _modules(tree: ast.AST, parameters: Collection[str]) -> Iterator[Finding]:
    """Find modules that are used otherwise than as ``module.name``, a public name that is no module."""
    own = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    own.update(parameters, (node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)))
    read = {id(node.value): node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in IMPORTABLE - own:
            module, name = import_module(node.id), read.get(id(node), "")
            there = getattr(module, name, None)
            if not name or name not in getattr(module, "__all__", dir(module)) or isinstance(there, ModuleType):
                yield Finding("security", f"it uses {node.id} otherwise than as {node.id}.name with a public name")


def _plan(tree: ast.AST, function: FunctionPlan, module: str, siblings: Collection[str]) -> Iterator[Finding]:
    planned = {call.partition(".")[2] for call in function.calls} | {function.name}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in siblings and node.id not in planned:
            yield Finding("semantic", f"it uses {module}'s {node.id}, which is not among its planned calls")
        elif isinstance(node, ast.Name) and node.id in _TABLE.wants:
            yield Finding("semantic", "it leaves something to do")


def _purity(tree: ast.AST, function: FunctionPlan) -> Iterator[Finding]:
    purity = function.contract.purity or "pure"
    if purity != "io":
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in _TABLE.console:
                yield Finding("semantic", f"it uses {node.id}, and its contract says PURITY: {purity}")
