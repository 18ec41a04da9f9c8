"""The circuit breaker's rates (CT11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from llm_runtime.models import Model

_LEAST_EVENTS = 2
_LEAST_FUNCTIONS = 5


class BreakerLimits(Model):
    """Shares of functions, 0.0 to 1.0, above which the structure itself is suspected."""

    module_escalation_rate: float = 0.20
    phase_failure_rate: float = 0.10


def tripped(units: Sequence[str], escalated: Sequence[str], failed: Sequence[str], limits: BreakerLimits) -> str:
    """Tell why the breaker trips, in one line; empty where it does not.

    A rate needs at least two events among at least five functions: one of three is no rate.
    """
    functions = [function for unit in units for function in unit.split("+")]
    of_module = Counter(function.partition(".")[0] for function in functions)
    up = Counter(function.partition(".")[0] for unit in escalated for function in unit.split("+"))
    for module, count in sorted(up.items()):
        total = of_module[module]
        if count >= _LEAST_EVENTS and total >= _LEAST_FUNCTIONS and count / total > limits.module_escalation_rate:
            return f"{count} of {total} functions of {module} needed a more capable model"
    down = sum(len(unit.split("+")) for unit in failed)
    enough = down >= _LEAST_EVENTS and len(functions) >= _LEAST_FUNCTIONS
    if enough and down / len(functions) > limits.phase_failure_rate:
        return f"{down} of {len(functions)} functions failed"
    return ""
