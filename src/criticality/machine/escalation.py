"""Escalation as a total function of failure, tier and attempt (CT11)."""

from __future__ import annotations

from typing import Literal, TypeAlias

from criticality.labels import Tier
from llm_runtime.models import Model
from llm_runtime.structs import Struct

FailureKind: TypeAlias = Literal[
    "syntax", "syntax_fatal", "type", "test", "timeout", "semantic", "complexity", "security", "coherence"
]
TIERS: tuple[Tier, ...] = ("worker", "fallback1", "fallback2")


class EscalationLimits(Model):
    """Attempts a tier gives to each kind of failure, and to a function in all; the last is the architect's."""

    syntax_retry_limit: int = 2
    type_retry_limit: int = 2
    test_retry_limit: int = 3
    max_attempts_per_function: int = 8
    require_opus_attempt: bool = True


class _Decision(Struct):
    """What comes next: ``retry`` in the tier, ``escalate`` to ``tier``, ``break``, ``review``, or ``lattice``."""

    action: Literal["retry", "escalate", "break", "review", "lattice"]
    tier: Tier | None = None
    hint: Literal["", "syntax", "types"] = ""


def decide(kind: FailureKind, tier: Tier, in_tier: int, total: int, limits: EscalationLimits) -> _Decision:
    """Decide on the ``in_tier``-th failure of ``tier``, the ``total``-th of the function (both from 1).

    Where the table names no row for a tier, the tier has the budget that the table gives to that kind of failure.
    """
    if kind == "coherence":
        return _Decision("lattice")
    wanted = _by_table(kind, tier, in_tier, limits)
    if total >= limits.max_attempts_per_function:
        return _Decision("review" if kind in ("test", "semantic", "security") else "break")
    last_is_next = total == limits.max_attempts_per_function - 1
    if last_is_next and tier != "fallback2" and limits.require_opus_attempt and wanted.action in ("retry", "escalate"):
        return _Decision("escalate", "fallback2")
    return wanted


def _by_table(kind: FailureKind, tier: Tier, in_tier: int, limits: EscalationLimits) -> _Decision:
    match kind:
        case "syntax":
            budget = limits.syntax_retry_limit + 1
            return _Decision("retry", tier, "syntax" if in_tier >= 2 else "") if in_tier < budget else _up(kind, tier)
        case "type":
            return _Decision("retry", tier, "types") if in_tier < limits.type_retry_limit else _up(kind, tier)
        case "test" | "complexity":
            budget = limits.test_retry_limit if tier == "worker" else 2
            return _Decision("retry", tier) if in_tier < budget else _up(kind, tier)
        case "security":
            return _Decision("escalate", "fallback2") if tier != "fallback2" else _Decision("review")
        case _:  # fatal syntax, timeout, semantic: no second try in the tier
            return _up(kind, tier)


def _up(kind: FailureKind, tier: Tier) -> _Decision:
    if tier == "fallback2":
        return _Decision("review" if kind in ("test", "semantic") else "break")
    return _Decision("escalate", TIERS[TIERS.index(tier) + 1])
