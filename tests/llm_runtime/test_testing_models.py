"""The models that tests are written with."""

from __future__ import annotations

import pytest

from llm_runtime.errors import RateLimited, ServerFault
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.testing import LoopbackServer, ScriptedModel, faulty


def request(phase: str, seat: str = "") -> Request:
    return Request("m", (Message("user", phase),), CallLabel("test", phase, seat))


async def test_a_function_answers_and_every_request_is_remembered() -> None:
    model = ScriptedModel(lambda request: f"re: {request.messages[0].content}")
    assert (await model(request("triage"))).text == "re: triage"
    assert model.requests == model.asked("triage") == [request("triage")]


async def test_a_list_answers_in_order_and_then_complains() -> None:
    model = ScriptedModel(["one", ServerFault("two"), "three"])
    assert (await model(request("a"))).text == "one"
    with pytest.raises(ServerFault, match="two"):
        await model(request("b"))
    assert (await model(request("c"))).text == "three"
    with pytest.raises(AssertionError, match="no answer left for test/d"):
        await model(request("d"))


async def test_each_phase_has_its_own_script() -> None:
    model = ScriptedModel({"triage": "always", "position": ["first", "second"], "echo": lambda r: r.label.seat})
    texts = [(await model(request(phase, "s"))).text for phase in ("triage", "position", "triage", "position", "echo")]
    assert texts == ["always", "first", "always", "second", "s"]
    with pytest.raises(AssertionError, match="no phase for test/synthesis"):
        await model(request("synthesis"))


async def test_faults_come_on_cue() -> None:
    model = faulty(
        ScriptedModel(lambda _: "fine"),
        {2: RateLimited("slow down", retry_after=1.0), "red_team": "nonsense", "test/a/last/0/1": ServerFault("down")},
    )
    assert (await model(request("a"))).text == "fine"
    with pytest.raises(RateLimited):
        await model(request("red_team"))
    assert (await model(request("red_team"))).text == "nonsense"
    with pytest.raises(ServerFault):
        await model(request("a", "last"))
    assert (await model(request("a"))).text == "fine"


async def test_the_server_on_this_machine_is_an_endpoint() -> None:
    from llm_runtime.http import Http
    from llm_runtime.providers.openai_compatible import openai_compatible

    http = Http()
    async with LoopbackServer(lambda received: received.messages[-1].content.upper()) as server:
        assert (await openai_compatible(server.endpoint(), http)(request("loud"))).text == "LOUD"
    await http.aclose()
    assert server.requests[0].model == "m"
