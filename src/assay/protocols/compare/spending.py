"""What counts as spend: dollars where prices are known, else tokens at a declared exchange, or seconds of calls."""

from __future__ import annotations

from collections.abc import Sequence

from llm_runtime.models import Model
from llm_runtime.wrappers.metered import Meter

PLAIN, USUALLY = "1:1", "1:5"
"""Every token alike; a token of output as five of input."""
DOLLARS, SECONDS = "USD", "seconds"
#: Tokens of input that one from a cache counts as, unless it is said.
_CACHED = 0.5


class Outlay(Model):
    """What somebody took. ``cost`` is micro-dollars, ``None`` where a price is not known."""

    calls: int
    input_tokens: int
    output_tokens: int
    cached_tokens: int = 0
    milliseconds: int = 0
    cost: int | None

    @classmethod
    def of(cls, meter: Meter) -> Outlay:
        """Return what a meter counted."""
        return cls(**{name: getattr(meter, name) for name in Outlay.model_fields})

    @property
    def tokens(self) -> int:
        """In and out together."""
        return self.input_tokens + self.output_tokens


def together(several: Sequence[Outlay]) -> Outlay:
    """Return the sum of what some took."""
    costs = [one.cost for one in several if one.cost is not None]
    names = ("calls", "input_tokens", "output_tokens", "cached_tokens", "milliseconds")
    sums = {name: sum(getattr(one, name) for one in several) for name in names}
    return Outlay(**sums, cost=sum(costs) if len(costs) == len(several) else None)


def unit_of(several: Sequence[Outlay | Meter], exchange: str) -> str:
    """Return how to compare what some took: in dollars where each has a price above 0, else by ``exchange``."""
    return DOLLARS if several and all(one.cost for one in several) else exchange


def paid(taken: Outlay | Meter, unit: str) -> float:
    """Return what was spent: in micro-dollars, in seconds, or in tokens of input.

    Args:
        taken: what was taken.
        unit: ``"USD"``, ``"seconds"``, or an exchange: ``"1:5"`` counts a token of output as five of input and one
            from a cache as half, ``"1:0.1:5"`` as a tenth, ``"1:1"`` all alike.
    """
    if unit == DOLLARS:
        return float(taken.cost or 0)
    if unit == SECONDS:
        return taken.milliseconds / 1000
    _, *cached, written = map(float, unit.split(":"))
    saved = 1 - (cached[0] if cached else 1 if unit == PLAIN else _CACHED)
    return taken.input_tokens - saved * taken.cached_tokens + written * taken.output_tokens


def name_of(unit: str) -> str:
    """Return how a report calls a unit."""
    return unit if unit in (DOLLARS, SECONDS) else "tokens" if unit == PLAIN else f"tokens at {unit}"
