"""The gateway: which endpoint a model id leads to, and the wrappers around it, over real HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic import SecretStr

from crucible.routing import FAMILIES
from llm_runtime.errors import (
    BudgetExceeded,
    CallTimeout,
    ConfigurationError,
    DeadlineExceeded,
    ModelNotFound,
    NoModelError,
    UnknownPrice,
)
from llm_runtime.events import CallRetried, Event, ModelSubstituted
from llm_runtime.gateway import Gateway, openrouter
from llm_runtime.keys import Key
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.price import Price
from llm_runtime.routing import Target, parse_model
from llm_runtime.settings import ConfigFile, Settings
from llm_runtime.testing import Fault, LoopbackServer, Received
from llm_runtime.wrappers.accounts import Caps
from llm_runtime.wrappers.retrying import Backoff

NO_WAIT = Backoff(base=0.0)
NO_LOCAL = {"ASSAY_LOCAL_SERVERS": ""}


def ask(model: str = "openrouter/auto", seat: str = "", **more: object) -> Request:
    label = CallLabel("test", "position", seat)
    return Request(model, (Message("user", "Is it so?"),), label, **more)  # type: ignore[arg-type]


def with_keys(url: str, *providers: str, **config: object) -> Settings:
    suffix = {"anthropic": ""}
    return Settings(
        keys={name: Key(SecretStr(f"sk-{name}-0123456789"), "test") for name in providers},
        base_urls={name: url + suffix.get(name, "/v1") for name in providers},
        config=ConfigFile.model_validate(config),
        environment=NO_LOCAL,
    )


@pytest.fixture
async def server() -> AsyncIterator[LoopbackServer]:
    async with LoopbackServer(lambda received: f"{received.kind}:{received.payload['model']}") as running:
        yield running


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("ollama:qwen3:8b", Target("ollama", "qwen3:8b")),
        ("mailbox:./letters", Target("mailbox", "./letters")),
        ("terminal:", Target("terminal", "")),
        ("anthropic:claude-x", Target("anthropic", "claude-x")),
        ("http://127.0.0.1:9/v1/#m", Target("http://127.0.0.1:9/v1", "m")),
        ("deepseek/deepseek-r1:free", None),
        ("groq:openai/gpt-oss-120b", Target("groq", "openai/gpt-oss-120b")),
        ("work:any", Target("work", "any")),
        ("play:any", None),
        ("openrouter/auto", None),
        ("gpt-4o", None),
    ],
)
def test_a_model_is_named_by_provider_or_by_id(text: str, target: Target | None) -> None:
    assert parse_model(text, {"work"}) == target


async def test_openrouter_answers_for_every_plain_id(server: LoopbackServer) -> None:
    async with Gateway(with_keys(server.url, "openrouter", "anthropic", "openai")) as gateway:
        reply = await gateway.generate(ask("anthropic/claude-x"))
    assert reply.text == "openai:anthropic/claude-x" and reply.provider == "openrouter"


async def test_a_vendors_own_key_answers_for_its_own_models(server: LoopbackServer) -> None:
    async with Gateway(with_keys(server.url, "anthropic", "openai")) as gateway:
        claude = await gateway.generate(ask("anthropic/claude-x"))
        gpt = await gateway.generate(ask("openai/gpt-x"))
    assert (claude.text, gpt.text) == ("anthropic:claude-x", "openai:gpt-x")


async def test_any_vendor_needs_only_its_own_key(server: LoopbackServer) -> None:
    async with Gateway(with_keys(server.url, "groq")) as gateway:
        reply = await gateway.generate(ask("groq:openai/gpt-oss-120b"))
    assert (reply.text, reply.provider) == ("openai:openai/gpt-oss-120b", "groq")
    async with Gateway(with_keys(server.url, "gemini", "xai")) as gateway:
        assert (await gateway.generate(ask("google/gemini-x"))).provider == "gemini"
        assert (await gateway.generate(ask("x-ai/grok-x"))).provider == "xai"


async def test_an_endpoint_of_ones_own_is_asked_as_its_table_says(server: LoopbackServer) -> None:
    table = {
        "dialect": "azure",
        "base_url": f"{server.url}/v1",
        "headers": {"X-Team": "red"},
        "query": {"api-version": "preview", "a b": "&"},
        "body": {"service_tier": "flex"},
    }
    settings = Settings(
        keys={"work": Key(SecretStr("key-0123456789"), "test")},
        config=ConfigFile.model_validate({"endpoints": {"work": table}}),
        environment=NO_LOCAL,
    )
    async with Gateway(settings) as gateway:
        assert (await gateway.generate(ask("work:gpt-x"))).provider == "work"
        plain = await gateway.generate(ask("openrouter/auto"))
        listed = await gateway.router.reachable()
    assert plain.text == "openai:loopback-model", "it answers for plain ids where nothing else does"
    assert [(one.provider, one.how, one.models) for one in listed] == [
        ("work", "configured, key from test", ["loopback-model"])
    ]
    [first, _] = server.requests
    assert first.headers["api-key"] == "key-0123456789" and "authorization" not in first.headers
    assert first.headers["x-team"] == "red" and first.payload["service_tier"] == "flex"
    assert first.query == {"api-version": "preview", "a b": "&"}


async def test_the_kind_of_a_server_shows_in_what_it_lists() -> None:
    schema, grammar = '{"type":"object","properties":{}}', '{"const":{}}'
    for owner, sent in (("llamacpp", grammar), ("vllm", grammar), ("acme", schema)):
        async with LoopbackServer("{}", owner=owner) as server, Gateway(Settings()) as gateway:
            await gateway.generate(ask(f"{server.url}/v1#m", schema=schema, grammar=grammar))
            form = server.requests[0].payload["response_format"]["json_schema"]["schema"]
            assert ("const" in form) == (sent == grammar)


async def test_a_local_tag_that_looks_like_a_vendor_is_local_without_that_vendors_key(unused_tcp_port: int) -> None:
    environment = {"OLLAMA_HOST": f"127.0.0.1:{unused_tcp_port}", "ASSAY_LOCAL_SERVERS": "ollama"}
    settings = Settings(config=ConfigFile(model="mistral:7b"), environment=environment)
    async with (
        LoopbackServer("yes", models=["mistral:7b"], owner="library", port=unused_tcp_port),
        Gateway(settings) as gateway,
    ):
        assert (await gateway.generate(ask())).provider == "ollama"
    async with Gateway(settings) as gateway:
        with pytest.raises(NoModelError, match="mistral has no key") as refused:
            await gateway.ready()
        assert "set MISTRAL_API_KEY" in refused.value.told


async def test_what_nobody_here_serves_is_substituted_and_said(server: LoopbackServer) -> None:
    events = list[Event]()
    async with Gateway(with_keys(server.url, "anthropic"), emit=events.append) as gateway:
        reply = await gateway.generate(ask("openrouter/auto"))
    used = reply.text.removeprefix("anthropic:")
    assert [(e.asked, e.used) for e in events if isinstance(e, ModelSubstituted)] == [("openrouter/auto", used)]


async def test_without_keys_and_servers_there_is_no_model() -> None:
    async with Gateway(Settings(environment=NO_LOCAL)) as gateway:
        with pytest.raises(NoModelError, match="no model to ask") as refused:
            await gateway.ready()
        assert "OPENROUTER_API_KEY" in refused.value.told
        with pytest.raises(NoModelError, match="has no key"):
            await gateway.generate(ask("openai:gpt-x"))
        with pytest.raises(ConfigurationError, match="needs a folder"):
            await gateway.generate(ask("mailbox:"))


async def test_a_base_url_is_a_model_too(server: LoopbackServer) -> None:
    async with Gateway(Settings(config=ConfigFile(model=f"{server.url}/v1#tiny"))) as gateway:
        reply = await gateway.generate(ask())
    assert reply.text == "openai:tiny" and reply.cost_source == "free"


async def test_the_users_choice_for_a_role_a_phase_or_the_run_wins(server: LoopbackServer) -> None:
    url = f"{server.url}/v1"
    seats = {"red_team": f"{url}#for-role", "synthesis": f"{url}#for-phase"}
    async with Gateway(Settings(config=ConfigFile(model=f"{url}#for-run", seats=seats))) as gateway:
        role = await gateway.generate(ask(seat="3:red_team"))
        run = await gateway.generate(ask(seat="1:creative", fallbacks=("never/asked",)))
        phase = await gateway.generate(Request("x", ask().messages, CallLabel("test", "synthesis")))
    assert [r.text for r in (role, run, phase)] == ["openai:for-role", "openai:for-run", "openai:for-phase"]


async def test_retries_and_fallbacks_over_http() -> None:
    events = list[Event]()
    faults = {1: Fault.STATUS_503, 2: Fault.STATUS_503, 3: Fault.STATUS_404}
    async with (
        LoopbackServer(lambda received: received.payload["model"], faults=faults) as server,
        Gateway(with_keys(server.url, "openrouter"), emit=events.append, backoff=NO_WAIT) as gateway,
    ):
        reply = await gateway.generate(ask("a/b", fallbacks=("c/d",)))
    assert reply.text == "c/d"
    assert len([e for e in events if isinstance(e, CallRetried)]) == 2
    assert [e.used for e in events if isinstance(e, ModelSubstituted)] == ["c/d"]


async def test_a_server_that_never_ends_its_answer_is_a_timeout() -> None:
    async with (
        LoopbackServer(lambda _: "slow", faults=Fault.ONE_BYTE_A_SECOND) as server,
        Gateway(with_keys(server.url, "openrouter", call_timeout=0.2), backoff=Backoff(attempts=1)) as gateway,
    ):
        with pytest.raises(CallTimeout, match=r"0\.2 s"):
            await gateway.generate(ask())


async def test_the_deadline_covers_retries_and_their_waits() -> None:
    async with (
        LoopbackServer(lambda _: "never", faults=Fault.STATUS_503) as server,
        Gateway(
            with_keys(server.url, "openrouter"), caps=Caps(seconds=0.3), backoff=Backoff(attempts=99, base=60)
        ) as gateway,
    ):
        with pytest.raises(DeadlineExceeded):
            await gateway.generate(ask())


async def test_64_concurrent_calls_share_one_budget(server: LoopbackServer) -> None:
    async with Gateway(with_keys(server.url, "openrouter"), caps=Caps(calls=10)) as gateway:
        outcomes = await asyncio.gather(*(gateway.generate(ask()) for _ in range(64)), return_exceptions=True)
    assert sum(isinstance(outcome, BudgetExceeded) for outcome in outcomes) == 54
    assert len(server.requests) == 10


async def test_under_a_cap_in_usd_the_router_is_given_a_price_ceiling(server: LoopbackServer) -> None:
    async with Gateway(with_keys(server.url, "openrouter"), caps=Caps(cost=1_000_000)) as gateway:
        await gateway.generate(ask())
    (sent,) = (received.payload for received in server.requests)
    assert sent["provider"]["max_price"] == {"prompt": 3.0, "completion": 15.0}
    assert (sent["max_tokens"], sent["reasoning"]) == (6144, {"effort": "low"})


def test_a_gateway_serves_one_event_loop_after_another() -> None:
    """A limiter or a session that outlived its loop would warn, and warnings fail this test."""

    async def crowd() -> set[str]:
        async with LoopbackServer(lambda _: "ok") as server:
            gateway = openrouter(SecretStr("sk-or-0123456789"), f"{server.url}/v1")
            replies = await asyncio.gather(*(gateway.generate(ask()) for _ in range(80)))
            await gateway.aclose()
            return {reply.text for reply in replies}

    assert asyncio.run(crowd()) == asyncio.run(crowd()) == {"ok"}


async def test_under_a_cap_in_usd_an_unknown_price_is_looked_up_where_openrouter_lists_it() -> None:
    entries = [
        {"id": "new/model", "pricing": {"prompt": "0.000002", "completion": "0.00001"}},
        {"id": "openrouter/auto", "pricing": {"prompt": "-1", "completion": "-1"}},
    ]
    async with (
        LoopbackServer(lambda _: "ok", models=entries) as server,
        Gateway(with_keys(server.url, "openrouter"), caps=Caps(cost=1_000_000)) as gateway,
    ):
        reply = await gateway.generate(ask("new/model"))
        assert (reply.cost_source, reply.text) == ("table", "ok")
        with pytest.raises(UnknownPrice):
            await gateway.generate(ask("unlisted/model"))
    assert gateway.prices.find("openrouter", "new/model") == Price(2.0, 10.0)


async def test_a_providers_limit_is_shared_by_its_models() -> None:
    running, most = 0, 0

    async def slow(_: object) -> str:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return "ok"

    async with LoopbackServer(slow) as server:
        settings = with_keys(server.url, "openrouter", limits={"openrouter": {"in_flight": 1}})
        async with Gateway(settings) as gateway:
            await asyncio.gather(*(gateway.generate(ask(f"a/model-{n}")) for n in range(4)))
    assert most == 1


async def test_the_newest_general_model_is_a_vendors_default() -> None:
    entries = [
        {"id": "gpt-4o", "created": 1},
        {"id": "gpt-9-audio", "created": 9},
        {"id": "gpt-8", "created": 8},
        {"id": "o9", "created": 10},
    ]
    async with (
        LoopbackServer(lambda received: received.payload["model"], models=entries) as server,
        Gateway(with_keys(server.url, "openai")) as gateway,
    ):
        assert (await gateway.generate(ask("openrouter/auto"))).text == "gpt-8"


GONE = "claude-sonnet-4-20250514"


def without(*gone: str) -> Callable[[Received], Any]:
    """A vendor that answers for retired models as OpenRouter and Anthropic do."""

    def answer(received: Received) -> Any:
        if received.model.endswith(gone):
            if received.kind == "anthropic":
                fault = {"type": "not_found_error", "message": f"model: {received.model}"}
                return 404, {"type": "error", "error": fault}
            return 400, {"error": {"message": f"{received.model} is not a valid model ID", "code": 400}}
        return received.model

    return answer


@pytest.mark.parametrize(
    ("key", "models", "used"),
    [
        (
            "anthropic",
            [
                {"id": "claude-opus-5", "created_at": "2026-09-01T00:00:00Z"},
                {"id": "claude-sonnet-4-5-20250929", "created_at": "2025-09-29T00:00:00Z"},
                {"id": "claude-sonnet-5", "created_at": "2026-06-01T00:00:00Z", "lifecycle": "active"},
                {"id": "claude-sonnet-6", "created_at": "2026-07-01T00:00:00Z", "lifecycle": "retired"},
                {"id": "claude-sonnet-7", "created_at": "2026-08-01T00:00:00Z", "retires_at": "2026-08-02"},
            ],
            "claude-sonnet-5",
        ),
        (
            "openrouter",
            [
                {"id": "anthropic/claude-sonnet-4.5", "created": 1_760_000_000},
                {"id": "anthropic/claude-sonnet-5", "created": 1_780_000_000},
                {"id": "anthropic/claude-sonnet-5:thinking", "created": 1_790_000_000},
                {"id": "acme/claude-sonnet-9", "created": 1_790_000_000},
            ],
            "anthropic/claude-sonnet-5",
        ),
        ("openrouter", [{"id": "acme/other", "created": 1}], "openrouter/auto"),
        ("anthropic", [{"id": "claude-opus-5"}], "claude-opus-5"),
    ],
)
async def test_a_default_that_is_gone_becomes_the_newest_of_its_line(
    key: str, models: list[dict[str, Any]], used: str
) -> None:
    events = list[Event]()
    async with (
        LoopbackServer(without(GONE), models=models) as server,
        Gateway(with_keys(server.url, key), emit=events.append, backoff=NO_WAIT) as gateway,
    ):
        replies = await asyncio.gather(*(gateway.generate(ask(f"anthropic/{GONE}")) for _ in range(3)))
        assert [reply.text for reply in replies] == [used] * 3
        before = len(server.requests)
        assert (await gateway.generate(ask(f"anthropic/{GONE}"))).text == used
        assert len(server.requests) == before + 1, "learned once"
    told = {(e.asked, e.used) for e in events if isinstance(e, ModelSubstituted)}
    assert told == {(f"anthropic/{GONE}", used)}


async def test_the_newest_of_a_line_is_asked_by_its_own_name_where_a_vendor_serves_it_itself() -> None:
    listed = [{"id": "claude-opus-5"}, {"id": "claude-sonnet-5"}, {"id": "gpt-6"}]
    async with LoopbackServer(lambda received: f"{received.kind}:{received.model}", models=listed) as server:
        async with Gateway(with_keys(server.url, "anthropic", "openai")) as gateway:
            texts = [(await gateway.generate(ask(name))).text for name in FAMILIES]
        async with Gateway(with_keys(server.url, "openrouter")) as gateway:
            routed = (await gateway.generate(ask(FAMILIES[0]))).text
    assert texts == ["anthropic:claude-sonnet-5", "openai:gpt-6", "anthropic:claude-sonnet-5"]
    assert routed == f"openai:{FAMILIES[0]}", "OpenRouter knows the line by its own name"


async def test_a_model_that_the_user_named_is_never_replaced() -> None:
    models = [{"id": "anthropic/claude-sonnet-5"}]
    name = f"anthropic/{GONE}"
    async with LoopbackServer(without(GONE), models=models) as server:
        by_option = Gateway(with_keys(server.url, "openrouter", model=name), backoff=NO_WAIT)
        in_a_panel = Gateway(with_keys(server.url, "openrouter"), backoff=NO_WAIT, named=[name])
        for gateway in (by_option, in_a_panel):
            async with gateway:
                with pytest.raises(ModelNotFound, match=GONE):
                    await gateway.generate(ask(name))


async def test_a_name_that_exists_nowhere_is_one_error_with_its_code() -> None:
    async with (
        LoopbackServer(without("no-such-model"), models=[]) as server,
        Gateway(with_keys(server.url, "openrouter", model="acme/no-such-model"), backoff=NO_WAIT) as gateway,
    ):
        with pytest.raises(ModelNotFound) as caught:
            await gateway.generate(ask())
    assert caught.value.exit_code == 4 and "\n" not in str(caught.value)
