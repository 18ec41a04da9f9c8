"""A council as large as the doubt: when three short answers are enough, what a council is told, what it costs."""

from __future__ import annotations

import json
import random
import re
from typing import Any

import pytest
from tests.crucible.records import ANSWER, configuration, critique, effects, hold, position, shown, weigh

from crucible import Council, EngineConfig
from crucible.behaviour import BEHAVIOUR
from crucible.events import Routed
from crucible.routing import FAMILIES, three_families
from llm_runtime import Reply, Request, Usage
from llm_runtime.behaviour import behaving
from llm_runtime.errors import BudgetExceeded, CallTimeout
from llm_runtime.events import Event
from llm_runtime.tokens import estimate_tokens


def short(request: Request) -> Any:
    return {"reasons": "The load is low.", "conclusion": "Take one.", "answer": f"**One**, says {request.label.seat}."}


AGREED = {"differences": [], "faults": [], "agree": True, "best": "B"}
DOUBTS: dict[str, tuple[Any, str]] = {
    "they differ": ({**AGREED, "differences": ["Does December count?"]}, "Does December count?"),
    "a fault": ({**AGREED, "faults": ["A takes a week for a year."]}, "A takes a week for a year."),
    "unsure": ({**AGREED, "agree": False}, "whether they agree"),
    "no reader": (CallTimeout("too slow"), "Nobody could compare the answers: CallTimeout"),
    "a reader without a form": ("I cannot tell.", "Nobody could compare the answers: StructuredOutputError"),
}


async def test_three_that_agree_are_the_answer_and_no_council_sits() -> None:
    told: list[Event] = []
    result, model = await hold({"short": short, "check": AGREED}, route=True, emit=told.append)
    assert model.phases == ["short", "short", "short", "check"]
    assert result.final_response == "**One**, says B."
    assert (result.loops_executed, result.attacked, result.route) == (0, False, "three that agree")
    (way,) = [event for event in told if isinstance(event, Routed)]
    assert not way.doubts and [*way.answers] == ["A", "B", "C"]
    checked = shown(model.requests[-1])
    assert all(f"says {letter}" in checked for letter in "ABC") and "How many servers?" in checked


@pytest.mark.parametrize("case", DOUBTS)
async def test_in_doubt_a_council_decides_what_is_in_doubt(case: str) -> None:
    found, doubt = DOUBTS[case]
    told: list[Event] = []
    result, model = await hold({"short": short, "check": found}, route=True, emit=told.append)
    way = next(event for event in told if isinstance(event, Routed))
    assert doubt in way.doubts[0] and result.final_response == ANSWER["answer"] and not result.route
    triage = next(request for request in model.requests if request.label.phase == "triage")
    seats = [request for request in model.requests if request.label.phase in ("position", "critique")]
    assert all(way.doubts[0][:60] in text for text in (*map(shown, seats), str(triage.messages)))
    assert all("Take one." in shown(request) for request in seats)


async def test_who_gives_no_short_answer_leaves_a_doubt_and_what_all_spend_ends_the_run() -> None:
    def dies(request: Request) -> Any:
        return CallTimeout("too slow") if request.label.seat == "C" else short(request)

    result, model = await hold({"short": dies, "check": AGREED}, route=True)
    assert result.ledger.objections and "check" not in model.phases and "triage" in model.phases
    with pytest.raises(BudgetExceeded):
        await hold({"short": BudgetExceeded("spent")}, route=True)


async def test_a_letter_that_is_none_takes_the_first_and_models_are_of_as_many_vendors_as_there_are() -> None:
    result, _ = await hold({"short": short, "check": {**AGREED, "best": "the last"}}, route=True)
    assert result.final_response == "**One**, says A."
    assert three_families(["a/1", "a/2", "b/1", "c/1"]) == ["a/1", "b/1", "c/1"]
    assert three_families(["a/1", "b/1"]) == ["a/1", "b/1", "a/1"] and three_families(["a/1"]) == ["a/1"] * 3
    _, model = await hold({"short": short, "check": AGREED}, route=True, models=("a/1", "b/1"))
    assert [request.model for request in model.requests] == ["a/1", "b/1", "a/1", "a/1"]


