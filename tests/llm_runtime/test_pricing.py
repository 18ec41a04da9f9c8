"""Prices: whose word counts, what is no model's price, and what tokens of each kind cost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import Usage
from llm_runtime.price import Price
from llm_runtime.pricing import PriceTable, load_prices

NOWHERE = Path("/nonexistent/prices.toml")


@pytest.mark.parametrize(
    ("provider", "model", "input_", "output"),
    [
        ("openrouter", "anthropic/claude-opus-4.1", 15, 75),
        ("anthropic", "claude-opus-4-1-20250805", 15, 75),
        ("openai", "gpt-5.2-pro", 21, 168),
        ("openai", "gpt-4o-2024-05-13", 5, 15),
        ("openai", "gpt-4o-2024-08-06", 2.5, 10),
        ("openrouter", "deepseek/deepseek-r1-distill-llama-8b", 0.04, 0.04),
        ("openai", "gpt-5", 1.25, 10),
        ("openai", "gpt-5-2025-08-07", 1.25, 10),
        ("openai", "o3", 2, 8),
        ("gemini", "gemini-2.5-pro", 1.25, 10),
        ("xai", "grok-4", 3, 15),
        ("azure", "gpt-4o", 2.5, 10),
        ("groq", "llama-3.3-70b-versatile", 0.59, 0.79),
        ("", "openai/gpt-4o", 2.5, 10),
    ],
)
def test_models_that_are_sold_have_the_price_of_the_package(
    provider: str, model: str, input_: float, output: float
) -> None:
    price = load_prices(NOWHERE).find(provider, model)
    assert price is not None and (price.input, price.output) == (input_, output)


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "gpt-5-zebra"),
        ("openai", "gpt-4o-mini-ultra"),
        ("openai", "gpt-5.2-pro-max"),
        ("openai", "o3-nano-2025-01-01"),
        ("anthropic", "claude-opus-4-1-foo"),
        ("anthropic", "claude-opus-41"),
        ("anthropic", "claude-sonnet-99"),
        ("gemini", "gemini-2.5-pro-foo"),
        ("xai", "grok-4-zebra"),
        ("deepseek", "deepseek-chat-x"),
        ("openrouter", "deepseek/deepseek-r1-distill-zebra-8b"),
        ("openrouter", "anthropic/claude-opus-4.1.1"),
        ("openrouter", "openai/gpt-4o:online"),
        ("mistral", "mistral-large-9999"),
        ("https://models.example/v1", "gpt-4o"),
        ("", "gpt-6-of-mine"),
    ],
)
def test_an_invented_id_has_no_price_whatever_it_begins_with(provider: str, model: str) -> None:
    assert load_prices(NOWHERE).find(provider, model) is None


def test_a_vendor_is_known_by_its_address_whatever_the_user_calls_it() -> None:
    prices = load_prices(NOWHERE)
    assert prices.find("mine", "llama-3.3-70b-versatile", "https://api.groq.com/openai/v1") == Price(0.59, 0.79)
    assert prices.find("box", "llama-3.3-70b-versatile", "http://127.0.0.1:9000/v1") == Price(0, 0)
    assert prices.find("box", "llama-3.3-70b-versatile", "https://box.example/v1") is None


def test_the_user_counts_first_then_the_providers_list_then_the_package(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(
        '[prices]\n"gpt-5" = { input = 9, output = 90, cached = 1 }\n"house-*" = { input = 1, output = 2 }\n'
    )
    prices = load_prices(own).with_listed({"openai/gpt-5": Price(7, 70), "openai/o3": Price(6, 60)}.get)
    assert prices.find("openrouter", "openai/gpt-5-2025-08-07") == Price(9, 90, 1)
    assert prices.find("openrouter", "openai/o3") == Price(6, 60)
    assert prices.find("openai", "gpt-5-mini") == load_prices(NOWHERE).find("openai", "gpt-5-mini")
    assert prices.find("anywhere", "house-blend") == Price(1, 2)
    assert prices.find("openrouter", "x/y:free") == prices.find("ollama", "qwen3") == Price(0, 0)


@pytest.mark.parametrize("entry", ["{ input = 1 }", "{ input = -1, output = 2 }", "{ input = nan, output = 2 }", "5"])
def test_a_price_that_is_none_is_named_with_its_file(tmp_path: Path, entry: str) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(f"[prices]\nmine = {entry}\n")
    with pytest.raises(ConfigurationError, match=r'prices\.toml: the price of "mine" must read'):
        load_prices(own)


def test_each_kind_of_token_has_its_price_and_a_long_prompt_a_dearer_one() -> None:
    price = Price(3, 15, cached=0.3, cache_write=3.75, reasoning=20, call=0.01)
    usage = Usage(1000, 100, cached_tokens=600, cache_write_tokens=300, reasoning_tokens=40)
    assert price.of(usage) == 100 * 3 + 180 + 1125 + 60 * 15 + 40 * 20 + 10_000
    assert Price(3, 15).of(usage) == 3000 + 1500
    tiered = load_prices(NOWHERE).find("gemini", "gemini-2.5-pro")
    assert tiered is not None
    assert tiered.cost(200_000, 1000) == 250_000 + 10_000
    assert tiered.cost(200_001, 1000) == 500_003 + 15_000
    sonnet = load_prices(NOWHERE).find("anthropic", "claude-sonnet-4-5")
    assert sonnet is not None
    assert sonnet.of(Usage(10_100, 0, cached_tokens=10_000)) == 3000 + 300
    assert sonnet.bound(1000, 100) == 3750 + 1500, "what is held counts all of it as written into a cache"
    assert price.bound(1000, 100) == 3750 + 2000 + 10_000, "and all of the answer as reasoning, where that is dearer"


def test_usage_that_does_not_add_up_never_costs_less_than_nothing() -> None:
    assert Price(3, 15, cached=0.3).of(Usage(10, 5, cached_tokens=99, cache_write_tokens=9, reasoning_tokens=99)) > 0


def test_prices_that_were_fetched_hold_until_the_package_is_a_newer_one(tmp_path: Path) -> None:
    import genai_prices

    fetched = tmp_path / "prices.json"
    data = {
        "package": genai_prices.__version__,
        "dated": "2026-12-01",
        "others": {"azure": ["openai"]},
        "patterns": {"openai": "https://api\\.openai\\.com"},
        "prices": {"openai": {"gpt-5": {"input": 1, "output": 2, "above": [[100, {"input": 3, "output": 4}]]}}},
    }
    fetched.write_text(json.dumps(data))
    prices = load_prices(tmp_path / "prices.toml")
    assert prices.find("azure", "gpt-5") == Price(1, 2, above=((100, Price(3, 4)),))
    assert prices.find("openai", "o3") is None
    older = tmp_path / "older"
    older.mkdir()
    (older / "prices.json").write_text(json.dumps(data | {"package": "0.0.1"}))
    assert load_prices(older / "prices.toml").find("openai", "o3") == Price(2, 8, 0.5)


def test_damaged_fetched_prices_say_how_to_fetch_them_anew(tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text('{"package": 5}')
    with pytest.raises(ConfigurationError, match="fetch it anew") as refused:
        load_prices(tmp_path / "prices.toml").find("openai", "gpt-5")
    assert "assay models prices --update" in refused.value.told


def test_a_table_without_the_package_knows_what_it_was_given() -> None:
    assert PriceTable({"gpt-5": Price(1, 2)}).find("openai", "gpt-5") == Price(1, 2)
    assert PriceTable({}).find("openai", "gpt-5") is None


def test_the_package_is_loaded_for_paid_models_only() -> None:
    code = (
        "import sys\nfrom llm_runtime.pricing import load_prices\nprices = load_prices()\n"
        "prices.find('ollama', 'qwen3'), prices.find('http://127.0.0.1:1/v1', 'mine')\n"
        "assert 'genai_prices' not in sys.modules\n"
        "assert prices.find('openai', 'gpt-5')\nassert 'genai_prices' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
