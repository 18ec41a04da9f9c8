"""What adoption cuts off, or what an interpreter cannot count, is no deviation of a function."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from criticality.adopt.adopting import Adopting
from criticality.asking import Asking
from criticality.config import Acceptance, Config, Models, ProjectConfig
from criticality.judging.court import Court
from criticality.languages import adopter
from criticality.standing import chosen
from llm_runtime.messages import Request
from llm_runtime.providers.scripted import scripted

pytestmark = [pytest.mark.box, pytest.mark.toolchain]

TWICE = '''
def twice(items):
    """Yield each item twice."""
    for item in items:
        yield item
        yield item
'''
HALVES = '''
def halves(items):
    """Return the items at even places and those at odd ones, one by one each."""
    return [iter(items[::2]), iter(items[1::2])]
'''
NTH = '''
from itertools import islice


def nth(items, n):
    """Return item n or the last one; ValueError where there is none."""
    found = list(islice(items, n + 1))
    if not found:
        raise ValueError
    return found[-1]
'''
PROPOSED = {
    "twice": (["items: List<Int>"], "List<Int>", ["ENSURES: len(result) == 2 * len(items)"]),
    "halves": (
        ["items: List<Int>"], "List<List<Int>>",
        ["ENSURES: list(result[0]) == list(items[::2]) and list(result[1]) == list(items[1::2])"],
    ),
    "nth": (
        ["items: List<Int>", "n: Int"], "Int",
        ["REQUIRES: n >= 0", "ENSURES: len(items) == 0 implies raises(ValueError)",
         "ENSURES: len(items) > 0 implies result == items[min(n, len(items) - 1)]"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "text"), [("twice", TWICE), ("halves", HALVES), ("nth", NTH)])
async def test_nothing_is_found_in_what_does_as_it_says(name: str, text: str, tmp_path: Path) -> None:
    params, returns, contracts = PROPOSED[name]
    proposal = {
        "params": params, "returns": returns, "doc": "By hand.", "contracts": contracts,
        "errors": {"ValueError": "there is none"} if name == "nth" else {},
    }  # fmt: skip

    def answer(request: Request) -> str:
        if "it breaks some" not in request.messages[0].content:
            return json.dumps(proposal)
        return json.dumps(
            {"answers": [{"number": 1, "decision": "finding", "because": "it says so"}], "proposal": proposal}
        )

    path = tmp_path / "things.py"
    path.write_text(text.lstrip(), "utf-8")
    python = adopter(path)
    package = python.read(path)
    config = Config(project=ProjectConfig(name="things"), acceptance=Acceptance(small=40, text=20, drawn=20, mutants=1))
    court = Court(1)
    try:
        adopting = Adopting(python, package, Asking(scripted(answer), Models(), 7), court, config, lambda event: None)
        adopted = await adopting.adopt(chosen(package, [name])[0])
    finally:
        await court.aclose()
    assert (adopted.refused, adopted.findings) == ("", [])
    assert adopted.measured["cases"] > 20
