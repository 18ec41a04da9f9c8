"""Tests for the person: the judge's cases as tables that pytest reads, the most telling ones first."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, cast

from criticality.judging.domain import Domain, fields_of
from criticality.judging.wire import Codec
from criticality.language import Plan, Tree
from criticality.lattice_plan import FunctionPlan, ModulePlan
from criticality.spec.spec import Spec

_MOST, _WIDEST = 12, 400
_NAMES = {"Decimal": "from decimal import Decimal", "UUID": "from uuid import UUID", "datetime": "import datetime"}


def case_files(spec: Spec, plan: Plan, cases: Mapping[str, list[list[Any]]]) -> Tree:
    """Return a test file for each module that has cases."""
    codec = Codec(Domain(spec), plan)
    written = {module.name: _file(spec, codec, module, cases) for module in plan}
    return {f"tests/test_{name}.py": text for name, text in written.items() if text}


def _file(spec: Spec, codec: Codec, module: ModulePlan, cases: Mapping[str, list[list[Any]]]) -> str:
    parts = [
        part
        for function in module.functions
        for part in _tests(codec, function, f"{module.name}.{function.name}", cases)
    ]
    if not parts:
        return ""
    body = "\n\n".join(parts)
    tested = [
        f.name for f in module.functions if f"def test_{f.name}(" in body or f"def test_{f.name}_raises(" in body
    ]
    types = sorted(name for name in spec.named_types() if _names(body, name))
    head = [f'"""Cases of {module.name}: calls that were judged, with their results."""', ""]
    plain = sorted(line for word, line in _NAMES.items() if _names(body, word))
    head += [*(line for line in plain if line.startswith("import")), *(line for line in plain if line[0] == "f")]
    head += [*([""] if plain else []), "import pytest", ""]
    head += [f"from {spec.package}.domain import {', '.join(types)}"] if types else []
    head += [f"from {spec.package}.{module.name} import {', '.join(sorted(tested))}", "", ""]
    return "\n".join(head) + "\n" + body


def _names(text: str, name: str) -> bool:
    import re

    return re.search(rf"\b{name}\b", text) is not None


def _tests(codec: Codec, function: FunctionPlan, name: str, cases: Mapping[str, list[list[Any]]]) -> list[str]:
    returned: list[str] = []
    raised: list[str] = []
    for args, error, result in codec.cases(name, cases.get(name, ())):
        row, rows = f"({_literal(codec, args)}, {error or _literal(codec, result)})", raised if error else returned
        if len(row) <= _WIDEST and len(rows) < _MOST and "nan" not in row:
            rows.append(row)
    tables: list[str] = []
    if returned:
        tables.append(_table(function.name, "args, result", returned, f"assert {function.name}(*args) == result"))
    if raised:
        check = f"with pytest.raises(error):\n        {function.name}(*args)"
        tables.append(_table(f"{function.name}_raises", "args, error", raised, check))
    return tables


def _table(name: str, names: str, rows: list[str], check: str) -> str:
    table = "\n".join(f"        {row}," for row in rows)
    given = f'@pytest.mark.parametrize(\n    "{names}",\n    [\n{table}\n    ],\n)\n'
    return f"{given}def test_{name}({names}):\n    {check}\n"


def _literal(codec: Codec, value: Any) -> str:
    """Return a value as Python writes it down."""
    name, types = type(value).__name__, codec.domain.types
    if isinstance(value, Enum):
        return f"{name}.{value.name}"
    if name in codec.domain.spec.data_models:
        held = (
            f"{field}={_literal(codec, getattr(value, field))}" for field, _ in fields_of(codec.domain.spec, name)
        )
        return f"{name}({', '.join(held)})"
    if isinstance(value, tuple):
        items = [_literal(codec, item) for item in cast("tuple[Any, ...]", value)]
        text = f"({', '.join(items)}{',' if len(items) == 1 else ''})"
    elif isinstance(value, frozenset):
        items = [_literal(codec, item) for item in cast("frozenset[Any]", value)]
        text = f"frozenset({{{', '.join(sorted(items))}}})" if items else "frozenset()"
    elif isinstance(value, dict):
        pairs = cast("dict[Any, Any]", value).items()
        return f"{{{', '.join(f'{_literal(codec, k)}: {_literal(codec, v)}' for k, v in pairs)}}}"
    else:
        bases: tuple[Any, ...] = (bool, int, float, str, bytes, Decimal)
        base = next((kind for kind in bases if isinstance(value, kind)), None)
        text = repr(base(value)) if base is not None and name in types else repr(value)
    return f"{name}({text})" if name in types else text
