"""What a token and a call cost at one model, and the names under which that may be written down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Annotated, TypeAlias

from pydantic import Field

from llm_runtime.messages import Usage
from llm_runtime.structs import Struct

#: What a vendor puts behind a model's name without changing its price: a day, or OpenRouter's way to route.
_SUFFIX = re.compile(
    r"(?:[-@]20\d\d-?(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|-latest|:(?:nitro|floor|exacto|beta))$"
)


_AMOUNTS = ("input", "output", "cached", "cache_write", "reasoning", "call")
_Amount: TypeAlias = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(Struct):
    """USD per million tokens, at least 0; a micro-dollar a token is one USD per million.

    Args:
        input: of what goes in.
        output: of what comes out.
        cached: of input read from a cache; as ``input`` where left out.
        cache_write: of input written into a cache; as ``input`` where left out.
        reasoning: of output that is reasoning; as ``output`` where left out.
        call: USD for each call besides.
        above: prices of calls with more input tokens than so many, fewest first.
    """

    input: _Amount
    output: _Amount
    cached: _Amount | None = None
    cache_write: _Amount | None = None
    reasoning: _Amount | None = None
    call: _Amount = 0.0
    above: tuple[tuple[int, Price], ...] = ()

    @property
    def free(self) -> bool:
        """Whether nothing is charged, whatever the call."""
        return self == Price(0, 0)

    def times(self, part: float) -> Price:
        """Return so many parts of the price, 0 to 1."""
        amounts = {name: None if (value := getattr(self, name)) is None else value * part for name in _AMOUNTS}
        return replace(self, **amounts, above=tuple((most, price.times(part)) for most, price in self.above))

    def of(self, usage: Usage) -> int:
        """Return micro-dollars, rounded up, so that a sum of costs never flatters."""
        price = self._at(usage.input_tokens)
        cached = min(usage.cached_tokens, usage.input_tokens)
        written = min(usage.cache_write_tokens, usage.input_tokens - cached)
        reasoned = min(usage.reasoning_tokens, usage.output_tokens)
        return _micros(
            (usage.input_tokens - cached - written) * price.input
            + cached * _or(price.cached, price.input)
            + written * _or(price.cache_write, price.input)
            + (usage.output_tokens - reasoned) * price.output
            + reasoned * _or(price.reasoning, price.output)
            + price.call * 1e6
        )

    def cost(self, input_tokens: int, output_tokens: int) -> int:
        """Return micro-dollars of so many tokens, none of them cached or reasoning."""
        return self.of(Usage(input_tokens, output_tokens))

    def bound(self, input_tokens: int, output_tokens: int) -> int:
        """Return the micro-dollars that so many tokens take at the most, whatever their kind."""
        price = self._at(input_tokens)
        asked = max(price.input, _or(price.cache_write, 0.0))
        answered = max(price.output, _or(price.reasoning, 0.0))
        return _micros(input_tokens * asked + output_tokens * answered + price.call * 1e6)

    def _at(self, input_tokens: int) -> Price:
        return next((price for most, price in reversed(self.above) if input_tokens > most), self)


def _or(price: float | None, otherwise: float) -> float:
    return otherwise if price is None else price


def _micros(amount: float) -> int:
    # Rounding first keeps the noise of binary fractions from costing a micro-dollar.
    return ceil(round(amount, 6))


def spellings(model: str) -> Iterator[str]:
    """Yield the names under which the price of a model may stand: its own first, then without day or routing."""
    name = model
    while name:
        yield name
        shorter = _SUFFIX.sub("", name)
        if shorter == name:
            return
        name = shorter