async def test_three_vendors_give_the_short_answers_where_nobody_chose() -> None:
    _, model = await hold({"short": short, "check": AGREED}, route=True)
    assert [request.model for request in model.requests[:3]] == [*FAMILIES]
    assert len({one.partition("/")[0] for one in FAMILIES}) == 3
    with behaving([(BEHAVIOUR, 9)]):
        _, model = await hold({"short": short, "check": AGREED}, route=True)
    assert {request.model for request in model.requests} == {"openrouter/auto"}


async def test_without_route_nothing_is_asked_otherwise() -> None:
    _, plain = await hold()
    assert plain.phases[0] == "triage" and not {"short", "check"} & {*plain.phases}


def long(characters: int) -> str:
    """Words that say nothing, so many characters of them."""
    return (" and so it goes on" * 100)[:characters]


class World:
    """Simulated models over tasks, each with a rate at which one answer is right.

    Wrong answers are spread over three. A check finds half of those in which three agree, and doubts one
    in ten of the right ones. A council is right at its own rate, however large it sits. Answers are as long
    as those of a recorded council (about 430 tokens), short ones as their prompt allows (about 300).
    """

    def __init__(self, easy: float, single: tuple[float, float], council: tuple[float, float], seed: int) -> None:
        self.draw, self.tokens = random.Random(seed), 0.0
        self.easy, self.single, self.council = easy, single, council
        self.hard = False

    def next(self) -> None:
        self.hard = self.draw.random() >= self.easy

    def answer(self, rate: float) -> str:
        return "42" if self.draw.random() < rate else self.draw.choice(("41", "43", "40"))

    async def __call__(self, request: Request) -> Reply:
        phase, says = request.label.phase, None
        rate = self.single[self.hard]
        if phase in ("short", "single"):
            said = self.answer(rate)
            says = {"reasons": long(800), "conclusion": f"It is {said}.", "answer": f"ANSWER: {said}{long(300)}"}
        elif phase == "check":
            found = re.findall(r"It is (\d+)\.", shown(request))
            wrong = len({*found}) == 1 and self.draw.random() < (0.1 if found[0] == "42" else 0.5)
            says = {"differences": ["Which?"] if len({*found}) > 1 else [], "faults": ["A step."] if wrong else []}
            says |= {"agree": len({*found}) == 1, "best": "A"}
        elif phase == "synthesis":
            says = ANSWER | {"answer": f"ANSWER: {self.answer(self.council[self.hard])}{long(1_500)}"}
        else:
            says = {"triage": lambda _: configuration(loops=3), "position": position, "defence": position,
                    "critique": critique, "effects": effects, "weigh": weigh}[phase](request)  # fmt: skip
        for claim in says.get("claims", []) if phase == "position" or phase == "defence" else []:
            claim["text"] += long(1_300 // len(says["claims"]))
        for one in says.get("objections", []) if phase == "critique" else []:
            one["fails"] += long(1_200)
        for seat in says.get("council", []):
            seat["system_prompt"] += long(500)
        text = json.dumps(says)
        read = sum(estimate_tokens(message.content) for message in request.messages)
        self.tokens += read + 5 * estimate_tokens(text)
        return Reply(text, "m", "p", Usage(1, 1))


#: The share of easy tasks; how often one answer, and a council's, is right on easy and on hard ones.
SETTINGS = {
    "mostly easy": (0.7, (0.9, 0.5), (0.93, 0.6)),
    "half hard": (0.5, (0.9, 0.4), (0.93, 0.55)),
    "hard ones that a council saves": (0.7, (0.92, 0.3), (0.93, 0.55)),
    "a strong model": (0.8, (0.97, 0.6), (0.97, 0.7)),
}


async def measured(setting: str, tasks: int, *, route: bool) -> tuple[float, float]:
    """The share that is right, and what a task takes in tokens of input."""
    world, right = World(*SETTINGS[setting], seed=5), 0
    for number in range(tasks):
        world.next()
        config = EngineConfig(openrouter_api_key="", generate=world)
        result = await Council(config, seed=number).run("What is six times seven?", route=route)
        right += "42" in result.final_response
    return right / tasks, world.tokens / tasks


@pytest.mark.long
@pytest.mark.parametrize("setting", SETTINGS)
async def test_routed_is_near_the_council_at_half_its_spend(setting: str) -> None:
    whole, spend = await measured(setting, 500, route=False)
    routed, less = await measured(setting, 500, route=True)
    print(f"{setting}: council {whole:.1%} at {spend:,.0f}, routed {routed:.1%} at {less:,.0f} ({less / spend:.2f})")
    assert routed >= whole - 0.05 and less <= 0.5 * spend
