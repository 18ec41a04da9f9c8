"""What a class of a package can be asked, by its text alone: how one is made, its methods, those of its bases too."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from criticality.languages.base.data import read_text
from criticality.languages.python.adopting.suitable import last_name, refusal
from criticality.languages.python.names import WORDS
from criticality.standing import Candidate, Parameter

_OPERATORS: dict[str, str] = WORDS["operators"]
_KINDS: dict[str, str] = WORDS["kinds"]
_NONE, _ERRORS = frozenset(WORDS["unsuitable"]["bases"]), tuple(WORDS["unsuitable"]["errors"])
_RECORDS = {"dataclass", "define", "frozen", "attrs"}
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def as_class(node: ast.ClassDef, known: Mapping[str, ast.ClassDef], plain: Candidate) -> Candidate:
    """Return a class with what can be asked of it.

    Args:
        known: classes of its package, by name.
        plain: what it has in common with a function.
    """
    line, others = list(line_of(node, {**_own(), **known})), known.keys() - {node.name}
    functions = {one.name: one for base in reversed(line) for one in base.body if isinstance(one, _Function)}
    made = functions.get("__init__") or functions.get("__new__")
    members = {one.name: one for function in functions.values() if (one := _member(function, others))}
    parameters = [*parameters_of(made.args)][1:] if made else _fields(line)
    named = [node.name, *(last_name(base) for one in line for base in one.bases)]
    why = plain.refused or next(_reasons(named, functions, members), "") or (made and refusal(made, others)) or ""
    return replace(plain, refused=why, members=members, parameters=tuple(parameters))


def _reasons(
    named: Sequence[str], functions: Mapping[str, _Function], members: Mapping[str, Candidate]
) -> Iterator[str]:
    """Yield why nothing of a class is called, by its name and those of its bases, and by its methods."""
    if named[0].startswith("_"):
        yield "it is private"
    kinds = sorted(name for name in named if name in _NONE or name.endswith(_ERRORS))
    yield from (f"it is a class of the kind of {name}, of which nothing is called" for name in kinds)
    left = (name for name, one in functions.items() if "abstractmethod" in _decorators(one))
    yield from (f"it is abstract: {name} is left to others" for name in left)
    if all(one.refused for one in members.values()):
        yield "it is a class without a method that takes and gives plain values"


@cache
def _own() -> dict[str, ast.ClassDef]:
    """Return Python's own classes that others are made from."""
    tree = ast.parse(read_text("criticality.languages.python.adopting", "bases.txt"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def line_of(node: ast.ClassDef, known: Mapping[str, ast.ClassDef], depth: int = 0) -> Iterator[ast.ClassDef]:
    """Yield a class and those that it is made from, the nearest first."""
    yield node
    for base in node.bases if depth < 8 else ():
        inner = base.value if isinstance(base, ast.Subscript) else base
        above = known.get(last_name(inner))
        if above is not None and above is not node:
            yield from line_of(above, known, depth + 1)


def _member(function: _Function, others: Collection[str]) -> Candidate | None:
    name, written = function.name.strip("_"), function.name
    if (name != written and written not in _OPERATORS) or not name.islower():
        return None
    if written == "__exit__":  # it is called as a block without an error ends
        return Candidate(name, "", name, Path(), written=written)
    why = next((_KINDS[one] for one in _decorators(function) if one in _KINDS), "") or refusal(function, others)
    parameters = tuple(parameters_of(function.args))[1:]
    return Candidate(name, "", name, Path(), written=written, parameters=parameters, refused=why)


def _decorators(node: _Function | ast.ClassDef) -> set[str]:
    return {last_name(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list}


def _fields(line: list[ast.ClassDef]) -> Iterator[Parameter]:
    """Yield what the fields of a record are made from: a dataclass, or a named tuple."""
    for node in reversed(line):
        record = _decorators(node) & _RECORDS or "NamedTuple" in map(last_name, node.bases)
        for one in node.body if record else ():
            if isinstance(one, ast.AnnAssign) and last_name(one.annotation) not in ("ClassVar", "KW_ONLY"):
                yield Parameter(ast.unparse(one.target), ast.unparse(one.value) if one.value else "")


def parameters_of(args: ast.arguments) -> Iterator[Parameter]:
    """Yield the parameters of a function."""
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    for arg, default in zip(plain, defaults, strict=True):
        yield Parameter(arg.arg, ast.unparse(default) if default else "")
    yield from [Parameter(f"*{args.vararg.arg}", "()")] if args.vararg else []
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield Parameter(arg.arg, ast.unparse(default) if default else "", keyword=True)
