"""Records as models often write them: right in what they say, and not to the letter of the schema."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tests.crucible import records
from tests.crucible.records import ANSWER, hold

from crucible import headline
from crucible.behaviour import BEHAVIOUR
from llm_runtime import Request
from llm_runtime.behaviour import behaving


def by_id(said: Any) -> Any:
    claims = said.get("claims", [])
    return said | {"claims": {one.get("id") or f"new {at}": one for at, one in enumerate(claims)}} if claims else said


def bare(said: Any) -> Any:
    return said | {"claims": [one["text"] for one in said["claims"]]} if "conclusion" in said else said


def sure(value: Any) -> Callable[[Any], Any]:
    return lambda said: said | {"confidence": value} if "confidence" in said else said


def past(said: Any) -> Any:
    answers = [one | {"does": f"{one['does']}d."} for one in said.get("answers", [])]
    return said | {"answers": answers} if answers else said


def nothing(said: Any) -> Any:
    empty = dict.fromkeys(("answers", "earlier", "confidence", "objections", "looked_at"))
    return {**empty, **said}


def named(said: Any) -> Any:
    claims = [one | {"rests_on": ", ".join(one["rests_on"])} for one in said["claims"]] if "answer" in said else []
    return said | {"claims": claims} if claims else said


LOOSE = {
    "claims by their ids": by_id,
    "claims as bare texts": bare,
    "a per cent": sure("92 %"),
    "a share": sure(0.35),
    "a number to a hundred": sure(55),
    "more than a word": sure("Very high"),
    "another form of the verb": past,
    "null for what is not given": nothing,
    "ids in one text": named,
}


@pytest.mark.parametrize("loosely", LOOSE.values(), ids=LOOSE.keys())
async def test_a_loose_record_is_read_at_once(loosely: Callable[[Any], Any]) -> None:
    plain, asked = await hold()

    def says(record: Any) -> Callable[[Request], str]:
        return lambda request: json.dumps(loosely(record(request) if callable(record) else record))

    said = {"position": records.position, "critique": records.critique, "synthesis": ANSWER}
    said |= {"effects": records.effects}
    result, model = await hold({phase: says(record) for phase, record in said.items()})
    assert headline(result.ledger) == headline(plain.ledger)
    assert [one.outcome for one in result.ledger.objections] == [one.outcome for one in plain.ledger.objections]
    assert len(model.requests) == len(asked.requests)


async def test_a_log_of_before_is_read_as_strictly_as_it_was() -> None:
    def position(request: Request) -> Any:
        first = request.label.attempt == 1
        return records.position(request) | ({"confidence": "92 %"} if first else {})

    with behaving([(BEHAVIOUR, 6)]):
        _, model = await hold({"position": position})
    _, now = await hold({"position": position})
    assert len(model.requests) > len(now.requests)
