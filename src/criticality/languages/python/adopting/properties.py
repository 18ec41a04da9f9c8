"""What adopted functions promise, as properties: Hypothesis draws the values, the code as it is answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from criticality.languages.base.naming import filled
from criticality.languages.base.pages import page
from criticality.languages.python.adopting.tests import codec_of
from criticality.languages.python.names import PACKAGE, WORDS, used
from criticality.lattice_plan import FunctionPlan
from criticality.spec.predicates import Predicate
from criticality.spec.types import TypeRef
from criticality.standing import Adopted, by_keyword

#: Cases of the judge that every run begins with, and how wide one may be: some fulfil REQUIRES, whatever is drawn.
_KEPT, _WIDEST = 8, 120


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
    before = [
        p.code for p in (*contract.requires, *contract.invariants)
        if _plain(p) and not p.raised and "result" not in p.names
    ]  # fmt: skip
    names = [p.name for p in function.parameters]
    drawn = ", ".join(filled(WORDS["strategies"], p.type) for p in function.parameters)
    kept = list(_kept(one))
    strategy = f"st.tuples({drawn})" + (f" | st.sampled_from([{', '.join(kept)}])" if kept else "")
    errors = [f"(raises({error!r}) and ({p.when or 'True'}))" for p in contract.predicates for error in p.raised]
    allowed = " or ".join(["not raises()", *dict.fromkeys(errors)])
    lines = [
        "@settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))",
        f"@given({strategy})",
        f"def test_{_alias(one)}(values):",
        f"    {', '.join(names)}{',' if len(names) == 1 else ''} = values",
        *(f"    assume({code})" for code in before),
        f"    result, raises = ended(lambda: {_call(one, function)})",
        f"    assert {allowed}, 'no error but those that are promised'",
        *checks,
    ]
    return "\n".join(lines) + "\n"


def _plain(predicate: Predicate) -> bool:
    """Tell whether a clause is an expression over values alone."""
    return predicate.checkable and not predicate.olds and not predicate.calls


def _check(predicate: Predicate) -> str:
    """Return a clause as a statement; one that says nothing of errors holds where none was raised."""
    if not _plain(predicate):
        return ""
    code = re.sub(r"\braises\((\w+)\)", r"raises('\1')", predicate.code)
    return f"    assert {code}" if predicate.raised else f"    assert raises() or ({code})"


def _kept(one: Adopted) -> Iterator[str]:
    cases = codec_of(one.artifacts).cases(one.candidate.id, one.cases)
    shown = [text for args, _, _ in cases if len(text := repr(args)) <= _WIDEST]
    yield from [text for text in dict.fromkeys(shown) if not re.search(r"\b(nan|inf)\b", text)][:_KEPT]


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
