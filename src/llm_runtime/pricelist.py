"""The prices of the package ``genai-prices``, by vendor and exact model id, or newer ones that were fetched."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any

import genai_prices
from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import (
    ClauseEquals,
    ClauseOr,
    ClauseStartsWith,
    ModelInfo,
    ModelPrice,
    Provider,
    TieredPrices,
    _providers_from_raw,  # pyright: ignore[reportPrivateUsage]  # the public door fetches by a client of its own
)
from genai_prices.update_prices import DEFAULT_UPDATE_URL
from pydantic import BaseModel, ValidationError

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import CallError, ConfigurationError
from llm_runtime.files import write_atomic
from llm_runtime.http import Http
from llm_runtime.price import Price, spellings
from llm_runtime.rewording import instead
from llm_runtime.structs import Struct

#: Our names of vendors where the package has others.
_VENDORS = {"gemini": "google", "xai": "x-ai", "": "openrouter"}
#: Vendors whose models are known by their bare ids, where nobody has looked yet who serves them.
_MAKERS = ("openai", "anthropic", "google", "x-ai", "mistral", "deepseek")


class PriceList(Struct):
    """Prices by vendor and model.

    Args:
        models: of each vendor, by every id that stands for the model and not only begins like it.
        others: vendors at whose prices a vendor sells models of theirs.
        patterns: of each vendor's address.
        dated: the day they were fetched, or empty.
    """

    models: Mapping[str, Mapping[str, ModelInfo | Price]]
    others: Mapping[str, tuple[str, ...]]
    patterns: Mapping[str, str]
    dated: str = ""

    def find(self, provider: str, model: str, address: str = "") -> Price | None:
        """Return the price now; parameters as of :meth:`~llm_runtime.pricing.PriceTable.find`."""
        vendor = self._vendor(provider, address)
        vendors = [vendor, *self.others.get(vendor, ())]
        if not provider:
            vendors += _MAKERS
        names = [name for one in (model, model.partition("/")[2]) for name in spellings(one.lower())]
        # Anthropic writes 4-5 where OpenRouter writes 4.5.
        names += [name.replace(".", "-") for name in names if "." in name]
        for one in vendors:
            for name in names:
                if (info := self.models.get(one, {}).get(name)) is not None:
                    return _price_now(info)
        return None

    def rows(self) -> Iterator[tuple[str, str, Price]]:
        """Yield vendor, model and price of today, in order; a model of several ids once."""
        for vendor, models in sorted(self.models.items()):
            names = {name if isinstance(info, Price) else info.id: info for name, info in models.items()}
            for name, info in sorted(names.items()):
                if (price := _price_now(info)) is not None:
                    yield vendor, name, price

    def _vendor(self, provider: str, address: str) -> str:
        name = _VENDORS.get(provider, provider)
        if name in self.models:
            return name
        url = address or provider
        return next((vendor for vendor, pattern in self.patterns.items() if re.match(pattern, url)), name)


class _Fetched(BaseModel):
    """What was fetched; no more use once the package is a newer one."""

    package: str
    dated: str
    others: dict[str, tuple[str, ...]]
    patterns: dict[str, str]
    prices: dict[str, dict[str, Price]]


@lru_cache(maxsize=4)
def price_list(fetched: Path) -> PriceList:
    """Return the list in force: the fetched one, where there is one for this version of the package.

    Raises:
        ConfigurationError: the file cannot be read.
    """
    if not fetched.is_file():
        return _of_providers(get_snapshot().providers)
    refused = ConfigurationError(
        f"{fetched} does not hold prices; delete it, or fetch it anew", advice="assay models prices --update"
    )
    with instead(refused, OSError, ValidationError):
        stored = _Fetched.model_validate_json(fetched.read_bytes())
    if stored.package != genai_prices.__version__:
        return _of_providers(get_snapshot().providers)
    return PriceList(stored.prices, stored.others, stored.patterns, stored.dated)


async def update_prices(
    fetched: Path, http: Http, today: date | None = None, url: str = DEFAULT_UPDATE_URL
) -> PriceList:
    """Fetch the package's newest list over the network, and keep it in ``fetched``.

    Raises:
        ConfigurationError: it cannot be fetched.
    """
    folder, _, name = url.rpartition("/")
    try:
        listed = _providers_from_raw(await http.get_json(Endpoint("prices", folder), f"/{name}"))
    except (CallError, TypeError, ValueError) as fault:
        reason = str(fault) if isinstance(fault, CallError) else "what came is no list of prices"
        raise ConfigurationError(f"the prices cannot be fetched: {reason}") from None
    new = _of_providers(listed)
    prices = {
        vendor: {name: price for name, info in models.items() if (price := _price_now(info)) is not None}
        for vendor, models in new.models.items()
    }
    stored = _Fetched(
        package=genai_prices.__version__,
        dated=(today or datetime.now(UTC).date()).isoformat(),
        others=dict(new.others),
        patterns=dict(new.patterns),
        prices={vendor: models for vendor, models in prices.items() if models},
    )
    fetched.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(fetched, stored.model_dump_json(exclude_defaults=True))
    price_list.cache_clear()
    return price_list(fetched)


def _of_providers(providers: Sequence[Provider]) -> PriceList:
    return PriceList(
        {provider.id: _by_id(provider) for provider in providers},
        {one.id: tuple(one.fallback_model_providers) for one in providers if one.fallback_model_providers},
        {provider.id: provider.api_pattern for provider in providers},
    )


def _by_id(provider: Provider) -> dict[str, ModelInfo | Price]:
    """Return a vendor's models by every id that the package writes out; what it matches by a part is left out."""
    models: dict[str, ModelInfo | Price] = {}
    for model in provider.models:
        models.setdefault(model.id.lower(), model)
    for kind in (ClauseEquals, ClauseStartsWith):
        for model in provider.models:
            for name in _written(model.match, kind):
                models.setdefault(name.lower(), model)
    return models


def _written(clause: object, kind: type[ClauseEquals | ClauseStartsWith]) -> Iterator[str]:
    if isinstance(clause, ClauseOr):
        for part in clause.or_:
            yield from _written(part, kind)
    elif isinstance(clause, kind):
        yield clause.equals if isinstance(clause, ClauseEquals) else clause.starts_with


def _price_now(model: ModelInfo | Price) -> Price | None:
    """Return what holds now: some prices begin on a day, some hold at certain hours."""
    if isinstance(model, Price):
        return model
    prices = model.get_prices(datetime.now(UTC))
    if _amount(prices, "input_mtok", 0) is None or _amount(prices, "output_mtok", 0) is None:
        return None  # by the page, the minute or the picture
    steps = sorted({tier.start for price in vars(prices).values() for tier in _tiers(price)})
    return dataclasses.replace(_priced(prices, 0), above=tuple((step, _priced(prices, step + 1)) for step in steps))


def _priced(prices: ModelPrice, input_tokens: int) -> Price:
    kinds = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok", "output_reasoning_mtok")
    put, got, read, written, thought, calls = (_amount(prices, k, input_tokens) for k in (*kinds, "requests_kcount"))
    return Price(put or 0.0, got or 0.0, read, written, thought, (calls or 0.0) / 1000)


def _amount(prices: ModelPrice, name: str, input_tokens: int) -> float | None:
    price = vars(prices).get(name)
    fits = [tier.price for tier in _tiers(price) if input_tokens > tier.start]
    if fits:
        return float(fits[-1])
    base = price.base if isinstance(price, TieredPrices) else price
    return float(base) if isinstance(base, Decimal) else None


def _tiers(price: object) -> list[Any]:
    return price.tiers if isinstance(price, TieredPrices) else []
