"""What chat programs send is answered as they need it: questions by a council, their own small wishes by one call.

The requests in ``clients/`` have the fields, headers and order of those programs; their words are ours.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.lazily import Lazily

from assay.api.housekeeping import is_housekeeping

from .conftest import Programs

CLIENTS = {path.stem: json.loads(path.read_text()) for path in sorted((Path(__file__).parent / "clients").iterdir())}
QUESTION = "Which database should a team of three run?"


@pytest.mark.parametrize("name", CLIENTS)
async def test_a_request_of_a_chat_program_is_answered(programs: Programs, name: str) -> None:
    client = CLIENTS[name]
    headers = {**client["headers"], "authorization": f"Bearer {programs.key('chat', budget='5/day')}"}
    url = f"{programs.url}/chat/completions"
    async with programs.web.client.post(url, json=client["body"], headers=headers) as answer:
        text = await answer.text()
        assert answer.status == 200, text
    if client["body"]["stream"]:
        chunks = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
        assert text.endswith("data: [DONE]\n\n") and all(not one.get("error") for one in chunks), text
        about = next(one["assay"] for one in chunks if "assay" in one)
    else:
        about = json.loads(text)["assay"]
    assert about["model"] == ("assay/crucible" if client["expect"] == "council" else "assay/direct")
    assert programs.store.summary(about["run_id"]).state == "finished"
    if client["expect"] == "direct":
        (asked,) = programs.models.requests
        assert asked.payload["max_tokens"] <= 512 and about["cost_usd"] <= 0.01


@pytest.mark.parametrize(
    "turns",
    [
        [("system", "Generate a short title that describes the topic of the user's messages."), ("user", "Tea?")],
        [("system", "You name things. Summarize the user's conversation into a title of ten words."), ("user", "x")],
        [("user", "Why?"), ("assistant", "So."), ("user", "Based on the chat, give this conversation a name.")],
        [("user", "Please create a concise title for a conversation that begins so:\nUser: Why?\nAssistant: So.")],
        [("user", "Analyze this conversation and provide its language and a title.\n\nHuman: Pourquoi ?\nAI: Ainsi.")],
    ],
)
def test_other_programs_ask_for_titles_in_other_words(turns: list[tuple[str, str]]) -> None:
    assert is_housekeeping(turns)


@pytest.mark.parametrize(
    "turns",
    [
        [("user", "Suggest a name for a chat program that three people write.")],
        [("user", "What makes a good title?")],
        [("user", "### Task:\nDecide whether we leave the monolith.")],
        [("system", "You are a helpful assistant."), ("user", "Summarize the conversation of Melos and Athens.")],
        [("user", "Why?"), ("assistant", "So."), ("user", "Write the tags of the next release.")],
        [("system", "You review code."), ("user", "Is this commit message good?"), ("user", "fix")],
    ],
)
def test_a_question_of_a_person_goes_to_the_council(turns: list[tuple[str, str]]) -> None:
    assert not is_housekeeping(turns)


openai = Lazily("openai")


@pytest.fixture
async def client(programs: Programs) -> AsyncIterator[Any]:
    pytest.importorskip("openai", reason="the openai package is not installed; make test installs it")
    async with openai.AsyncOpenAI(base_url=programs.url, api_key=programs.key("sdk"), max_retries=2) as made:
        yield made


def asked(text: str = QUESTION) -> Any:
    return {"model": "assay/crucible", "messages": [{"role": "user", "content": text}]}


async def test_the_openai_package_lists_asks_and_streams(programs: Programs, client: Any) -> None:
    assert "assay/crucible" in [model.id async for model in await client.models.list()]
    answer = await client.chat.completions.create(**asked())
    assert answer.choices[0].message.content == "**Use SQLite** until it hurts." and answer.assay["cost_usd"] > 0
    assert answer.usage.total_tokens > 0
    text, reasoning, usage = "", "", None
    stream = await client.chat.completions.create(
        **asked("Another?"), stream=True, stream_options={"include_usage": True}
    )
    async for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reasoning += getattr(choice.delta, "reasoning_content", None) or ""
    assert text == "**Use SQLite** until it hurts." and "loop 1" in reasoning.lower() and usage is not None


async def test_a_timeout_and_two_retries_of_the_openai_package_are_one_council(programs: Programs, client: Any) -> None:
    programs.answers.open.clear()
    impatient = client.with_options(timeout=0.5)
    asking = asyncio.create_task(impatient.chat.completions.create(**asked()))
    with pytest.raises(openai.APITimeoutError):
        await asking
    programs.answers.open.set()
    answer = await client.chat.completions.create(**asked())
    assert answer.choices[0].message.content and programs.councils() == 1
    assert len(list(programs.store.runs())) == 1


async def test_the_openai_package_raises_its_own_errors(programs: Programs, client: Any) -> None:
    with pytest.raises(openai.AuthenticationError):
        await client.with_options(api_key="wrong").models.list()
    with pytest.raises(openai.NotFoundError, match="there is no model gpt-5"):
        await client.chat.completions.create(**{**asked(), "model": "gpt-5"})
    with pytest.raises(openai.BadRequestError, match="functions is not supported"):
        await client.chat.completions.create(**asked(), functions=[{"name": "f", "parameters": {}}])
    with pytest.raises(openai.APIStatusError) as capped:
        await client.chat.completions.create(**asked(), extra_body={"assay": {"max_calls": 1}})
    assert capped.value.status_code == 402 and programs.councils() == 1
    with pytest.raises(openai.APIError, match="budget"):
        stream = await client.chat.completions.create(**asked(), stream=True, extra_body={"assay": {"max_calls": 1}})
        async for _ in stream:
            pass


async def test_who_leaves_a_stream_and_returns_finds_the_answer(programs: Programs, client: Any) -> None:
    programs.answers.open.clear()
    stream = await client.chat.completions.create(**asked(), stream=True)
    await programs.answers.asked.wait()
    await stream.close()
    (run,) = programs.store.runs()
    await programs.web.state(run.run_id, "stopped")
    programs.answers.open.set()
    answer = await client.chat.completions.create(**asked())
    assert answer.assay["run_id"] == run.run_id and programs.councils() == 1
