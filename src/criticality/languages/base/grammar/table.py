"""What one language needs to say of itself so that the shared source operations work on it: kinds, names, words."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from pydantic import TypeAdapter

from criticality.languages.base.data import read_text

#: Comparisons, arithmetic and logic, swapped; the same in every language of the C family.
OPERATORS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "===": "!==", "!==": "===",
    "+": "-", "-": "+", "*": "+", "/": "*", "%": "+", "&&": "||", "||": "&&",
    "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "++": "--", "--": "++",
}  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A language as a table over its tree-sitter grammar; kinds are node types of that grammar.

    Args:
        name: as in ``criticality.toml``.
        package, entry: the Python package of the grammar and the function in it that returns the language.
        indent: one level of indentation.
        indented: whether indentation says where a body begins and ends, and a first text in it is documentation.
        file: what stands before and after declarations to make them a file.
        function: what stands before and after statements to make them a function.
        todo: the statement of a body that is still to do.
        wants: texts of calls that say in a body that something was left to do.
        functions: kinds of declarations with a body.
        blocks: kinds of bodies.
        strings, comments: kinds whose text is not code.
        spanning: texts that may open a literal over several lines, whose lines are not to be indented.
        refused: patterns that no body may hold anywhere, not even in a comment, with the words for it.
        refused_code: the same, outside of literals and comments.
        directives: what a comment may not say, because a tool obeys it.
        attached: kinds that would attach to the function itself or to what stands around it.
        forbidden: kinds that no body may hold, with the words for it.
        outside: names that reach outside the function.
        members: names that may not be read from any value.
        console: names that write to the console, as written.
        unsteady: names whose value differs from call to call, as written.
        callees: kind of a call to the field with what is called.
        builtins: names that may be called bare; empty where the compiler knows no others.
        roots: where a path may begin, or what may follow the beginning, ``std`` to its parts; empty allows any.
        macros: macros that a body may use, where the language has them.
        bindings: kind to the fields that bind names.
        targets: kind of an assignment to the field with what is assigned.
        reaches: kinds that go from a value into it, to the field of the value.
        mutators: methods that change the value they are called on.
        changes_arguments: whether it is the first argument that a call to one of them changes.
        names: kinds of names.
        branches, loops: kinds that count for complexity and nesting.
        cases: kinds of the arms of a choice, but for the last resort among them.
        short_circuit: operators that open a path.
        decides: other kinds that open one.
        closed: kinds whose inside is not measured.
        otherwise: how an arm begins that takes whatever is left, as a pattern.
        exits: kinds after which nothing of a block runs.
        operators: what a mutant puts in the place of an operator.
        exchanged: the same for names that are called.
        droppable: kinds of statements that a mutant may leave out.
        numbers, truths: literals.
        conditions: kind to the field of its condition, or to its place among the parts of a node.
        negation: a condition turned around.
        types: kinds of types written out.
        pushes: methods that add to a collection.
        nothing: how an absent value is compared with, as a pattern.
        declares: kinds that a transformation may put before a function, with how they begin.
    """

    name: str
    package: str
    file: tuple[str, str]
    function: tuple[str, str]
    todo: str
    functions: frozenset[str]
    blocks: frozenset[str]
    strings: frozenset[str]
    comments: frozenset[str]
    entry: str = "language"
    indent: str = "    "
    indented: bool = False
    wants: tuple[str, ...] = ()
    spanning: tuple[str, ...] = ()
    refused: Mapping[str, str] = field(default_factory=dict[str, str])
    refused_code: Mapping[str, str] = field(default_factory=dict[str, str])
    directives: re.Pattern[str] | None = None
    attached: Mapping[str, str] = field(default_factory=dict[str, str])
    forbidden: Mapping[str, str] = field(default_factory=dict[str, str])
    outside: frozenset[str] = frozenset()
    members: frozenset[str] = frozenset()
    console: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    callees: Mapping[str, str] = field(default_factory=dict[str, str])
    builtins: frozenset[str] = frozenset()
    roots: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    paths: frozenset[str] = frozenset()
    macros: frozenset[str] = frozenset()
    bindings: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    targets: Mapping[str, str] = field(default_factory=dict[str, str])
    reaches: Mapping[str, str] = field(default_factory=dict[str, str])
    mutators: frozenset[str] = frozenset()
    changes_arguments: bool = False
    names: frozenset[str] = frozenset({"identifier"})
    branches: frozenset[str] = frozenset()
    loops: frozenset[str] = frozenset()
    cases: frozenset[str] = frozenset()
    short_circuit: frozenset[str] = frozenset({"&&", "||"})
    decides: frozenset[str] = frozenset({"catch_clause"})
    closed: frozenset[str] = frozenset()
    otherwise: re.Pattern[str] = re.compile("default")
    exits: frozenset[str] = frozenset()
    operators: Mapping[str, str] = field(default_factory=lambda: OPERATORS)
    exchanged: Mapping[str, str] = field(default_factory=dict[str, str])
    droppable: frozenset[str] = frozenset()
    numbers: frozenset[str] = frozenset()
    truths: frozenset[str] = frozenset()
    conditions: Mapping[str, str] = field(default_factory=dict[str, str])
    negation: str = "!({0})"
    types: frozenset[str] = frozenset()
    pushes: frozenset[str] = frozenset()
    nothing: re.Pattern[str] | None = None
    declares: Mapping[str, re.Pattern[str]] = field(default_factory=dict[str, re.Pattern[str]])


@cache
def read_table(package: str) -> Table:
    """Return the table that stands in a language's folder; roots with the same parts stand together there."""
    read = tomllib.loads(read_text(package, "grammar.toml"))
    roots = {root: parts for roots, parts in read.pop("roots", {}).items() for root in roots.split("|")}
    return TypeAdapter(Table).validate_python(
        {**read, "roots": roots, "operators": OPERATORS | read.get("operators", {})}
    )
