"""What the generated tests stand on: one call with its outcome, and a message that says which promise broke."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy

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

_values: dict[str, list[dict[str, Any]]] = {}
_going_through = False


class _DoesNotFit(Exception):
    """These values are not what the test is about."""


def drawn(**strategies: SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """A test over random values: hypothesis draws them, once for all tests that draw the same.

    A test that fails is run again by hypothesis itself, which looks for the smallest values that break the promise;
    so is one whose assumptions leave fewer than half of the values.
    """

    def decorate(test: Callable[..., None]) -> Callable[[], None]:
        def run() -> None:
            search = given(**strategies)(bounded(test))
            try:
                enough = _all_hold(test, _values_of(strategies))
            except NotImplementedError:
                raise
            except Exception:
                search()
                raise
            if not enough:
                search()

        run.__name__, run.__doc__, run.__module__ = test.__name__, test.__doc__, test.__module__
        return run

    return decorate


def assume(condition: object) -> None:
    """Leave values out that a test is not about."""
    if not _going_through:
        hypothesis.assume(condition)
    elif not condition:
        raise _DoesNotFit


def _values_of(strategies: dict[str, SearchStrategy[Any]]) -> list[dict[str, Any]]:
    key = repr(strategies)
    if key not in _values:
        found: list[dict[str, Any]] = []

        @settings(bounded, phases=(Phase.generate,))
        @given(**strategies)
        def draw(**values: Any) -> None:
            found.append(values)

        draw()
        _values[key] = found
    return _values[key]


def _all_hold(test: Callable[..., None], values: list[dict[str, Any]]) -> bool:
    """Go through all values; whether at least half of them were what the test is about."""
    global _going_through
    _going_through, fitting = True, 0
    try:
        for given_values in values:
            try:
                test(**given_values)
                fitting += 1
            except _DoesNotFit:
                continue
    finally:
        _going_through = False
    return fitting > 0 and 2 * fitting >= len(values)


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
