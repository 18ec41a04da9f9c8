"""Whether a function can be adopted, by its text alone: plain values in, a plain value out, nothing beside."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from criticality.languages.python.names import WORDS

_WORDS: dict[str, list[str]] = WORDS["unsuitable"]
_MODULES, _CLOCK, _SYSTEM = _WORDS["modules"], _WORDS["clock"], _WORDS["system"]
Function = ast.FunctionDef | ast.AsyncFunctionDef


def refusal(node: Function, classes: Collection[str]) -> str:
    """Tell why a function cannot be adopted; empty where nothing in its text speaks against it.

    Args:
        classes: names of the classes that its file defines.
    """
    star = node.args.vararg if not (node.args.posonlyargs or node.args.args or node.args.kwonlyargs) else None
    others = (f"it takes any number of values (*{star.arg})",) if star else ()
    return next(chain(outside(node), (words for words, _ in types(node, classes)), others), "")


def is_lazy(node: Function) -> bool:
    """Tell whether a function gives its items one by one: it yields, or returns what is called as an iterator is."""
    said = node.returns.value if isinstance(node.returns, ast.Subscript) else node.returns
    own = list(own_parts(ast.Module(node.body, [])))
    given = [part.value for part in own if isinstance(part, ast.Return)]
    made = {ast.unparse(one.func).removeprefix("itertools.") for one in given if isinstance(one, ast.Call)}
    made |= {last_name(said)} if said else set()
    items = any(isinstance(part, ast.Yield | ast.YieldFrom) for part in own)
    return items or any(isinstance(one, ast.GeneratorExp) for one in given) or not made.isdisjoint(_WORDS["lazy"])


def outside(node: Function) -> Iterator[str]:
    """Yield why a function cannot be called for a value alone, whatever it takes."""
    if isinstance(node, ast.AsyncFunctionDef):
        yield "it is a coroutine"
    own = [part for statement in node.body for part in (statement, *own_parts(statement))]
    for decorator in node.decorator_list:
        name = last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if name in _WORDS["decorators"]:
            yield f"it is decorated with @{name}"
    yield from _effects(own)


def _effects(own: list[ast.AST]) -> Iterator[str]:
    for part in own:
        if isinstance(part, ast.Global | ast.Nonlocal):
            yield f"it changes {', '.join(part.names)} outside itself"
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in _WORDS["outside"]:
            yield f"it reaches outside: {part.func.id}()"
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in _WORDS["clock"]:
            yield f"it looks at the clock: {ast.unparse(part.func)}()"
        elif isinstance(part, ast.Import | ast.ImportFrom):
            names = [part.module or ""] if isinstance(part, ast.ImportFrom) else [one.name for one in part.names]
            yield from (f"it reaches outside: import {n}" for n in names if n.partition(".")[0] in _MODULES)
        elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
            owner, name = part.value.id, part.attr
            if owner in _MODULES or (owner == "os" and name != "path") or (owner == "sys" and name in _SYSTEM):
                yield f"it reaches outside: {owner}.{name}"


def types(node: Function, classes: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield what a function needs or gives that is no plain value, in words, and its type where that is told."""
    called = {part.func.id for part in ast.walk(node) if isinstance(part, ast.Call) and isinstance(part.func, ast.Name)}
    for arg in needed(node.args):
        if arg.arg in called:
            yield f"its parameter {arg.arg} is a function, no plain value", ""
        if name := _no_value(arg.annotation, classes):
            yield f"its parameter {arg.arg} is a {name}, no plain value", name
        if ascii(arg.arg) != repr(arg.arg.lower()):
            yield f"its parameter {arg.arg} is not in lower case ASCII", ""
    if not is_lazy(node) and (name := _no_value(node.returns, classes)):
        yield f"its result is a {name}, no plain value", name


def needed(args: ast.arguments) -> list[ast.arg]:
    """Return the parameters that have no default."""
    plain = [*args.posonlyargs, *args.args]
    named = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    return [*plain[: len(plain) - len(args.defaults)], *(arg for arg, default in named if default is None)]


def _no_value(annotation: ast.expr | None, classes: Collection[str]) -> str:
    """Return the first type in an annotation of which there are no plain values."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            annotation = ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return ""
    names = (last_name(part) for part in ast.walk(annotation)) if annotation else ()
    return next((name for name in names if name in _WORDS["no_values"] or name in classes), "")


def line_of(node: ast.ClassDef, known: Mapping[str, ast.ClassDef], depth: int = 0) -> Iterator[ast.ClassDef]:
    """Yield a class and those that it is made from, the nearest first."""
    yield node
    for base in node.bases if depth < 8 else ():
        above = known.get(last_name(base.value if isinstance(base, ast.Subscript) else base))
        if above is not None and above is not node:
            yield from line_of(above, known, depth + 1)


def last_name(node: ast.AST) -> str:
    """Return the last part of a dotted name; empty where a node is none."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def own_parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a function, without those of functions within it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, Function | ast.Lambda | ast.ClassDef):
            yield from own_parts(child)
