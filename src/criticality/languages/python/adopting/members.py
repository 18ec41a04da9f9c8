"""What a class of a package can be asked, by its text alone: how one is made, its methods, those of its bases too."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from criticality.languages.base.data import read_text
from criticality.languages.python.adopting.objects import Around, as_function
from criticality.languages.python.adopting.suitable import Function, last_name, line_of, refusal
from criticality.languages.python.names import WORDS
from criticality.standing import Candidate, Parameter

_OPERATORS: dict[str, str] = WORDS["operators"]
_KINDS: dict[str, str] = WORDS["kinds"]
_NONE, _ERRORS = frozenset(WORDS["unsuitable"]["bases"]), tuple(WORDS["unsuitable"]["errors"])
_RECORDS = {"dataclass", "define", "frozen", "attrs"}


def as_class(node: ast.ClassDef, within: Around, plain: Candidate) -> Candidate:
    """Return a class with what can be asked of it.

    Args:
        plain: what it has in common with a function.
    """
    line = list(line_of(node, {**_own(), **within.classes}))
    functions = {one.name: one for base in reversed(line) for one in base.body if isinstance(one, Function)}
    found = functions.get("__init__") or functions.get("__new__")
    members = {one.name: one for function in functions.values() if (one := _member(function, node.name, within))}
    made = _bound(found, node.name, within) if found else Candidate("", "", "", Path(), parameters=tuple(_fields(line)))
    named = [node.name, *(last_name(base) for one in line for base in one.bases)]
    why = plain.refused or next(_reasons(named, functions, members), "") or made.refused
    words = "; ".join([made.handed, *(f"of {one.name}, {one.handed}" for one in members.values() if one.handed)])
    return replace(plain, refused=why, members=members, parameters=made.parameters, handed=words.strip("; ")[:1200])


def _reasons(
    named: Sequence[str], functions: Mapping[str, Function], members: Mapping[str, Candidate]
) -> Iterator[str]:
    """Yield why nothing of a class is called, by its name and those of its bases, and by its methods."""
    if named[0].startswith("_"):
        yield "it is private"
    kinds = sorted(name for name in named if name in _NONE or name.endswith(_ERRORS))
    yield from (f"it is a class of the kind of {name}, of which nothing is called" for name in kinds)
    left = (name for name, one in functions.items() if "abstractmethod" in _decorators(one))
    yield from (f"it is abstract: {name} is left to others" for name in left)
    if all(one.refused and not one.handed for one in members.values()):
        yield "it is a class without a method that can be called"


@cache
def _own() -> dict[str, ast.ClassDef]:
    """Return Python's own classes that others are made from."""
    tree = ast.parse(read_text("criticality.languages.python.adopting", "bases.txt"))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


def _member(function: Function, title: str, within: Around) -> Candidate | None:
    name, written = function.name.strip("_"), function.name
    if (name != written and written not in _OPERATORS) or not name.islower():
        return None
    if written == "__exit__":  # it is called as a block without an error ends
        return Candidate(name, "", name, Path(), written=written)
    kind = next((_KINDS[one] for one in _decorators(function) if one in _KINDS), "")
    one, why = _bound(function, title, within), kind or refusal(function, within.classes.keys() - {title})
    # What speaks against it as it is may still be made.
    handed = "" if kind or one.refused else one.handed
    return replace(one, id=name, name=name, written=written, refused=why, handed=handed)


def _bound(function: Function, title: str, within: Around) -> Candidate:
    """Return a method as a function without its object; what is seen of another one may stand for a result."""
    bound = copy.copy(function)
    bound.args = copy.deepcopy(function.args)
    del (bound.args.posonlyargs or bound.args.args)[:1]
    left = len(bound.args.posonlyargs) + len(bound.args.args)
    bound.args.defaults = bound.args.defaults[max(0, len(bound.args.defaults) - left) :]
    if bound.returns and title in ast.unparse(bound.returns):
        bound.returns = None
    return as_function(bound, within, Candidate("", "", "", Path(), parameters=tuple(parameters_of(bound.args))))


def _decorators(node: Function | ast.ClassDef) -> set[str]:
    return {last_name(one.func if isinstance(one, ast.Call) else one) for one in node.decorator_list}


def _fields(line: list[ast.ClassDef]) -> Iterator[Parameter]:
    """Yield what the fields of a record are made from: a dataclass, or a named tuple."""
    for node in reversed(line):
        record = _decorators(node) & _RECORDS or "NamedTuple" in map(last_name, node.bases)
        keyword = any("kw_only=True" in ast.unparse(one) for one in node.decorator_list)
        for name, kind, value in _annotated(node) if record else ():
            keyword = keyword or "KW_ONLY" in kind
            if not {"ClassVar", "KW_ONLY"} & {*re.findall(r"\w+", kind)} and "init=False" not in value:
                yield Parameter(name, value, keyword or "kw_only=True" in value)


def _annotated(node: ast.ClassDef) -> Iterator[tuple[str, str, str]]:
    for one in node.body:
        if isinstance(one, ast.AnnAssign):
            yield ast.unparse(one.target), ast.unparse(one.annotation), ast.unparse(one.value) if one.value else ""


def parameters_of(args: ast.arguments) -> Iterator[Parameter]:
    """Yield the parameters of a function."""
    plain = [*args.posonlyargs, *args.args]
    defaults = [None] * (len(plain) - len(args.defaults)) + list(args.defaults)
    for arg, default in zip(plain, defaults, strict=True):
        yield Parameter(arg.arg, ast.unparse(default) if default else "")
    yield from [Parameter(f"*{args.vararg.arg}", "()")] if args.vararg else []
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield Parameter(arg.arg, ast.unparse(default) if default else "", keyword=True)
