"""One function holds a council: whoever asks, by whichever door, the same requests go out."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.assay.compare.conftest import TRIAGE
from tests.crucible.records import ANSWER, Scripted, critique, effects, position
from tests.lazily import needs

from assay.protocol import load
from llm_runtime.testing import LoopbackServer, Received

Assay = Any
QUESTION = "Should a shop of three people run two servers?"


def sent(requests: list[Received]) -> list[str]:
    """What was asked, whoever was answered first."""
    return sorted(json.dumps([[one.role, one.content] for one in request.messages]) for request in requests)


@pytest.mark.parametrize("question", [QUESTION, "What is 2 plus 3?\n\nANSWER: with a digit"])
async def test_ask_and_compare_send_the_same_requests(
    assay: Assay, adder: Callable[[Received], str], write: Callable[..., str], question: str
) -> None:
    async with LoopbackServer(adder) as server:
        done = await assay("ask", question, "--seed", "11", "--json", "-q", server=server)
        assert done.code == 0, done.err
        asked = sent(server.requests)
    async with LoopbackServer(adder) as server:
        file = write({"question": question})
        done = await assay("compare", file, "--methods", "council", "--seed", "11", "--json", "-q", server=server)
        assert done.code == 0, done.err
        compared = sent(server.requests)
    assert len(asked) == 9 and asked == compared
    (row,) = json.loads(done.out)["result"]["rows"]
    assert row["calls"] == 9, "triage, the critic and who looks what came of the objections count"


async def test_a_council_as_a_model_of_inspect_is_the_same_one() -> None:
    needs("inspect_ai", reason="Inspect AI is not installed; make test installs it")
    from inspect_ai.model import ChatMessageUser, GenerateConfig

    from assay.protocols.ai_crucible.inspect.council import CouncilAPI, as_question

    says = {
        **{"triage": TRIAGE, "position": position, "critique": critique},
        **{"synthesis": ANSWER, "effects": effects},
    }
    direct, within = Scripted(says), Scripted(says)
    turns = [ChatMessageUser(content=QUESTION)]
    text = await load("assay.protocols.crucible.council:hold")(as_question(turns, [], 11), direct, 11)
    output = await CouncilAPI("crucible", seed=11, model_function=within).generate(turns, [], "auto", GenerateConfig())
    assert output.completion == text and len(within.requests) == 9
    assert [one.to_dict() for one in within.requests] == [one.to_dict() for one in direct.requests]
