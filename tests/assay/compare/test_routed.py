"""Routing at its doors: `assay ask --route` says which way it took; as a method it stands beside the others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from llm_runtime.testing import LoopbackServer, Received

Assay = Any
Adder = Callable[[Received], str]


def routing(adder: Adder, *differences: str) -> Adder:
    """A model that gives short answers, of which a check finds that they agree, or differ."""

    def answer(received: Received) -> str:
        text = received.messages[-1].content
        if text.startswith("You answer a question alone"):
            said = adder(received)
            return json.dumps({"reasons": "I add.", "conclusion": said.splitlines()[-1], "answer": said})
        if text.startswith("You read three answers"):
            return json.dumps({"differences": list(differences), "faults": [], "agree": not differences, "best": "B"})
        return adder(received)

    return answer


async def test_the_person_sees_which_way_was_taken_and_why(assay: Assay, adder: Adder, tmp_path: Path) -> None:
    question = "What is 2 plus 3? End with ANSWER: and the number."
    async with LoopbackServer(routing(adder)) as server:
        done = await assay("ask", question, "--route", "--out", "a.md", server=server)
        assert done.code == 0, done.err
        assert len(server.requests) == 4
    assert "ANSWER: 5" in done.out
    assert "three short answers agree" in done.err and "no council" in done.err
    report = (tmp_path / "a.md").read_text(encoding="utf-8")
    assert "Which way it went" in report and "nobody attacked it" in report
    async with LoopbackServer(routing(adder, "Is it 5 or 6?")) as server:
        done = await assay("ask", question, "--route", "--out", "b.md", server=server)
        assert done.code == 0, done.err
        assert len(server.requests) == 11, "four before it; triage, two seats, a critic, a defence, answer, effects"
        told = [request.messages[-1].content for request in server.requests[4:]]
    assert "in doubt, so a council sits: Is it 5 or 6?" in done.err
    assert all("Is it 5 or 6?" in text for text in told if "The council works on this question" in text)
    assert "Is it 5 or 6?" in (tmp_path / "b.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("more", [("--form", "prose"), ("--as", "review", "--attach", "q.md")])
async def test_what_cannot_be_routed_is_refused_before_a_call(
    assay: Assay, adder: Adder, tmp_path: Path, more: tuple[str, ...]
) -> None:
    (tmp_path / "q.md").write_text("x = 1\n")
    async with LoopbackServer(adder) as server:
        done = await assay("ask", "Is it?", "--route", *more, server=server)
        assert not server.requests
    assert done.code == 2 and len(done.err.splitlines()) == 1 and "--route" in done.err


async def test_routed_self_correction_and_a_dearer_model_are_methods_at_the_councils_spend(
    assay: Assay, adder: Adder, write: Callable[..., str]
) -> None:
    file = write(*({"question": f"What is {n} plus {n}?", "expected": 2 * n} for n in (1, 2)))
    methods = ("compare", file, "--methods", "council,routed,self-correction,dearer", "--json", "-q")
    async with LoopbackServer(routing(adder)) as server:
        refused = await assay(*methods, server=server)
        assert refused.code == 2 and "--seat dearer=MODEL" in refused.err and not server.requests
        done = await assay(*methods, "--seat", "dearer=openrouter:vendor/large", server=server)
        assert done.code == 0, done.err
        models = {request.model for request in server.requests}
    found = {one["method"]: one for one in json.loads(done.out)["result"]["methods"]}
    assert {name: one["right"] for name, one in found.items()} == dict.fromkeys(found, 2)
    assert found["routed"]["calls"] == 8 and found["routed"]["cost"] < 0.6 * found["council"]["cost"]
    assert 0.75 < found["self-correction"]["cost"] / found["council"]["cost"] < 1.25
    assert all(found[name]["samples"] > 2 for name in ("self-correction", "dearer"))
    assert "vendor/large" in models
