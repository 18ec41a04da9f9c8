"""What a call costs: a dated table as data, in integer micro-dollars (1 USD = 1,000,000)."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import resources
from math import ceil, isfinite
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from llm_runtime.addresses import is_loopback
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import Generate, Reply, Request

#: Providers that charge nothing: local servers, people and scripts.
FREE_PROVIDERS = frozenset({"ollama", "llama.cpp", "vllm", "lmstudio", "mailbox", "terminal", "scripted"})


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens, at least 0; a micro-dollar a token is one USD per million."""

    input: float
    output: float

    def cost(self, input_tokens: int, output_tokens: int) -> int:
        """Return micro-dollars, rounded up, so that a sum of costs never flatters."""
        return ceil(round(input_tokens * self.input + output_tokens * self.output, 6))


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by model id.

    Args:
        prices: keys are the beginnings of model ids; the longest that fits wins.
        dated: the day the built-in entries were read, as an ISO date.
        own: the user's file, where one was read.
    """

    prices: Mapping[str, Price]
    dated: str = ""
    own: Path | None = None
    _found: dict[tuple[str, str], Price | None] = field(
        default_factory=dict[tuple[str, str], "Price | None"], repr=False
    )

    def find(self, provider: str, model: str) -> Price | None:
        """Return the price of ``model`` at ``provider``; ``None`` where nobody wrote one down."""
        try:
            return self._found[provider, model]
        except KeyError:
            price = self._found[provider, model] = self._look_up(provider, model)
            return price

    def with_listed(self, listed: Mapping[str, Price]) -> PriceTable:
        """Return the table with a provider's own prices under it: what is written here for the same id wins."""
        return PriceTable({**listed, **self.prices}, self.dated, self.own)

    def _look_up(self, provider: str, model: str) -> Price | None:
        if provider in FREE_PROVIDERS or model.endswith(":free"):
            return Price(0, 0)
        names = (model, model.partition("/")[2])
        fits = [key for key in self.prices if any(name.startswith(key) for name in names)]
        if fits:
            return self.prices[max(fits, key=len)]
        # What listens on this machine is taken to be a model of one's own, unless a price says otherwise.
        return Price(0, 0) if _on_this_machine(provider) else None


def _on_this_machine(provider: str) -> bool:
    return provider.startswith("http") and is_loopback(urlsplit(provider).hostname or "")


def load_prices(own: Path | None = None) -> PriceTable:
    """Return the built-in table with the user's file, if it exists, laid over it.

    Raises:
        ConfigurationError: the user's file is not TOML, or an entry is not two numbers of at least 0.
    """
    built_in = tomllib.loads(resources.files("llm_runtime").joinpath("prices.toml").read_text(encoding="utf-8"))
    prices = _prices(built_in, "prices.toml")
    if own is not None and own.is_file():
        try:
            prices |= _prices(tomllib.loads(own.read_text(encoding="utf-8")), str(own))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
            raise ConfigurationError(f"{own} is not readable TOML: {fault}") from None
        except OSError as fault:
            raise ConfigurationError(f"{own} cannot be read: {fault.strerror}") from None
    else:
        own = None
    return PriceTable(prices, str(built_in["dated"]), own)


def _prices(data: dict[str, Any], where: str) -> dict[str, Price]:
    prices: dict[str, Price] = {}
    for model, entry in cast(dict[str, Any], data.get("prices", {})).items():
        try:
            price = Price(float(entry["input"]), float(entry["output"]))
        except (KeyError, TypeError, ValueError):
            price = Price(-1, -1)
        if not (isfinite(price.input) and isfinite(price.output) and min(price.input, price.output) >= 0):
            raise ConfigurationError(
                f'{where}: the price of "{model}" must read {{ input = USD, output = USD }} per million tokens'
            )
        prices[model] = price
    return prices


def priced(generate: Generate, table: PriceTable, provider: str) -> Generate:
    """Put a cost on every reply whose provider did not report one."""

    async def call(request: Request) -> Reply:
        reply = await generate(request)
        if reply.cost is not None:
            return reply
        price = table.find(provider, reply.model) or table.find(provider, request.model)
        if price is None:
            return reply
        cost = price.cost(reply.usage.input_tokens, reply.usage.output_tokens)
        source = "free" if price == Price(0, 0) else "table"
        return dataclasses.replace(reply, cost=cost, cost_source=source)

    return call
