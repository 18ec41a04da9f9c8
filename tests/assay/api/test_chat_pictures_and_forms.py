"""Pictures in a chat, answers in a form, and what else programs of today send: with the real openai package too."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.assay.api.conftest import Programs, council_answer
from tests.lazily import Lazily, needs
from tests.picture_files import FILES

from llm_runtime.documents.pictures import read_picture
from llm_runtime.testing import Received

needs("PIL", "needs the extra 'import'")
openai = Lazily("openai")
PICTURE = read_picture("a.jpg", FILES["jpeg-gps"])
QUESTION = "Which database should a team of three run?"
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "stars": {"$ref": "#/$defs/stars"}},
    "required": ["name", "stars"],
    "additionalProperties": False,
    "$defs": {"stars": {"type": "array", "items": {"type": "integer", "enum": [1, 2, 3]}}},
}
FORM = {"type": "json_schema", "json_schema": {"name": "place", "strict": True, "schema": SCHEMA}}
FITS = {"name": "Zürich", "stars": [3]}


def showing(text: str = "What is in the picture?") -> list[dict[str, Any]]:
    address = f"data:image/jpeg;base64,{b64encode(FILES['jpeg-gps']).decode()}"
    parts = [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": address, "detail": "high"}}]
    return [{"role": "user", "content": parts}]


def answering(programs: Programs, answer: str) -> None:
    """Let the council, and a single model, answer so."""

    def say(received: Received) -> Any:
        text = received.messages[-1].content
        if "You write the answer to a user" in text:
            claims = [{"text": "One is enough.", "rests_on": ["P1", "Q1"]}]
            return json.dumps({"answer": answer, "claims": claims})
        return council_answer(received) if len(received.messages) > 1 else answer

    programs.answers.answer = say


@pytest.fixture
async def client(programs: Programs) -> AsyncIterator[Any]:
    pytest.importorskip("openai", reason="the openai package is not installed; make test installs it")
    async with openai.AsyncOpenAI(base_url=programs.url, api_key=programs.key("sdk"), max_retries=0) as made:
        yield made


SEES = {"assay": {"model": "openrouter:openai/gpt-4o"}}


@pytest.mark.parametrize("model", ["assay/crucible", "assay/direct"])
async def test_a_picture_of_a_chat_reaches_the_models_without_its_place(programs: Programs, model: str) -> None:
    code, told = await programs.send({"model": model, "messages": showing(), **SEES})
    assert code == 200, told
    shown = [one for one in programs.models.requests if PICTURE.base64 in json.dumps(one.payload)]
    assert len(shown) >= (4 if model == "assay/crucible" else 1)
    assert not any("SecretCam" in json.dumps(one.payload) for one in programs.models.requests)
    log = (await programs.web.get(f"/runs/{told['assay']['run_id']}/events/1.json"))[1]
    assert log.count(PICTURE.base64) == 1


async def test_a_model_that_is_not_known_to_see_is_refused_before_anything_is_asked(programs: Programs) -> None:
    for stream in (False, True):
        code, told = await programs.send({"model": "assay/direct", "messages": showing(), "stream": stream})
        assert code == 400 and "vision = true" in told["error"]["message"], told
    code, told = await programs.send({"model": "assay/circle", "messages": showing(), **SEES})
    assert code == 400 and "assay/circle takes no pictures" in told["error"]["message"]
    assert programs.models.requests == []


@pytest.mark.parametrize("model", ["assay/crucible", "assay/direct"])
async def test_an_answer_in_a_form_is_that_object_and_nothing_else(programs: Programs, model: str) -> None:
    answering(programs, f"Here you are:\n```json\n{json.dumps(FITS)}\n```")
    code, told = await programs.chat("Which place?", model=model, response_format=FORM)
    assert code == 200, told
    assert json.loads(told["choices"][0]["message"]["content"]) == FITS
    asked = [one for one in programs.models.requests if '"additionalProperties": false' in one.messages[-1].content]
    assert asked


MISFITS = {
    "no object": ("Zürich.", "no JSON object"),
    "a field too few": ('{"name": "Zürich"}', "stars"),
    "a field too many": ('{"name": "Zürich", "stars": [], "more": 1}', "more"),
    "another type": ('{"name": 5, "stars": []}', "the object.name must be of type string"),
    "a yes for a number": ('{"name": "Zürich", "stars": [true]}', "the object.stars[0] must be of type integer"),
    "another value": ('{"name": "Zürich", "stars": [9]}', "one of [1, 2, 3]"),
}


@pytest.mark.parametrize("what", MISFITS)
async def test_an_answer_in_no_such_form_is_an_error_and_the_run_is_kept(programs: Programs, what: str) -> None:
    answer, says = MISFITS[what]
    answering(programs, answer)
    code, told = await programs.chat("Which place?", model="assay/direct", response_format=FORM)
    assert code == 502 and says in told["error"]["message"] and told["error"]["code"] == "no_useful_answer", told
    assert [run.state for run in programs.store.runs()] == ["finished"]


@pytest.mark.parametrize(
    "schema",
    [{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}, {"type": "colour"}, {"required": 5}, {"anyOf": []}],
)
async def test_a_schema_without_sense_is_an_error_and_no_fault(programs: Programs, schema: dict[str, Any]) -> None:
    answering(programs, "{}")
    form = {"type": "json_schema", "json_schema": {"schema": schema}}
    code, told = await programs.chat("Which?", model="assay/direct", response_format=form)
    assert code == 502 and "schema" in told["error"]["message"], told


async def test_the_openai_package_sends_an_image_and_a_schema_whole_and_streamed(
    programs: Programs, client: Any
) -> None:
    answering(programs, json.dumps(FITS))
    # What a key may not choose, whoever runs the server has set.
    from llm_runtime.settings import config_dir

    (config_dir() / "presets.toml").write_text('[eyes]\nkind = "crucible"\nmodel = "openrouter:openai/gpt-4o"\n')
    asked = {"model": "assay/eyes", "messages": showing(), "response_format": FORM, "n": 1}
    answer = await client.chat.completions.create(**asked)
    assert json.loads(answer.choices[0].message.content) == FITS
    stream = await client.chat.completions.create(**{**asked, "messages": showing("Again?")}, stream=True)
    text = "".join([one.choices[0].delta.content or "" async for one in stream if one.choices])
    assert json.loads(text) == FITS
    with pytest.raises(openai.BadRequestError, match=r"n is not supported here.*or 1"):
        await client.chat.completions.create(**{**asked, "n": 2})
    with pytest.raises(openai.NotFoundError, match="makes no embeddings"):
        await client.embeddings.create(model="assay/crucible", input="x")


async def test_the_responses_api_answers_whole_and_streamed(programs: Programs, client: Any) -> None:
    asked = {"model": "assay/crucible", "instructions": "We are three.", "input": QUESTION, "store": False}
    answer = await client.responses.create(**asked, reasoning={"effort": "low"}, max_output_tokens=900)
    assert answer.output_text == "**Use SQLite** until it hurts." and answer.status == "completed"
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens > 0
    assert any("We are three." in str(one.messages) for one in programs.models.requests)
    async with client.responses.stream(**{**asked, "input": [{"role": "user", "content": "Another?"}]}) as stream:
        events = [event async for event in stream]
        final = await stream.get_final_response()
    assert final.output_text == "**Use SQLite** until it hurts."
    assert [event.sequence_number for event in events if event.sequence_number >= 0][:3] == [0, 1, 2]
    kinds = [event.type for event in events]
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    assert "response.reasoning_summary_text.delta" in kinds and "response.output_text.delta" in kinds


async def test_the_responses_api_takes_a_picture_and_a_form(programs: Programs, client: Any) -> None:
    from llm_runtime.settings import config_dir

    (config_dir() / "presets.toml").write_text('[eyes]\nkind = "direct"\nmodel = "openrouter:openai/gpt-4o"\n')
    answering(programs, json.dumps(FITS))
    parts = [{"type": "input_text", "text": "What?"}, {"type": "input_image", "image_url": PICTURE.address}]
    form = {"format": {"type": "json_schema", "name": "place", "schema": SCHEMA}}
    shown = [{"type": "message", "role": "user", "content": parts}]
    answer = await client.responses.create(model="assay/eyes", input=shown, text=form)
    assert json.loads(answer.output_text) == FITS
    assert "image_url" in json.dumps(programs.models.requests[-1].payload)
    for more, named in (
        ({"previous_response_id": "resp_1"}, "previous_response_id"),
        ({"background": True}, "background"),
        ({"tools": [{"type": "web_search"}]}, "tools"),
        ({"input": []}, "messages"),
    ):
        with pytest.raises(openai.BadRequestError, match=named):
            await client.responses.create(**{"model": "assay/crucible", "input": "Q?", **more})


async def test_a_stream_of_the_responses_api_ends_with_its_error(programs: Programs, client: Any) -> None:
    answering(programs, "no object")
    form = {"format": {"type": "json_object"}}
    stream = await client.responses.create(model="assay/direct", input="Q?", text=form, stream=True)
    with pytest.raises(openai.APIError, match="not in the form"):
        async for _ in stream:
            pass
