"""What servers say of windows and slots, prompts that do not fit, and prompts that were cut without a word."""

from __future__ import annotations

import json
import lzma
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

import assay
from llm_runtime.dialects import DIALECTS
from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import ContextExceeded, PromptTruncated
from llm_runtime.http import Http
from llm_runtime.messages import CallLabel, Generate, Message, Reply, Request, Usage
from llm_runtime.providers.scripted import scripted
from llm_runtime.windows import Capacity, capacity, count_tokens
from llm_runtime.wrappers.fitting import Reading, cut_short, fitting

PROSE = "The council weighs what each seat has found, and writes down what still stands after the attack. "


def ask(text: str, **more: Any) -> Request:
    return Request("m", (Message("user", text),), CallLabel("test", "ask"), **more)


# asking servers


@asynccontextmanager
async def serving(answers: dict[str, Any]) -> AsyncGenerator[str]:
    """A server that answers each path with JSON, or with a function of what it was sent."""

    async def handle(request: web.Request) -> web.Response:
        answer = answers.get(request.path)
        if callable(answer):
            answer = answer(await request.json())
        return web.json_response(answer, status=404 if answer is None else 200)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def models(owner: str, **fields: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": "m", "owned_by": owner, **fields}, {"id": "n", "owned_by": owner}]}


def shown(asked: dict[str, str]) -> dict[str, Any]:
    """Ollama's facts about the one model that it has."""
    return {"model_info": {"qwen3.context_length": {"m": 4096}[asked["model"]]}}


SERVERS: list[tuple[dict[str, Any], Capacity]] = [
    (
        {
            "/v1/models": models("llamacpp", meta={"n_ctx": 16384, "n_ctx_train": 32768}),
            "/props": {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 2},
        },
        Capacity(8192, 2, "llama.cpp"),
    ),
    ({"/v1/models": models("llamacpp", meta={"n_ctx": 4096})}, Capacity(4096, None, "llama.cpp")),
    ({"/v1/models": models("vllm", max_model_len=32768)}, Capacity(32768, 16, "vllm")),
    ({"/v1/models": models("library"), "/api/show": shown}, Capacity(4096, 1, "ollama")),
    (
        {"/v1/models": models("library"), "/api/show": {"model_info": {"llama.context_length": 131072}}},
        Capacity(32768, 1, "ollama"),
    ),
    (
        {
            "/v1/models": models("organization_owner"),
            "/api/v0/models": {"data": [{"id": "m", "max_context_length": 40960, "loaded_context_length": 4096}]},
        },
        Capacity(4096, 1, "lmstudio"),
    ),
    ({"/v1/models": models("openrouter", context_length=200000)}, Capacity(200000)),
    ({"/v1/models": models("somebody")}, Capacity()),
    ({"/v1/models": models("llamacpp", meta="?"), "/props": ["?"]}, Capacity(None, None, "llama.cpp")),
    ({}, Capacity()),
]


@pytest.mark.parametrize(("answers", "known"), SERVERS)
async def test_a_server_is_asked_in_its_own_way_and_no_answer_is_no_error(answers: Any, known: Capacity) -> None:
    http = Http()
    async with serving(answers) as url:
        assert await capacity(Endpoint("acme", f"{url}/v1"), "m", http) == known
        await http.aclose()


async def test_anthropics_list_names_its_window() -> None:
    http = Http()
    listed = {"data": [{"type": "model", "id": "m", "max_input_tokens": 200000}]}
    async with serving({"/v1/models": listed}) as url:
        assert (await capacity(Endpoint("anthropic", url, dialect=DIALECTS["anthropic"]), "m", http)).window == 200000
        await http.aclose()


@pytest.mark.parametrize(
    ("server", "answer", "tokens"),
    [
        ("llama.cpp", {"tokens": [1] * 100}, 140),
        ("vllm", {"count": 100, "max_model_len": 4096, "tokens": []}, 140),
        ("vllm", {"detail": "Not Found"}, None),
        ("ollama", {"tokens": [1]}, None),
    ],
)
async def test_a_tokenizer_counts_where_there_is_one(server: str, answer: Any, tokens: int | None) -> None:
    http = Http()
    async with serving({"/tokenize": answer}) as url:
        assert await count_tokens(ask("some words"), server, Endpoint("acme", f"{url}/v1"), http) == tokens
        await http.aclose()


# fitting


def reading(window: int | None, counted: int | None = None, *, local: bool = True) -> Reading:
    async def known() -> Capacity:
        return Capacity(window)

    async def count(_: Request) -> int | None:
        return counted

    return Reading("acme", local=local, capacity=known, count=count)


def model(read: Reading, characters_a_token: float = 5.0) -> tuple[Generate, list[Request]]:
    """A model that counts its prompt at this rate, and what it was sent."""
    sent = list[Request]()

    def answer(request: Request) -> Reply:
        sent.append(request)
        tokens = int(sum(len(message.content) for message in request.messages) / characters_a_token)
        return Reply("yes", "m", "acme", Usage(tokens, 1))

    return fitting(scripted(answer), read), sent


@pytest.mark.parametrize("counted", [None, 9000])
async def test_what_cannot_fit_is_refused_before_it_is_sent(counted: int | None) -> None:
    call, sent = model(reading(4096, counted))
    with pytest.raises(ContextExceeded) as caught:
        await call(ask(PROSE * 400))
    assert sent == []
    assert caught.value.window == 4096 and (caught.value.asked or 0) > 4096
    assert not caught.value.maybe_charged
    line = str(caught.value)
    assert "4096" in line and str(caught.value.asked) in line and "choose a model with a larger window" in line


async def test_an_exact_count_decides_near_the_limit() -> None:
    """About 3,900 tokens by its characters, in a window of 4,096, of which 409 are kept."""
    text = (PROSE * 200)[: 3900 * 4]
    with pytest.raises(ContextExceeded, match="has 3800 tokens and the model reads 4096, 409 of them kept"):
        await model(reading(4096, 3800))[0](ask(text))
    call, sent = model(reading(4096, 3600))
    await call(ask(text))
    assert sent[0].max_tokens == 4096 - 3600


async def test_an_estimate_alone_does_not_refuse_what_may_fit() -> None:
    call, sent = model(reading(4096))
    await call(ask(PROSE * 160))
    assert len(sent) == 1


async def test_what_a_model_has_counted_before_is_its_measure() -> None:
    """Digits take a token each here: four times what prose of that length would."""
    digits = "0123456789" * 300
    read = reading(4096)
    call, sent = model(read, characters_a_token=1.0)
    await call(ask(digits))
    with pytest.raises(ContextExceeded):
        await call(ask(digits * 2))
    assert len(sent) == 1


@pytest.mark.parametrize(
    ("window", "asked", "bound"),
    [(8192, None, 4096), (8192, 500, 500), (8192, 9000, 8192 - 48), (200_000, None, None), (None, None, None)],
)
async def test_an_answer_of_a_small_model_is_bounded_by_what_is_left(
    window: int | None, asked: int | None, bound: int | None
) -> None:
    call, sent = model(reading(window))
    await call(ask("w " * 96, max_tokens=asked))
    assert sent[0].max_tokens == bound


async def test_a_hosted_model_is_not_asked_for_its_window_for_the_sake_of_a_short_prompt() -> None:
    async def never() -> Capacity:
        raise AssertionError("asked")

    async def count(_: Request) -> int | None:
        return None

    read = Reading("acme", local=False, capacity=never, count=count)
    assert (await model(read)[0](ask(PROSE * 300))).text == "yes"


# cut prompts


async def test_a_prompt_that_a_server_with_a_small_window_cut_is_an_error_and_what_it_cost_is_known() -> None:
    prompt = (PROSE * 500)[:38_527]
    reply = Reply("half of it", "m", "acme", Usage(4096, 10), cost=7)
    with pytest.raises(PromptTruncated, match=r"read 4096 tokens of a prompt of about 9632.* 9400") as caught:
        await fitting(scripted(lambda _: reply), reading(9_400))(ask(prompt))
    assert caught.value.partial == reply
    assert not caught.value.retryable


async def test_an_answer_to_a_prompt_that_may_have_been_cut_is_kept_with_a_note() -> None:
    reply = Reply("an answer", "m", "acme", Usage(4096, 10), cost=7)
    kept = await fitting(scripted(lambda _: reply), reading(None))(ask((PROSE * 500)[:38_527]))
    assert (kept.text, kept.cost) == ("an answer", 7)
    assert "read 4096 tokens of a prompt of about 9632" in kept.repairs[0]


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("| 1 |" + " " * 60 + "| 2 |\n" + "-" * 70 + "\n", 12),  # columns: long runs are one token
        ("Donaudampfschifffahrtsgesellschaft ", 6),
        ("国際会議の議事録を作成する。", 9),
        ("Совет взвешивает доводы сторон. ", 8),
        ("QWxsIHlvdXIgYmFzZSBhcmUgYmVsb25nIHRvIHVz" * 3, 66),
        ("😀 ", 2),
    ],
)
def test_a_text_that_tokenizes_well_or_badly_is_not_a_cut_one(text: str, tokens: int) -> None:
    assert not cut_short(ask(text * 200), tokens * 200)


