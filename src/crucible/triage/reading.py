"""Reads triage's answer: what is only spelled otherwise is decoded, and no value is changed (CR11)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from crucible.config import ComplexityDomain, CouncilRole
from crucible.schemas import TriageOutput
from llm_runtime.errors import StructuredOutputError
from llm_runtime.http.shape import mapping
from llm_runtime.models import first_fault

_FENCED = re.compile(r"```\w*[ \t]*\r?\n((?:(?!```).)*)```", re.DOTALL)
_NAMES = ("complexity", "loop_grammar", "red_team_flavor")


class TriageError(StructuredOutputError):
    """Triage's answer is no usable council configuration; :attr:`raw` is the answer."""


def parse_triage(raw: str) -> TriageOutput:
    """Return the configuration that an answer is.

    Raises:
        TriageError: ``raw`` is not JSON, does not fit the schema, or breaks a constraint.
    """
    return read_triage(raw)[0]


def read_triage(raw: str) -> tuple[TriageOutput, list[str]]:
    """Return the configuration that an answer is, and what had to be decoded, a line each.

    Decoded are one fence around the whole answer, scalars that are spelled otherwise (``"3"``, ``3.0``, ``"true"``)
    and names in other letters (``PARALLEL``). Prose around the object, a number out of bounds, a council without
    its red team and JSON that breaks off are refused.

    Raises:
        TriageError: as :func:`parse_triage`.
    """
    decoded = list[str]()
    fenced = _FENCED.fullmatch(raw.strip())
    if fenced is not None:
        decoded.append("one fence around the whole answer")
    try:
        data = from_json(fenced[1] if fenced is not None else raw, allow_inf_nan=False)
        triage = TriageOutput.model_validate_json(to_json(_in_lower_case(data)))
    except ValidationError as fault:
        raise TriageError(f"triage gave no valid configuration: {_first_complaint(fault)}", raw) from None
    except ValueError as fault:
        raise TriageError(f"triage gave no valid configuration: Invalid JSON: {fault}", raw) from None
    for complaint in _broken_constraints(triage):
        raise TriageError(f"triage gave no valid configuration: {complaint}", raw)
    decoded.extend(_differences("", data, triage.model_dump(mode="json")))
    return triage, decoded


def _in_lower_case(data: object) -> object:
    """Return the data with the names of the schema's enumerations in lower case, as the schema spells them."""
    if not isinstance(data, dict):
        return data
    whole = cast("dict[str, Any]", data)
    lower = whole | {name: _lower(whole[name]) for name in _NAMES if name in whole}
    if isinstance(council := whole.get("council"), list):
        lower["council"] = [_with_role(seat) for seat in cast("list[Any]", council)]
    return lower


def _with_role(seat: object) -> object:
    fields = mapping(seat)
    return fields | {"role": _lower(fields["role"])} if "role" in fields else seat


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


def _differences(where: str, then: object, now: object) -> Iterator[str]:
    """Yield each scalar that was read otherwise than it is spelled; a default is not read."""
    if isinstance(now, dict):
        old = cast("dict[str, Any]", then)
        for name, value in cast("dict[str, Any]", now).items():
            if name in old:
                yield from _differences(f"{where}.{name}" if where else name, old[name], value)
    elif isinstance(now, list):
        for number, (old, value) in enumerate(zip(cast("list[Any]", then), cast("list[Any]", now), strict=True)):
            yield from _differences(f"{where}.{number}", old, value)
    elif (type(then), then) != (type(now), now):
        yield f"{where}: {json.dumps(then)} was read as {json.dumps(now)}"


def _first_complaint(fault: ValidationError) -> str:
    more = fault.error_count() - 1
    return first_fault(fault) + (f" (and {more} more)" if more else "")


def _broken_constraints(triage: TriageOutput) -> list[str]:
    """Return a complaint for each rule that spans several fields."""
    complaints: list[str] = []
    red_teams = sum(seat.role is CouncilRole.RED_TEAM for seat in triage.council)
    if red_teams != 1:
        complaints.append(f"council: exactly one seat must be red_team, and {red_teams} are")
    if triage.short_circuit_allowed and triage.complexity is not ComplexityDomain.SIMPLE:
        complaints.append(f"short_circuit_allowed: needs complexity simple, not {triage.complexity.value}")
    if not triage.reconstructed_query.strip():
        complaints.append("reconstructed_query: is empty")
    return complaints
