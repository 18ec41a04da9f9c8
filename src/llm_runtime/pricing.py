"""What a call costs, in integer micro-dollars (1 USD = 1,000,000), and who says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import TypeAdapter, ValidationError

from llm_runtime.addresses import is_loopback
from llm_runtime.errors import ConfigurationError
from llm_runtime.keys import read_toml
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.price import Price, spellings
from llm_runtime.structs import Struct
from llm_runtime.wrappers.amending import amending

#: Providers that charge nothing: local servers, people and scripts.
FREE_PROVIDERS = frozenset({"ollama", "llama.cpp", "vllm", "lmstudio", "mailbox", "terminal", "scripted"})

_PRICES = TypeAdapter(dict[str, Price])

#: OpenRouter's own choice has no price of its own: this one goes with the request as a ceiling, so it is a bound.
ROUTER_CEILING = Price(3.0, 15.0)


class PriceTable(Struct):
    """Prices by model id, in this order: the user's, the provider's own list, the package ``genai-prices``.

    Args:
        prices: the user's, by id, with or without its vendor; one that ends in ``*`` stands for all that begin so.
        dated: the day of the prices, as an ISO date, where one is known.
        own: the user's file, where one was read.
        listed: returns what OpenRouter lists for an id, where its list was read.
        package: where newer prices than the package's would stand; ``None`` to leave the package out. It is
            loaded when a paid model is first asked for.
    """

    prices: Mapping[str, Price]
    dated: str = ""
    own: Path | None = None
    listed: Callable[[str], Price | None] | None = None
    package: Path | None = None
    _known: dict[tuple[str, str, str], Price | None] = field(
        default_factory=dict[tuple[str, str, str], "Price | None"], repr=False
    )

    def find(self, provider: str, model: str, address: str = "") -> Price | None:
        """Return the price of ``model`` at ``provider``; ``None`` where nobody wrote one down.

        Args:
            provider: the endpoint's name; empty where nobody has looked yet who serves the model.
            model: its id there.
            address: the endpoint's base URL, by which a vendor is known whatever the user calls it.
        """
        key = provider, model, address
        if key not in self._known:
            self._known[key] = self._look_up(provider, model, address)
        return self._known[key]

    def with_listed(self, listed: Callable[[str], Price | None]) -> PriceTable:
        """Return the table with OpenRouter's own list in it."""
        return PriceTable(self.prices, self.dated, self.own, listed, self.package)

    def _look_up(self, provider: str, model: str, address: str) -> Price | None:
        if (price := self._of_user(model)) is not None:
            return price
        if provider in FREE_PROVIDERS or model.endswith(":free"):
            return Price(0, 0)
        if provider in ("openrouter", ""):
            if model == "openrouter/auto":
                return ROUTER_CEILING
            for name in spellings(model):
                if self.listed is not None and (price := self.listed(name)) is not None:
                    return price
        # What listens on this machine is taken to be a model of one's own, unless a price says otherwise.
        if _on_this_machine(provider):
            return Price(0, 0)
        if self.package is not None:
            from llm_runtime.pricelist import price_list

            if (price := price_list(self.package).find(provider, model, address)) is not None:
                return price
        return Price(0, 0) if _on_this_machine(address) else None

    def _of_user(self, model: str) -> Price | None:
        names = [*spellings(model), *spellings(model.partition("/")[2])]
        for name in names:
            if name in self.prices:
                return self.prices[name]
        fits = [key for key in self.prices if key.endswith("*") and any(n.startswith(key[:-1]) for n in names)]
        return self.prices[max(fits, key=len)] if fits else None


def _on_this_machine(address: str) -> bool:
    return address.startswith("http") and is_loopback(urlsplit(address).hostname or "")


def load_prices(own: Path | None = None) -> PriceTable:
    """Return the package's prices with the user's file, if it exists, laid over them.

    Raises:
        ConfigurationError: the user's file is not TOML, or an entry is not numbers of at least 0.
    """
    package = own.with_name("prices.json") if own else Path()
    if own is None or not own.is_file():
        return PriceTable({}, package=package)
    return PriceTable(_prices(read_toml(own).get("prices", {}), str(own)), own=own, package=package)


def _prices(entries: object, where: str) -> dict[str, Price]:
    try:
        return _PRICES.validate_python(entries)
    except ValidationError as fault:
        model = ".".join(map(str, fault.errors()[0]["loc"][:1]))
        raise ConfigurationError(
            f'{where}: the price of "{model}" must read {{ input = USD, output = USD }} per million tokens; it '
            "may say cached, cache_write, reasoning and call besides"
        ) from None


def priced(generate: Generate, find: Callable[[str], Price | None]) -> Generate:
    """Put a cost on every reply whose provider did not report one, those that broke off included."""

    def with_cost(request: Request, reply: Reply) -> Reply:
        if reply.cost is not None:
            return reply
        price = find(reply.model) or find(request.model)
        if price is None:
            return reply
        return dataclasses.replace(reply, cost=price.of(reply.usage), cost_source="free" if price.free else "table")

    return amending(generate, with_cost)
