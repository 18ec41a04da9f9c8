"""What an attempt cost that broke off is asked of OpenRouter, by the id that it gave the answer."""

from __future__ import annotations

import pytest

from llm_runtime.errors import CallError, ConnectionCut
from llm_runtime.http import Http
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.price import Price
from llm_runtime.providers._completions import Completion
from llm_runtime.providers.generations import settled_by_record
from llm_runtime.providers.scripted import scripted
from llm_runtime.testing import LoopbackServer
from llm_runtime.wrappers.accounts import Budget, Caps, Spend
from llm_runtime.wrappers.budgeted import budgeted

ASK = Request("a/b", (Message("user", "Is it so?"),), CallLabel("test", "ask"), max_tokens=100)
RECORD = {"total_cost": 0.001234, "tokens_prompt": 30, "tokens_completion": 7}


def cut(identity: str | None) -> ConnectionCut:
    error = ConnectionCut("cut")
    error.partial = Reply("half", "a/b", "openrouter", Usage(3, 2, estimated=True), request_id=identity)
    return error


@pytest.mark.parametrize(
    ("identity", "spent", "unknown"),
    [("gen-1", Spend(1234, 37, 1), 0), ("gen-2", Spend(), 1003), ("req-1", Spend(), 1003), (None, Spend(), 1003)],
)
async def test_a_record_settles_what_broke_off(identity: str | None, spent: Spend, unknown: int) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    budget, http = Budget(Caps(cost=1_000_000)), Http()
    async with LoopbackServer() as server:
        server.generations["gen-1"] = RECORD
        call = settled_by_record(scripted(lambda _: cut(identity)), server.endpoint("openrouter"), http, sleep)
        with pytest.raises(ConnectionCut):
            await budgeted(call, budget, lambda _: Price(1, 10))(ASK)
        await http.aclose()
    assert (budget.spent, budget.unknown.cost) == (spent, unknown)
    assert len(slept) == {"gen-1": 1, "gen-2": 3}.get(identity or "", 0), "a record may be late"


def test_what_broke_off_has_the_id_that_its_provider_gave_it() -> None:
    answer = Completion(ASK, "openrouter")
    answer.add(b"", {"id": "gen-7", "model": "a/b", "choices": [{"index": 0, "delta": {"content": "Hal"}}]})
    error: CallError = answer.cut(ConnectionCut("cut", request_id="from-a-header"))
    assert error.partial is not None and error.partial.request_id == "gen-7"
