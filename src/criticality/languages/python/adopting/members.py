"""What a class of a package can be asked, by its text alone: how one is made, its methods, those of its bases too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from criticality.languages.base.data import read_text
from criticality.languages.python.adopting.suitable import last_name, refusal
from criticality.languages.python.names import WORDS
from criticality.standing import Candidate, Parameter

_OPERATORS: dict[str, str] = WORDS["operators"]
_NONE, _ERRORS = frozenset(WORDS["unsuitable"]["bases"]), tuple(WORDS["unsuitable"]["errors"])
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ROLES: Any = WORDS["roles"]
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def in_lower_case(name: str) -> str:
    """Return a class's name as the specification can have it: ``lru_cache`` of ``LRUCache``."""
    return _HUMP.sub("_", name).lower().strip("_")


def as_class(node: ast.ClassDef, known: Mapping[str, ast.ClassDef], plain: Candidate) -> Candidate:
    """Return a class with what can be asked of it.

    Args:
        known: classes of its package, by name.
        plain: what it has in common with a function.
    """
    line = list(_line(node, {**_own(), **known}))
    functions = {one.name: one for base in reversed(line) for one in base.body if isinstance(one, _Function)}
    made = functions.get("__init__") or functions.get("__new__")
    members = {one.name: one for function in functions.values() if (one := _member(function, node, known))}
    parameters = tuple(parameters_of(_bound(made).args)) if made else tuple(_fields(line))
    why = _kind_refused(node, line, functions) or _unasked(members.values())
    if made and not any(one.role == "maker" and not one.refused for one in members.values()):
        why = why or refusal(_bound(made), set(known) - {node.name}, maker=True)
    return replace(plain, refused=plain.refused or why, members=members, parameters=parameters)


def _kind_refused(node: ast.ClassDef, line: list[ast.ClassDef], functions: Mapping[str, _Function]) -> str:
    """Tell why nothing of a class of this kind is called; empty where it may be."""
    named = {node.name, *(last_name(base) for one in line for base in one.bases)}
    if node.name.startswith("_"):
        return "it is private"
    if found := sorted(name for name in named if name in _NONE or name.endswith(_ERRORS)):
        return f"it is a class of the kind of {found[0]}, of which nothing is called"
    abstract = [name for name, one in functions.items() if "abstractmethod" in _decorators(one)]
    return f"it is abstract: {abstract[0]} is left to others" if abstract else ""


def _unasked(members: Iterable[Candidate]) -> str:
    able = any(one.role == "method" and not one.refused for one in members)
    return "" if able else "it is a class without a method that takes and gives plain values"


@cache
def _own() -> dict[str, ast.ClassDef]:
    """Return Python's own classes that others are made from."""
    tree = ast.parse(read_text("criticality.languages.python.adopting", "bases.txt"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _line(node: ast.ClassDef, known: Mapping[str, ast.ClassDef], depth: int = 0) -> Iterator[ast.ClassDef]:
    """Yield a class and those that it is made from, the nearest first."""
    yield node
    for base in node.bases if depth < 8 else ():
        inner = base.value if isinstance(base, ast.Subscript) else base
        above = known.get(last_name(inner))
        if above is not None and above is not node:
            yield from _line(above, known, depth + 1)


def _member(function: _Function, node: ast.ClassDef, known: Mapping[str, ast.ClassDef]) -> Candidate | None:
    name, written = function.name.strip("_"), function.name
    roles = [role for one in _decorators(function) if (role := _ROLES.get(one))]
    private = written.startswith("_") and written not in _OPERATORS
    if private or not name.islower() or "setter" in _decorators(function):
        return None
    bound = _bound(function)
    own = () if written == "__exit__" else tuple(parameters_of(bound.args))
    why = "" if written == "__exit__" else refusal(bound, set(known) - {node.name})
    if "staticmethod" in _decorators(function):
        why = "it is a static method"
    role = roles[0] if roles else "method"
    return Candidate(name, "", name, Path(), written=written, parameters=own, refused=why, role=role)


def _decorators(function: _Function) -> list[str]:
    return [last_name(one.func if isinstance(one, ast.Call) else one) for one in function.decorator_list]


def _bound(function: _Function) -> _Function:
    """Return a method without the object that it is of."""
    args = function.args
    fewer = ast.arguments(
        args.posonlyargs[1:], args.args if args.posonlyargs else args.args[1:], args.vararg, args.kwonlyargs,
        args.kw_defaults, args.kwarg, args.defaults,
    )  # fmt: skip
    whole = len(fewer.posonlyargs) + len(fewer.args)
    fewer.defaults = fewer.defaults[len(fewer.defaults) - min(whole, len(fewer.defaults)) :]
    return type(function)(function.name, fewer, function.body, function.decorator_list, function.returns)


def _fields(line: list[ast.ClassDef]) -> Iterator[Parameter]:
    """Yield what the fields of a record are made from: a dataclass, or a named tuple."""
    for node in reversed(line):
        decorators = {last_name(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list}
        named = "NamedTuple" in {last_name(base) for base in node.bases}
        for one in node.body if named or decorators & {"dataclass", "define", "frozen", "attrs"} else ():
            held = isinstance(one, ast.AnnAssign) and last_name(one.annotation) not in ("ClassVar", "KW_ONLY")
            if held and isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                yield Parameter(one.target.id, ast.unparse(one.value) if one.value else "")


def parameters_of(args: ast.arguments) -> Iterator[Parameter]:
    """Yield the parameters of a function."""
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    for arg, default in zip(plain, defaults, strict=True):
        yield Parameter(arg.arg, ast.unparse(default) if default else "")
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield Parameter(arg.arg, ast.unparse(default) if default else "", keyword=True)