def recorded_calls() -> Iterator[tuple[str, Request, Usage]]:
    """Every finished call in the logs of the repository's recordings: digest, request, and what was counted."""
    for log in sorted((Path(assay.__file__).parent / "protocols").glob("*/demo/played.jsonl.xz")):
        started = dict[tuple[str, int], Request]()
        for line in lzma.decompress(log.read_bytes()).splitlines():
            body: dict[str, Any] = json.loads(line).get("body") or {}
            if body.get("type") == "call.started":
                started[body["digest"], body["occurrence"]] = Request.from_dict(body["request"])
            elif body.get("type") == "call.finished":
                reply = Reply.from_dict(body["reply"])
                yield body["digest"], started[body["digest"], body["occurrence"]], reply.usage


def test_no_prompt_of_any_recording_is_taken_for_cut() -> None:
    """By what its log says was counted, and by Qwen2.5's tokens, which llama-server's /tokenize has counted."""
    counts: dict[str, int] = json.loads(Path(__file__).with_name("token_counts.json").read_text(encoding="utf-8"))
    calls = list(recorded_calls())
    assert len(calls) >= 100
    assert [digest for digest, request, usage in calls if cut_short(request, usage.input_tokens)] == []
    counted = [(request, counts[digest[:12]]) for digest, request, _ in calls if digest[:12] in counts]
    assert counted, "prompts have changed: count them anew"
    assert [tokens for request, tokens in counted if cut_short(request, tokens)] == []


async def test_a_server_that_counts_only_what_its_cache_lacked_has_cut_nothing() -> None:
    """Older Ollama reports what it had to read anew; the beginning was sent with the call before."""
    whole = PROSE * 200
    counts = [len(whole) // 5, 40]
    call = fitting(scripted(lambda _: Reply("yes", "m", "ollama", Usage(counts.pop(0), 1))), reading(None))
    await call(ask(whole))
    assert (await call(ask(whole + "One more word?"))).text == "yes"
