"""What adopted functions promise, as properties: of values made from REQUIRES, the code as it is answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from criticality.judging.clauses import Condition
from criticality.judging.values import Counts, Values
from criticality.languages.base.pages import page
from criticality.languages.python.adopting.tests import codec_of
from criticality.languages.python.names import PACKAGE, WORDS, used
from criticality.lattice_plan import FunctionPlan
from criticality.spec.literals import literals_of
from criticality.spec.predicates import Predicate
from criticality.spec.types import TypeRef
from criticality.standing import Adopted, by_keyword

#: Rows of values at most, how wide one may be, and of which origin how many are made beside the judge's.
_MOST, _WIDEST, _COUNTS = 200, 120, Counts(120, 60, 0, 200, 0)


def properties(adopted: Sequence[Adopted]) -> str:
    """Return a file with a property for each function that has a clause to check; empty where none has."""
    tests = [test for one in adopted if (test := _property(one))]
    if not tests:
        return ""
    names: dict[str, list[str]] = {}
    for one in adopted:
        names.setdefault(one.candidate.module, []).append(f"{one.candidate.name} as {_alias(one)}")
    body = "\n\n".join(tests).rstrip("\n")
    imports = [f"from {module} import {', '.join(sorted(held))}" for module, held in names.items()]
    values = {"used": used(WORDS["literals"], body), "imports": imports, "body": body}
    return page(PACKAGE, "properties.jinja", {}, values) + "\n"


def _alias(one: Adopted) -> str:
    return one.candidate.id.replace(".", "_")


def _property(one: Adopted) -> str:
    _, function = one.artifacts.functions[one.candidate.id]
    contract = function.contract
    checks = [check for p in (*contract.ensures, *contract.invariants) if (check := _check(p))]
    if not checks or not function.parameters:
        return ""
    names = [p.name for p in function.parameters]
    errors = [f"(raises({error!r}) and ({p.when or 'True'}))" for p in contract.predicates for error in p.raised]
    allowed = " or ".join(["not raises()", *dict.fromkeys(errors)])
    lines = [
        '@pytest.mark.parametrize(\n    "values",\n    [',
        *(f"        {row}," for row in _rows(one, function)),
        "    ],\n)",
        f"def test_{_alias(one)}(values):",
        f"    {', '.join(names)}{',' if len(names) == 1 else ''} = values",
        f"    result, raises = ended(lambda: {_call(one, function)})",
        f"    assert {allowed}, 'no error but those that are promised'",
        *checks,
    ]
    return "\n".join(lines) + "\n"


def _rows(one: Adopted, function: FunctionPlan) -> Iterator[str]:
    """Yield values that fulfil REQUIRES: those that the judge kept, and others that the same generator makes."""
    codec, contract = codec_of(one.artifacts), function.contract
    required = [p for p in (*contract.requires, *contract.invariants) if not p.raised and "result" not in p.names]
    kept = [args for args, _, _ in codec.cases(one.candidate.id, one.cases)]
    if all(map(_plain, required)):
        values = Values(codec.domain, literals_of([contract], one.artifacts.claims.values()), function.name)
        conditions = [Condition(codec.domain, p.code) for p in required]
        kinds = [(p.name, p.type) for p in function.parameters]
        kept = [case.args for case in values.cases(kinds, conditions, kept, _COUNTS)]
    rows = (row for args in kept if len(row := repr(args)) <= _WIDEST and not re.search(r"\b(nan|inf)\b", row))
    yield from islice(dict.fromkeys(rows), _MOST)


def _plain(predicate: Predicate) -> bool:
    """Tell whether a clause is an expression over values alone."""
    return predicate.checkable and not predicate.olds and not predicate.calls


def _check(predicate: Predicate) -> str:
    """Return a clause as a statement, nothing where it cannot fail; one without errors holds where none came."""
    if not _plain(predicate):
        return ""
    code = re.sub(r"\braises\((\w+)\)", r"raises('\1')", predicate.code)
    nothing: dict[str, Any] = {"__builtins__": {}}
    with suppress(Exception):
        if eval(code, nothing):  # noqa: S307 - it names no value, so it holds of every one
            return ""
    return f"    assert {code}" if predicate.raised else f"    assert raises() or ({code})"


def _call(one: Adopted, function: FunctionPlan) -> str:
    keywords = by_keyword(function, one.candidate)
    given = [
        f"{p.name}={_given(p.name, p.type)}" if p.name in keywords else _given(p.name, p.type)
        for p in function.parameters
    ]
    return f"{_alias(one)}({', '.join(given)})"


def _given(text: str, kind: TypeRef) -> str:
    """Return a value as Python's functions know it: lists and sets that can be changed."""
    args = kind.args
    match kind.name:
        case "List":
            inner = _given("item", args[0])
            return f"list({text})" if inner == "item" else f"[{inner} for item in {text}]"
        case "Set":
            return f"set({text})"
        case "Map":
            return f"{{key: {_given('item', args[1])} for key, item in {text}.items()}}"
        case "Option" if _given(text, args[0]) != text:
            return f"None if {text} is None else {_given(text, args[0])}"
        case _:
            return text
