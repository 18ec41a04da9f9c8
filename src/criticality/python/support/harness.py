"""What the generated tests stand on: one call with its outcome, and a message that says which promise broke."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import HealthCheck, Phase, settings

#: The same examples every time: a result is a property of the code, not of the day.
bounded = settings(
    max_examples=int(os.environ.get("CRITICALITY_EXAMPLES", "100")),
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate, Phase.shrink),
    print_blob=False,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
)


#: For what is measured, not looked for.
few = settings(bounded, max_examples=3)


@dataclass(frozen=True)
class Outcome:
    """How a call ended: a result, or an error."""

    result: Any
    error: Exception | None = None

    def raises(self, kind: type[BaseException]) -> bool:
        """Whether it ended with that error."""
        return isinstance(self.error, kind)

    def __str__(self) -> str:
        return f"it raised {self.error!r}" if self.error else f"the result was {self.result!r}"


def call(function: Callable[..., Any], *arguments: Any) -> Outcome:
    """Call it; a body that is still to do is no outcome."""
    try:
        return Outcome(function(*arguments))
    except NotImplementedError:
        raise
    except Exception as error:
        return Outcome(None, error)


def holds(promise: str, condition: Callable[[], Any], outcome: Outcome | None = None, **given: Any) -> None:
    """Fail with the promise and the values for which it does not hold."""
    shown = ", ".join(f"{name}={value!r}" for name, value in given.items())
    tail = f"; {outcome}" if outcome is not None else ""
    try:
        kept = bool(condition())
    except NotImplementedError:
        raise
    except Exception as error:
        raise AssertionError(f"{promise} cannot be evaluated ({error!r}) for {shown}{tail}") from None
    if not kept:
        raise AssertionError(f"{promise} does not hold for {shown}{tail}")
