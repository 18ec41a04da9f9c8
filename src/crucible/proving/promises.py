"""Which of the values that a witness gives were promised: by annotations, documented types, near tests, or a guard."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple, TypeAlias

from crucible.proving.case import ProofCase
from crucible.proving.change import functions
from crucible.proving.checking import parameters, words

Promise: TypeAlias = Literal["shown", "guarded", "not promised"]
_NAMED = re.compile(r"(?<!\w)isinstance\([^()]*,\s*\(?([\w., ]+)")


class Given(NamedTuple):
    """A parameter to which a witness gave something: of which function, and the types and classes of it."""

    function: str
    parameter: str
    kinds: tuple[str, ...]


def promises(case: ProofCase, *, of_values: bool = True) -> dict[Given, Promise]:
    """Return what promises the types and classes of all that a witness gives.

    Args:
        case: the witness, after it ran.
        of_values: whether classes count as well: of bad values that are to be refused, types alone are promised.
    """
    return dict(_each(case, of_values))


def _each(case: ProofCase, of_values: bool) -> Iterator[tuple[Given, Promise]]:
    taken = guards(case)
    explicit = given(case)
    for key, kinds in case.seen.called.items():
        path, name, parameter = re.fullmatch(r"(.*?):(.*)\((.*)\)", key).groups()  # pyright: ignore[reportOptionalMemberAccess] - as the probe writes it
        found = functions(case.change.text(path))
        owner, one = found.get(name.rpartition(".")[0]), found.get(name)
        said = re.findall(r"\w+", " ".join([parameters(one).get(parameter, ""), *_typed(parameter, one, owner)]))
        shown = [kind for ran in case.held for kind in ran.called.get(key, [])]
        of = {*said} | {word for kind in shown for word in re.findall(r"^\w+", kind)}
        known = {*said} | {more for word in of for more in words().promised.get(word, "").split()}
        one = Given(name, parameter, tuple(kinds))
        # What is called may fail by itself, and be meant to be heard.
        if parameter in explicit and any(re.match(words().callables, kind) for kind in kinds):
            yield one, "not promised"
            continue
        bare = kinds if of_values else [re.sub(r":\w+", "", kind) for kind in kinds]
        strange = {word for kind in bare for word in _strange(kind, said, known, shown)}
        yield one, "shown" if not strange else "guarded" if strange <= taken else "not promised"


def _strange(kind: str, said: list[str], known: set[str], shown: list[str]) -> set[str]:
    """Return the types and classes that neither an annotation nor, in the same depth, a near test covers."""
    free = any(re.fullmatch(r"_?[A-Z]\w?|_?\w*T", one) for one in said)
    strange = _atoms(kind) - {atom for one in shown for atom in _atoms(one)}
    strange = {word for depth, word in strange if word not in known and not (free and depth)}
    strange -= {one for one in strange if one.rpartition(".")[2] in said and "assay_witness" not in one}
    return strange | {one for one in ("NoneType",) if one in kind and "[" in kind and kind not in shown}


def _atoms(kind: str) -> set[tuple[int, str]]:
    """Return the words of a type, each with how deep it lies."""
    return {
        (kind.count("[", 0, one.start()) - kind.count("]", 0, one.start()), one[0])
        for one in re.finditer(r"[\w.]+", kind)
    }


def _typed(parameter: str, *documented: ast.AST | None) -> Iterator[str]:
    """Return the types that docstrings name for a parameter, in any of the three usual forms."""
    name = re.escape(parameter)
    forms = rf"(?m)^\s*(?:{name} ?\(([^)\n]*)\) ?:|:param ([^:\n]+) {name}:|:type {name}:(.*)|{name} : (.*))"
    for one in documented:
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for found in re.findall(forms, ast.get_docstring(one) or ""):
                yield "".join(found)


def guards(case: ProofCase) -> set[str]:
    """Return the classes and types of values for which there was code that the change takes away."""
    found = set[str]()
    for hunk in case.culpable:
        before, after = ("".join(lines) for lines in (hunk.base_lines, hunk.head_lines))
        before, after = (re.sub(r"#.*|(['\"]).*?\1", "", text) for text in (before, after))
        if len(re.findall(words().conditions, before)) > len(re.findall(words().conditions, after)):
            found |= {"zero", "neg", "empty"}
        found |= {*re.findall(r"[\w.]+", " ".join(_NAMED.findall(before)))} - {
            *re.findall(r"[\w.]+", " ".join(_NAMED.findall(after)))
        }
    return found


def given(case: ProofCase) -> set[str]:
    """Return the parameters to which the witness itself gives something; all where it cannot be told."""
    names = set[str]()
    for key in case.seen.called:
        path, name, parameter = re.fullmatch(r"(.*?):(.*)\((.*)\)", key).groups()  # pyright: ignore[reportOptionalMemberAccess] - as the probe writes it
        order = [one for one in parameters(functions(case.change.text(path)).get(name)) if one not in ("self", "cls")]
        bare = re.findall(r"\w+", name.partition(".__")[0])[-1]
        said = _called(case, bare)
        many = max((len(one.args) for one in said), default=99)
        if parameter in order[:many] or any(word.arg in (parameter, None) for one in said for word in one.keywords):
            names.add(parameter)
    return names


def _called(case: ProofCase, name: str) -> list[ast.Call]:
    found = (one for one in ast.walk(ast.parse(case.witness.test)) if isinstance(one, ast.Call))
    return [one for one in found if ast.unparse(one.func).rpartition(".")[2] == name]


def calls(node: ast.AST) -> list[ast.expr]:
    """Return what is called within a part of a test."""
    return [one.func for one in ast.walk(node) if isinstance(one, ast.Call)]
