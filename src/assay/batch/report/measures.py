"""What is measured of one job's result: a few numbers, answers yes or no, and kinds, by protocol."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Measure: TypeAlias = bool | float | str
"""Whether, how much, or of what kind."""


def measures(protocol: str, result: Mapping[str, Any]) -> dict[str, Measure]:
    """The measures of one result by the names that a table shows; what it does not say is left out."""
    taken = {name: take(result) for name, take in _TAKEN.get(protocol, {}).items()}
    return {name: value for name, value in taken.items() if value is not None}


def measure_names(protocol: str) -> list[str]:
    """The names of a protocol's measures, those that matter most first."""
    return list(_TAKEN.get(protocol, ()))


def _said(field: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda result: result.get(field)


def _many(field: str) -> Callable[[Mapping[str, Any]], Any]:
    return lambda result: len(result.get(field, ()))


def _passed(result: Mapping[str, Any]) -> Any:
    # An anchor calibrates: that everyone solves it, or nobody, says nothing of a model.
    return None if result.get("anchor") else result.get("passed")


_TAKEN: dict[str, dict[str, Callable[[Mapping[str, Any]], Any]]] = {
    "ai_crucible": {"passed": _passed, "turns": _said("turns"), "tool calls": _said("tool_calls")},
    "crucible": {"ended early": _said("early_exit"), "loops": _said("loops_executed")},
    "crux": {"crux cards": _many("cards"), "aspects": _many("aspects"), "shifts of position": _many("shifts")},
    "fire_circle": {
        "falsehood": _said("falsehood"),
        "truth": _said("truth"),
        "indeterminacy": _said("indeterminacy"),
        "exchange": _said("exchange_type"),
        "a seat failed": _said("partial"),
    },
}
