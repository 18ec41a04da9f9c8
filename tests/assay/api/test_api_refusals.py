"""What a program cannot have is refused with a status, a name and one line; nothing is asked, nothing is lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import Response
from tests.assay.web.conftest import served

from assay.api.doors import program_doors
from assay.api.keys import ApiKey, ApiKeys
from llm_runtime.errors import ConfigurationError
from llm_runtime.settings import Settings
from llm_runtime.store import RunStore

from .conftest import TOKEN, Programs

USER = {"role": "user", "content": "Which database?"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
ELSEWHERE = {"type": "image_url", "image_url": {"url": "http://127.0.0.1/a.png"}}
VECTOR = {"type": "image_url", "image_url": {"url": "data:image/svg+xml;base64,PHN2Zy8+"}}
TOOL = {"type": "function", "function": {"name": "look", "parameters": {}}}

REFUSED: dict[str, tuple[dict[str, Any], int, str | None]] = {
    "an unknown model": ({"model": "gpt-5"}, 404, "model"),
    "a run that answers no text": ({"model": "assay/criticality.build"}, 404, "model"),
    "no model": ({"model": None}, 400, "model"),
    "tools of somebody else": ({"tools": [{"type": "web_search"}]}, 400, "tools"),
    "older tools": ({"functions": [TOOL]}, 400, "functions"),
    "a tool that must be called": ({"tool_choice": "required"}, 400, "tool_choice"),
    "several answers": ({"n": 2}, 400, "n"),
    "a form without its schema": ({"response_format": {"type": "json_schema"}}, 400, "response_format"),
    "a form of another world": ({"response_format": {"type": "grammar"}}, 400, "response_format"),
    "a form of a circle": ({"model": "circle", "response_format": {"type": "json_object"}}, 400, "response_format"),
    "a picture elsewhere": ({"messages": [{"role": "user", "content": [ELSEWHERE]}]}, 400, "messages[0].content"),
    "a vector picture": ({"messages": [{"role": "user", "content": [VECTOR]}]}, 400, "messages[0].content"),
    "probabilities": ({"logprobs": True}, 400, "logprobs"),
    "a voice": ({"modalities": ["text", "audio"], "audio": {"voice": "x"}}, 400, "modalities"),
    "a search": ({"web_search_options": {}}, 400, "web_search_options"),
    "stop words": ({"stop": ["END"]}, 400, "stop"),
    "a field that nobody knows": ({"council_size": 9}, 400, "council_size"),
    "an image": ({"messages": [{"role": "user", "content": [IMAGE]}]}, 400, "messages[0].content"),
    "a result of nothing": ({"messages": [{"role": "tool", "content": "x"}, USER]}, 400, "messages[0]"),
    "nobody's words": ({"messages": [{"role": "nobody", "content": "x"}]}, 400, "messages[0].role"),
    "no messages": ({"messages": []}, 400, "messages"),
    "no words of the user": ({"messages": [{"role": "user", "content": "  "}]}, 400, "messages"),
    "a beginning to go on with": ({"messages": [USER, {"role": "assistant", "content": "I"}]}, 400, "messages"),
    "a stream that is a word": ({"stream": "yes"}, 400, "stream"),
    "a temperature that is a word": ({"temperature": "hot"}, 400, "temperature"),
    "no tokens": ({"max_tokens": 0}, 400, "max_tokens"),
    "an effort of another world": ({"reasoning_effort": "heroic"}, 400, "reasoning_effort"),
    "a field of no run": ({"assay": {"rounds": 9}}, 400, None),
    "a budget that is a word": ({"assay": {"budget": "much"}}, 400, None),
    "a file of this machine": ({"assay": {"attach": ["/etc/passwd"]}}, 400, None),
}


@pytest.mark.parametrize("what", REFUSED)
async def test_what_is_not_supported_is_refused_by_name(programs: Programs, what: str) -> None:
    more, status, param = REFUSED[what]
    for stream in ({}, {"stream": True}):
        code, told = await programs.send({"model": "assay/crucible", "messages": [USER], **stream, **more})
        error = told["error"]
        assert code == status and error["param"] == param, told
        assert error["message"] and "\n" not in error["message"] and error["type"] == "invalid_request_error"
        if param and status == 400:
            assert param.split("[")[0] in error["message"]
    assert programs.models.requests == [] and list(programs.store.runs()) == []


async def test_an_unknown_model_hears_which_there_are(programs: Programs) -> None:
    _, told = await programs.chat("Why?", model="gpt-5")
    assert "assay/crucible, assay/circle, assay/debate, assay/direct" in told["error"]["message"]


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"model": NaN}', b"\xff\xfe", b'"' + b"[" * 100_000, b"null"])
async def test_what_is_no_json_object_is_refused(programs: Programs, raw: bytes) -> None:
    code, told = await programs.send(raw)
    assert code == 400 and told["error"]["code"] == "invalid_json" and "\n" not in told["error"]["message"]


async def test_a_message_of_two_megabytes_is_too_large(programs: Programs) -> None:
    code, told = await programs.chat("x" * 2_000_000)
    assert code == 413 and told["error"]["code"] == "request_too_large"
    # One that goes through the wire may still be more than a question can be.
    code, told = await programs.chat("x" * 900_000)
    assert code == 400 and "shorten" in told["error"]["message"]
    assert programs.models.requests == []


async def test_half_a_character_is_refused_and_not_written(programs: Programs) -> None:
    code, _ = await programs.send(b'{"model": "assay/crucible", "messages": [{"role": "user", "content": "\\ud800"}]}')
    assert code == 400 and list(programs.store.runs()) == []


async def test_only_keys_open_the_door_and_each_only_what_it_allows(programs: Programs) -> None:
    narrow = programs.key("narrow", allow=("circle",))
    for key in ("", "wrong", TOKEN + "x", narrow[:-1], "assay-"):
        code, told = await programs.chat("Why?", key)
        assert code == 401 and told["error"]["type"] == "authentication_error", key
    code, told = await programs.chat("Why?", narrow)
    assert code == 404 and "there are: assay/circle" in told["error"]["message"]
    # A key cannot choose other models, files or runs for itself; that is what presets are for.
    for name, value in {"model": "mailbox:/tmp/x", "seats": {}, "follow": "latest", "people": "/"}.items():
        code, told = await programs.send({"model": "assay/circle", "messages": [USER], "assay": {name: value}}, narrow)
        assert code == 400 and told["error"]["param"] == f"assay.{name}"
    assert programs.models.requests == []


async def test_a_page_of_another_site_and_a_cookie_open_nothing(programs: Programs) -> None:
    url = f"{programs.url}/models"
    gate, entered = programs.web.site.gate, Response()
    gate.sign_in(entered)
    session = {"cookie": entered.headers["set-cookie"].partition(";")[0], "authorization": ""}
    for address, headers, status in (
        (url, {"origin": "https://evil.test", "authorization": f"Bearer {TOKEN}"}, 403),
        (url, {"host": "evil.test", "authorization": f"Bearer {TOKEN}"}, 403),
        (url, session, 401),
        (f"{programs.web.url}{gate.root}/v1/models", session, 401),
        (f"{programs.web.url}{gate.root}/mcp", session, 401),
        (f"{programs.web.url}/mcpx", session, 403),
    ):
        async with programs.web.client.get(address, headers=headers) as answer:
            assert answer.status == status, (address, headers)


async def test_what_is_not_served_is_named(programs: Programs) -> None:
    for method, path in (
        ("POST", "/embeddings"),
        ("GET", "/responses/resp_1"),
        ("GET", "/files"),
        ("DELETE", "/models/x"),
    ):
        async with programs.web.client.request(method, programs.url + path) as answer:
            told = await answer.json()
            assert answer.status in (404, 405), path
            assert "is not served" in told["error"]["message"]


async def test_a_key_that_is_removed_opens_nothing_at_once(programs: Programs) -> None:
    key = programs.key("gone")
    assert (await programs.send(b"{}", key))[0] == 400
    ApiKeys().remove("gone")
    assert (await programs.send(b"{}", key))[0] == 401


async def test_a_preset_is_a_model_and_a_fault_in_the_file_is_the_servers(programs: Programs, tmp_path: Path) -> None:
    (tmp_path / "config").mkdir(exist_ok=True)
    file = tmp_path / "config/presets.toml"
    file.write_text('[quick]\nkind = "crucible"\nledger = "off"\nmax_calls = 3\n\n[wrong]\nkind = "circle"\nsize = 9\n')
    async with programs.web.client.get(f"{programs.url}/models/assay/quick") as answer:
        assert "Ask a council, with your preset quick" in (await answer.json())["description"]
    code, told = await programs.chat("Why?", model="assay/quick")
    assert code == 402 and programs.store.summary(told["assay"]["run_id"]).calls <= 3
    code, told = await programs.chat("Why?", model="assay/wrong")
    assert code == 400 and "no field is called size" in told["error"]["message"]
    for text in ("[quick", '[direct]\nkind = "crucible"', '[x]\nkind = "build"', "x = 1", '["A b"]\nkind = "circle"'):
        file.write_text(text)
        code, told = await programs.chat("Why?")
        assert code == 500 and "presets.toml" in told["error"]["message"], text
        with pytest.raises(ConfigurationError, match=r"presets\.toml"):
            program_doors()


async def test_a_damaged_file_of_keys_opens_nothing_and_says_nothing_of_itself(
    programs: Programs, tmp_path: Path
) -> None:
    key = programs.key("one")
    (tmp_path / "config/api-keys.json").write_text("{")
    code, told = await programs.chat("Why?", key)
    assert code == 500 and str(tmp_path) not in told["error"]["message"]
    assert (await programs.send(b"{}"))[0] == 400  # the launch's token needs no file


async def test_without_a_model_nothing_is_stored_whatever_the_key(store: RunStore, tmp_path: Path) -> None:
    key = ApiKeys().add(ApiKey(name="poor", hash="", budget=1.0))
    bare = Settings(environment={"ASSAY_LOCAL_SERVERS": ""})
    async with served(store, lambda: bare, doors=program_doors()) as web:
        for shown in (TOKEN, key):
            body = {"model": "assay/crucible", "messages": [USER]}
            headers = {"authorization": f"Bearer {shown}"}
            async with web.client.post(f"{web.url}/v1/chat/completions", json=body, headers=headers) as answer:
                told = await answer.json()
            assert answer.status == 400 and told["error"]["code"] == "no_model", told
        assert list(store.runs()) == []
    store.close()


async def test_thirty_two_at_once_with_one_purse_overspend_nothing(programs: Programs) -> None:
    """Every request is answered, by an answer or by 402, and the purse is never exceeded."""
    key = programs.key("many", budget="0.05/day")
    told = await asyncio.gather(*(programs.chat(f"Question {number}?", key) for number in range(32)))
    codes = [code for code, _ in told]
    assert set(codes) <= {200, 402} and 402 in codes
    spent = sum(run.cost for run in programs.store.runs())
    assert 0 < spent <= 50_000
    summaries = {run.run_id: run for run in programs.store.runs()}
    assert len(summaries) == 32
    for code, answer in told:
        state = summaries[answer["assay"]["run_id"]].state
        assert state == ("finished" if code == 200 else "stopped"), json.dumps(answer)[:300]
