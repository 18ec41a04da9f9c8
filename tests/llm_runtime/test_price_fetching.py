"""The price list comes by our own client, bounded and redacted, and is kept only where it is one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from pydantic_core import to_json

from llm_runtime.errors import ConfigurationError
from llm_runtime.http import Http
from llm_runtime.price import Price
from llm_runtime.pricelist import PriceList, price_list, update_prices

Fetch = Callable[..., Awaitable[PriceList]]
LISTED = [
    {
        "id": "openai",
        "name": "OpenAI",
        "api_pattern": "https://api\\.openai\\.com",
        "models": [
            {
                "id": "gpt-9",
                "match": {"equals": "gpt-9"},
                "prices": {"input_mtok": {"base": 1, "tiers": [{"start": 100, "price": 3}]}, "output_mtok": 2},
            }
        ],
    }
]


@pytest.fixture
async def fetch(tmp_path: Path) -> AsyncIterator[Fetch]:
    """A function that fetches what it is given from a server on this machine, into ``prices.json``."""
    bodies: list[tuple[int, bytes]] = []

    async def answer(_: web.Request) -> web.Response:
        status, body = bodies[-1]
        return web.Response(status=status, body=body, headers={"Location": "/elsewhere"})

    app = web.Application()
    app.router.add_get("/v2/data.json", answer)

    async def fetched(body: Any, status: int = 200, **limits: Any) -> PriceList:
        bodies.append((status, body if isinstance(body, bytes) else to_json(body)))
        url = str(server.make_url("/v2/data.json"))
        http = Http(**limits)
        try:
            return await update_prices(tmp_path / "prices.json", http, date(2026, 12, 1), url)
        finally:
            await http.aclose()

    async with TestServer(app) as server:
        yield fetched


async def test_a_fetched_list_is_kept_and_read_again(fetch: Fetch, tmp_path: Path) -> None:
    prices = await fetch(LISTED)
    assert prices.dated == "2026-12-01"
    assert prices.find("openai", "gpt-9") == Price(1, 2, above=((100, Price(3, 2)),))
    assert prices.find("https://api.openai.com/v1", "gpt-9") == prices.find("openai", "gpt-9")
    assert price_list(tmp_path / "prices.json") == prices


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({"no": "list"}, 200, "no list of prices"),
        ([{"id": "openai"}], 200, "no list of prices"),
        (b"<html>", 200, ""),
        (LISTED, 302, ""),
        (LISTED, 404, ""),
        (b"[" * 100_000, 200, "larger than 65536 bytes"),
    ],
)
async def test_what_is_no_list_changes_nothing_and_is_one_line(
    fetch: Fetch, tmp_path: Path, body: Any, status: int, reason: str
) -> None:
    await fetch(LISTED)
    kept = (tmp_path / "prices.json").read_bytes()
    with pytest.raises(ConfigurationError, match=f"the prices cannot be fetched: .*{reason}") as fault:
        await fetch(body, status, max_bytes=65536)
    assert "\n" not in str(fault.value)
    assert (tmp_path / "prices.json").read_bytes() == kept
