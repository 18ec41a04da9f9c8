"""What a function takes or gives that is no plain value: whether it can be made, and the text that makes it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pkgutil import resolve_name
from symtable import symtable

from criticality.languages.python.adopting.suitable import Function, last_name, line_of, needed, outside, types
from criticality.languages.python.names import WORDS
from criticality.spec.predicates import free_names
from criticality.standing import Candidate, Package
from llm_runtime.grouping import grouped
from llm_runtime.structs import Struct

_UNSUITABLE, _OBJECTS = WORDS["unsuitable"], WORDS["objects"]
_PLAIN = {name for kind in _OBJECTS["plain"] for name in dir(resolve_name(kind))}
_STANDARD = [set(dir(resolve_name(kind))) for kind in _OBJECTS["standard"]]


class Around(Struct):
    """What a package has around a function.

    Args:
        classes: by name; ``objects`` are what those of one class have, each.
        givers: names of its classes, and of functions without a type that call one of these.
    """

    classes: Mapping[str, ast.ClassDef]
    objects: Sequence[set[str]]
    givers: set[str]


def around(nodes: Sequence[ast.AST | None]) -> Around:
    """Return what the parts of a package have."""
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    givers = {*classes}
    functions = [one for one in nodes if isinstance(one, Function) and not one.returns]
    for _ in range(4):  # as far as is followed what gives what others give
        givers |= {one.name for one in functions if givers & {*_called(one)}}
    return Around(classes, [*_STANDARD, *(_attributes(one, classes) for one in classes.values())], givers)


def as_function(node: Function, within: Around, plain: Candidate) -> Candidate:
    """Return a function with what it takes and gives that is no plain value, beyond what was read before."""
    found = [*types(node, within.classes), *_functions(node), *_used(node, within)]
    unmade = (f"{words}, and nothing here makes one" for words, kind in found if kind in _UNSUITABLE["unmade"])
    why = plain.refused or next(outside(node), "") or next(unmade, "")
    words = [*dict.fromkeys(words for words, _ in found)]
    if not node.returns and node.name in within.givers:
        words.append("its result may be an object of the package")
    if node.args.vararg:
        words.append(f"it takes any number of values: *{node.args.vararg.arg}")
    return replace(plain, refused=why, handed="; ".join(words))


def _called(node: Function) -> Iterator[str]:
    calls = [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
    owners = (one.value for one in calls if isinstance(one, ast.Attribute))
    yield from map(last_name, (*calls, *owners, *node.args.defaults))


def _functions(node: Function) -> Iterator[tuple[str, str]]:
    """Yield parameters without a type that are functions by their names: what is handed on is called elsewhere."""
    called = {*_OBJECTS["functions"], *(["key"] if "key=None" in ast.unparse(node.args) else [])}
    args = [arg.arg for arg in (*node.args.args, *node.args.kwonlyargs) if arg.annotation is None]
    yield from ((f"its parameter {name} is a function, no plain value", "") for name in args if name in called)


def _used(node: Function, within: Around) -> Iterator[tuple[str, str]]:
    """Yield parameters without a type that are asked for what no plain value has, and whether nothing here has it."""
    read = (one for one in ast.walk(node) if isinstance(one, ast.Attribute))
    asked = grouped((last_name(one.value), one.attr) for one in read)
    for name in (arg.arg for arg in needed(node.args) if arg.annotation is None):
        if strange := {*asked.get(name, ())} - _PLAIN:
            made = any(one.issuperset(asked[name]) for one in within.objects)
            yield f"its parameter {name} is an object with .{min(strange)}", "" if made else "object"


def _attributes(node: ast.ClassDef, known: Mapping[str, ast.ClassDef]) -> set[str]:
    """Return what objects of a class have, by its text and that of its bases."""
    parts = [part for base in line_of(node, known) for part in ast.walk(base)]
    named = {part.name for part in parts if isinstance(part, Function)}
    return {*dir(object), *named, *(last_name(one) for one in parts if isinstance(getattr(one, "ctx", 0), ast.Store))}


def making(package: Package, candidate: Candidate) -> tuple[str, list[str]]:
    """Return a function of what is drawn, with the imports that it needs, and the names of its module that it reads.

    Both are empty where a function takes what is drawn.
    """
    if not candidate.steps:
        return "", []
    text = "".join(f"{step}\n" for step in candidate.steps)
    top = symtable(package.texts[candidate.path], "", "exec").get_symbols()
    free, there = sorted(free_names(ast.parse(text))), {one.get_name() for one in top if one.is_assigned()}
    known = {package.name, *sys.stdlib_module_names} - there - {*_UNSUITABLE["modules"]}
    lines = [f"import {name}\n" for name in free if name in known]
    return "".join(lines) + "\n\n" * bool(lines) + text, [name for name in free if name in there]
