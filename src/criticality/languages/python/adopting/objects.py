"""What a function takes or gives that is no plain value: whether it can be made, and the text that makes it."""

from __future__ import annotations

import ast
import io
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from symtable import symtable
from types import FunctionType
from uuid import UUID

from criticality.languages.python.adopting.members import line_of
from criticality.languages.python.adopting.suitable import Function, last_name, needed, outside, own_parts, types
from criticality.languages.python.names import WORDS
from criticality.spec.predicates import free_names
from criticality.standing import Candidate, Package
from llm_runtime.structs import Struct

_UNMADE, _OUTSIDE = frozenset(WORDS["unsuitable"]["unmade"]), frozenset(WORDS["unsuitable"]["modules"])
_PLAIN = {n for kind in (str, bytes, int, float, Decimal, list, dict, set, date, datetime, UUID) for n in dir(kind)}
_KNOWN = io.StringIO, io.BytesIO, Path, re.Pattern, re.Match, timedelta, deque, Fraction, FunctionType
_OBJECTS = [set(dir(kind)) for kind in _KNOWN]


class Around(Struct):
    """What a package has around a function.

    Args:
        classes: by name; ``objects`` are what those of one class have, each.
        given: the class of what functions without a type give, by name, or that it is a function; each class is one.
    """

    classes: Mapping[str, ast.ClassDef]
    objects: Sequence[set[str]]
    given: Mapping[str, str]


def around(nodes: Sequence[ast.AST | None]) -> Around:
    """Return what the parts of a package have."""
    classes = {node.name: node for node in nodes if isinstance(node, ast.ClassDef)}
    given = {name: name for name in classes}
    functions = [one for one in nodes if isinstance(one, Function) and not one.returns]
    for _ in range(4):  # as far as is followed what gives what others give
        given |= {one.name: kind for one in functions if (kind := _given(one, given))}
    return Around(classes, [*_OBJECTS, *(_attributes(one, classes) for one in classes.values())], given)


def as_function(node: Function, within: Around, plain: Candidate) -> Candidate:
    """Return a function with what it takes and gives that is no plain value; ``plain`` is what was read of it before."""
    found = [*types(node, within.classes), *_used(node, within)]
    unmade = (f"{words}, and nothing here makes one" for words, kind in found if kind in _UNMADE)
    why = plain.refused or next(outside(node), "") or next(unmade, "")
    words = [words for words, _ in found]
    if not node.returns and node.name in within.given:
        words.append(f"its result is a {within.given[node.name]}, no plain value")
    if node.args.vararg:
        words.append(f"it takes any number of values: *{node.args.vararg.arg}")
    return replace(plain, refused=why, handed="; ".join(words))


def _given(node: Function, given: Mapping[str, str]) -> str:
    own = list(own_parts(ast.Module(node.body, [])))
    values = [part.value for part in own if isinstance(part, ast.Return) and part.value]
    named = {*_names(values), *_names(node.args.defaults)}
    values += [part.value for part in own if isinstance(part, ast.Assign) and named & {*_names(part.targets)}]
    inner = {part.name: "function" for part in own if isinstance(part, Function)}
    known = "function" if any(isinstance(one, ast.Lambda) for one in values) else ""
    return known or next((kind for name in (*named, *_names(values)) if (kind := {**given, **inner}.get(name))), "")


def _names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    yield from (last_name(one.func if isinstance(one, ast.Call) else one) for one in nodes)


def _used(node: Function, within: Around) -> Iterator[tuple[str, str]]:
    """Yield parameters without a type that are asked for what no plain value has, and whether nothing here has it."""
    read = [(last_name(one.value), one.attr) for one in ast.walk(node) if isinstance(one, ast.Attribute)]
    for arg in (arg for arg in needed(node.args) if arg.annotation is None):
        asked = {name for owner, name in read if owner == arg.arg}
        if strange := asked - _PLAIN:
            made = any(asked <= one for one in within.objects)
            yield f"its parameter {arg.arg} is an object with .{min(strange)}", "" if made else "object"


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
    head = f"def {candidate.name}_of({', '.join(p.name for p in candidate.parameters)}):\n"
    text = head + "".join(f"    {step}\n" for step in candidate.steps)
    top = symtable(package.texts[candidate.path], "", "exec").get_symbols()
    free, there = sorted(free_names(ast.parse(text))), {one.get_name() for one in top if one.is_assigned()}
    lines = [f"import {name}\n" for name in free if name in sys.stdlib_module_names - there - _OUTSIDE]
    return "".join(lines) + "\n\n" * bool(lines) + text, [name for name in free if name in there]
