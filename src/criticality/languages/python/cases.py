"""Tests for the person: the judge's cases as tables that pytest reads, the most telling ones first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from typing import Any

from criticality.judging.domain import Domain
from criticality.judging.wire import Codec
from criticality.language import Plan, Tree
from criticality.languages.base.pages import page
from criticality.languages.python.names import PACKAGE, WORDS, used
from criticality.lattice_plan import ModulePlan
from criticality.spec.spec import Spec
from criticality.spec.types import TypeRef
from criticality.spec.values import fields_of, root

#: Rows of calls that return and of calls that raise, and how wide one is; examples in the README.
_MOST, _WIDEST = (200, 60), 400
_SHOWN, _NARROW = 3, 100
_NAMES: dict[str, str] = WORDS["literals"]


def case_files(spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> tuple[Tree, str]:
    """Return a test file for each module that has cases, and some calls as a session that doctest runs."""
    codec = Codec(Domain(spec), plan)
    files = {module.name: _file(spec, codec, module, cases) for module in plan}
    return {f"tests/test_{n}.py": t for n, t in files.items() if t}, _example(spec, codec, cases)


def _example(spec: Spec, codec: Codec, cases: Mapping[str, list[list[Any]]]) -> str:
    methods = {method.name for _, method, _, _ in spec.methods()}
    lines: list[str] = []
    for name, function in codec.functions.items():
        fitting = [
            (call, result)
            for args, error, value in codec.cases(name, cases.get(name, ()))
            if function.name in methods and not error and value is not None
            for given in [(literal(codec, p.type, arg) for p, arg in zip(function.parameters, args, strict=True))]
            for call in [f"{function.name}({', '.join(given)})"]
            for result in [literal(codec, function.result, value)]
            if len(call) + len(result) < _NARROW and "nan" not in call + result
        ]
        if fitting and len(lines) < 2 * _SHOWN:
            call, result = max(fitting, key=lambda pair: len(pair[0] + pair[1]))
            plain = "(" not in result.removeprefix("(") and "{" not in result
            lines += [f">>> {call}", result] if plain else [f">>> {call} == {result}", "True"]
    text = "\n".join(lines)
    named = sorted(used({name: name for name in (*methods, *spec.named_types())}, text))
    if not lines:
        return ""
    head = [f">>> {line}" for line in (*sorted(used(_NAMES, text)), f"from {spec.package} import {', '.join(named)}")]
    return "\n".join(f"    {line}" for line in (*head, *lines))


def _file(spec: Spec, codec: Codec, module: ModulePlan, cases: Mapping[str, list[list[Any]]]) -> str:
    parts: list[str] = []
    for name in (function.name for function in module.functions):
        known = f"{module.name}.{name}"
        call = f"{name}(*args)"
        parts += tables(
            name, written(codec, known, cases.get(known, ())), call, f"{call} == result", most=_MOST, without="nan"
        )
    if not parts:
        return ""
    body = "\n\n".join(parts)
    tested = [f.name for f in module.functions if re.search(rf"def test_{f.name}(_raises)?\(", body)]
    types = sorted(used({name: name for name in spec.named_types()}, body))
    plain = sorted(used(_NAMES, body), key=lambda line: (line.startswith("from"), line))
    lines = [f"from {spec.package}.domain import {', '.join(types)}"] if types else []
    lines += [f"from {spec.package}.{module.name} import {', '.join(sorted(tested))}"]
    return native_file(f"Cases of {module.name}: calls that were judged, with their results.", plain, lines, body)


def native_file(title: str, plain: Sequence[str], tested: Sequence[str], body: str) -> str:
    """Return a file that pytest reads.

    Args:
        plain, tested: imports of the language's own, and of what is tested.
    """
    return page(PACKAGE, "tests.jinja", {}, {"title": title, "plain": plain, "tested": tested, "body": body})


def tables(
    name: str, cases: Iterable[tuple[str, str, str]], call: str, holds: str, *, most: tuple[int, int], without: str
) -> list[str]:
    """Return the tests of a function: a table of calls that return, and one of calls that raise.

    Args:
        cases: arguments as a tuple, error (empty where it returned) and result, as they are written.
        call: a call with ``args``.
        holds: what has to hold of ``result``.
        most: rows of each table.
        without: a pattern of what no row may hold.
    """
    held: tuple[list[str], list[str]] = [], []
    for args, error, result in cases:
        row, rows = f"({args}, {error or result})", held[bool(error)]
        if len(row) <= _WIDEST and len(rows) < most[bool(error)] and row not in rows and not re.search(without, row):
            rows.append(row)
    raising = f"with pytest.raises(error):\n        {call}"
    parts = (name, "result", held[0], f"assert {holds}"), (f"{name}_raises", "error", held[1], raising)
    return [
        page(PACKAGE, "table.jinja", {}, {"name": test, "what": what, "rows": rows, "check": check}) + "\n"
        for test, what, rows, check in parts
        if rows
    ]


def literal(codec: Codec, kind: TypeRef, value: Any, *, changing: bool = False) -> str:
    """Return a value of a type as Python writes it down.

    Args:
        changing: whether lists and sets are such as can be changed.
    """
    write, spec, args = partial(literal, codec, changing=changing), codec.domain.spec, kind.args
    match kind.name:
        case "Option":
            return "None" if value is None else write(args[0], value)
        case "List" | "Tuple":
            kinds = args if kind.name == "Tuple" else repeat(args[0], len(value))
            text = ", ".join(map(write, kinds, value))
            return f"[{text}]" if changing and kind.name == "List" else f"({text}{',' if len(value) == 1 else ''})"
        case "Set":
            text = f"{{{', '.join(sorted(write(args[0], item) for item in value))}}}" if value else ""
            return text or "set()" if changing else f"frozenset({text})"
        case "Map":
            return f"{{{', '.join(f'{write(args[0], k)}: {write(args[1], v)}' for k, v in value.items())}}}"
        case name if name in spec.enums:
            return f"{name}.{value.name}"
        case name if name in spec.newtypes:
            return f"{name}({write(root(spec, kind), value)})"
        case name if name in spec.data_models:
            fields = fields_of(spec, name)
            return f"{name}({', '.join(f'{field}={write(of, getattr(value, field))}' for field, of in fields)})"
        case _:
            return repr(value)


def written(
    codec: Codec, name: str, cases: Iterable[Sequence[Any]], *, changing: bool = False
) -> Iterator[tuple[str, str, str]]:  # fmt: skip
    """Yield arguments, error (empty where it returned) and result of cases of a function, as they are written."""
    function = codec.functions[name]
    kind = TypeRef("Tuple", tuple(p.type for p in function.parameters))
    for args, error, value in codec.cases(name, cases):
        result = "" if error else literal(codec, function.result, value, changing=changing)
        yield literal(codec, kind, args, changing=changing), error, result
