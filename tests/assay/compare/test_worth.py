"""What a comparison counts as spend and as an answer, with simulated models whose accuracy is known."""

from __future__ import annotations

import json
import math
import random
import re
from collections import Counter
from typing import Any

import pytest
from tests.assay.compare.conftest import TRIAGE
from tests.assay.compare.test_compare_tasks import question, row
from tests.crucible.records import ANSWER, critique, effects, position

from assay.protocol import RunContext
from assay.protocols.compare.figures import Figures, Rules, figures
from assay.protocols.compare.methods import METHODS, Bench
from assay.protocols.compare.spending import Outlay, paid
from assay.protocols.compare.story import in_short
from assay.protocols.compare.task import ComparisonHooks, Options, Task
from assay.terms import Terms
from llm_runtime.errors import CallError, CallTimeout, ReplyTruncated
from llm_runtime.events import silent
from llm_runtime.messages import CallLabel, Message, Reply, Request, Usage
from llm_runtime.settings import ConfigFile
from llm_runtime.testing import LoopbackServer
from llm_runtime.wrappers.chosen import chosen
from llm_runtime.wrappers.metered import Meter

REFUSAL = "I'm sorry, but I can't help with that."


def dollars(usage: Usage) -> float:
    """Micro-dollars at 3 and 15 USD a million tokens, and half of that of input for what a cache holds."""
    return 3 * usage.input_tokens - 1.5 * usage.cached_tokens + 15 * usage.output_tokens


class Simulated:
    """A model that is right in six of ten answers, a council in seven; it fails, refuses, differs in length."""

    def __init__(self, seed: int, *, priced: bool, begins: bool = True) -> None:
        self.draw, self.priced, self.begins = random.Random(seed), priced, begins
        self.spent: Counter[str] = Counter()

    async def __call__(self, request: Request) -> Reply:
        draw, phase = self.draw, request.label.phase
        read = sum(len(message.content) for message in request.messages) // 4
        wrote = max(1, round(draw.lognormvariate(math.log(200) - 0.72, 1.2)))
        usage = Usage(read, wrote, cached_tokens=draw.choice((0, read // 3)))
        self.spent[{"sample": "self-consistency", "single": "single"}.get(phase, "council")] += round(dollars(usage))
        reply = Reply(self.says(request, draw), "m", "p", usage, cost=round(dollars(usage)) if self.priced else None)
        if draw.random() < 0.05 or (phase == "triage" and not self.begins):
            fault: CallError = CallTimeout("too slow", label=request.label)
            fault.partial = reply
            raise fault
        return reply

    def says(self, request: Request, draw: random.Random) -> str:
        phase, asked = request.label.phase, request.messages[-1].content
        seats = {"position": position, "critique": critique, "effects": effects, "triage": lambda _: TRIAGE}
        if phase in seats:
            return json.dumps(seats[phase](request))
        found = re.search(r"(\d+) plus", asked)
        assert found
        right = draw.random() < (0.7 if phase == "synthesis" else 0.6)
        text = f"ANSWER: {2 * int(found[1]) + (0 if right else draw.randint(1, 30))}"
        if phase == "synthesis":
            return json.dumps(ANSWER | {"answer": text})
        return REFUSAL if draw.random() < 0.2 else text


async def compared(model: Simulated, tasks: int = 40) -> Figures:
    questions = [question(number).model_dump() for number in range(1, tasks + 1)]
    context = RunContext("r", 3, model, silent, lambda: 0, Terms())
    result = await ComparisonHooks().run(Task(tasks=questions), Options(at_once=1), context)
    return Figures.model_validate(result)


@pytest.mark.parametrize("priced", [True, False])
async def test_what_is_called_equal_spend_is_equal_in_dollars(priced: bool) -> None:
    equal = 0
    for seed in (1, 2, 3):
        model = Simulated(seed, priced=priced)
        pair = next(p for p in (await compared(model)).comparisons if (p.a, p.b) == ("self-consistency", "council"))
        assert pair.spend_in == ("USD" if priced else "tokens at 1:5")
        assert pair.spend and pair.spend.estimate == pytest.approx(model.spent[pair.a] / model.spent[pair.b], 0.01)
        equal += pair.equal_spend
    assert equal >= 2, "and mostly it comes out equal, however much lengths differ"


async def test_a_council_that_never_begins_is_in_no_verdict() -> None:
    found = await compared(Simulated(1, priced=False, begins=False), tasks=8)
    with_it = [pair for pair in found.comparisons if "council" in (pair.a, pair.b)]
    assert len(with_it) == 2 and all(pair.difference is None and not pair.shown for pair in with_it)
    assert "Not measured**: self-consistency and council, for council gave no answer on 8 of 8" in in_short(found)


def test_a_token_counts_as_it_is_paid() -> None:
    took = Outlay(calls=1, input_tokens=100, output_tokens=10, cached_tokens=40, milliseconds=2_500, cost=7)
    units = {"USD": 7, "seconds": 2.5, "1:5": 130, "1:0.1:5": 114, "1:1": 110, "1:1:3": 130}
    assert {unit: pytest.approx(paid(took, unit)) for unit in units} == units


def test_other_ways_to_count_stand_beside_and_there_is_no_verdict_beyond_a_tenth() -> None:
    def costing(method: str, read: int, wrote: int) -> list[Any]:
        made = [row(str(n), method, method == "a") for n in range(20)]
        return [one.model_copy(update={"input_tokens": read, "output_tokens": wrote}) for one in made]

    rows = [*costing("a", 100, 100), *costing("b", 595, 1)]
    (pair,) = figures(rows, ["a", "b"], Rules(1, exchange="1:5")).comparisons
    assert pair.equal_spend and pair.otherwise["tokens"] == pytest.approx(200 / 596)
    assert "a was right more often than b" in in_short(figures(rows, ["a", "b"], Rules(1, exchange="1:5")))
    plainly = in_short(figures(rows, ["a", "b"], Rules(1)))
    assert "No verdict" in plainly and "not at equal spend" in plainly and "more often" not in plainly


@pytest.mark.parametrize(("failed", "measured"), [(2, True), (3, False)])
def test_a_method_that_fails_on_more_than_the_share_is_not_compared(failed: int, measured: bool) -> None:
    rows = [row(str(n), method, True) for n in range(20) for method in ("a", "b")]
    rows[: 2 * failed : 2] = [
        one.model_copy(update={"error": "CallTimeout: slow", "right": False}) for one in rows[: 2 * failed : 2]
    ]
    (pair,) = figures(rows, ["a", "b"], Rules(1, most_failed=0.1)).comparisons
    assert (pair.difference is not None) is measured and bool(pair.unmeasured) is not measured


async def answering(*texts: str) -> Any:
    left = list(texts)

    async def generate(request: Request) -> Reply:
        if request.label.phase == "best" and not left:
            raise ReplyTruncated("cut", label=request.label)
        return Reply(left.pop(0), "m", "p", Usage(10, 10))

    return generate


@pytest.mark.parametrize(
    "silent_one",
    [
        REFUSAL,
        "ANSWER: I’m unable to say.",
        "It depends on what you mean by plus, and on much else.",
        "  ",
        "**ANSWER:**",
    ],
)
async def test_who_says_no_answer_has_no_vote(silent_one: str) -> None:
    meter = Meter(await answering(silent_one, silent_one, "So.\nANSWER: 2"))
    answered = await METHODS["self-consistency"](question(1), meter, Bench(7, 3, silent))
    assert (answered.answer, answered.agreed, answered.abstained) == ("2", 1, 2)


async def test_a_judge_that_fails_is_named_and_samples_that_are_one_are_told() -> None:
    meter = Meter(await answering("ANSWER: 2", "ANSWER: 2", "ANSWER: 2"))
    answered = await METHODS["best-of-n"](question(1), meter, Bench(7, 3, silent))
    assert (answered.answer, answered.judge, answered.distinct) == ("2", "ReplyTruncated: cut", 1)
    meter = Meter(await answering("ANSWER: 2", "ANSWER: 3", "Neither."))
    answered = await METHODS["best-of-n"](question(1), meter, Bench(7, 2, silent))
    assert (answered.judge, answered.distinct) == ("it named no answer", 2)


@pytest.mark.parametrize(("phase", "bound"), [("triage", 4096), ("position", 500), ("single", 500)])
async def test_a_bound_on_answers_never_cuts_triage(phase: str, bound: int) -> None:
    async def generate(request: Request) -> Reply:
        assert request.max_tokens == bound
        return Reply("", "m", "p", Usage(1, 1))

    asked = Request("m", (Message("user", "?"),), CallLabel("crucible", phase))
    await chosen(generate, ConfigFile(max_tokens=500))(asked)


async def test_the_report_says_what_a_reader_has_to_know_before_the_figures(
    assay: Any, write: Any, tmp_path: Any
) -> None:
    async with LoopbackServer(lambda _: "ANSWER: 2", cost=None) as server:
        file = write({"question": "What is 1 plus 1?", "expected": 2}, {"question": "And 2 plus 0?", "expected": 2})
        common = ("compare", file, "--methods", "single,best-of-n", "--samples", "3", "--out", "c.md", "-q")
        done = await assay(*common, "--exchange", "1:3", server=server)
        assert done.code == 0, done.err
        refused = await assay(*common, "--exchange", "cheap", server=server)
    text = " ".join((tmp_path / "c.md").read_text(encoding="utf-8").replace("\\", "").split())
    assert "The judge of best-of-n failed on 2 of 2 tasks (it named no answer 2)" in text
    assert "The samples of best-of-n are the same to the letter on 2 of 2 tasks" in text
    verdicts = dict(re.findall(r"single − best-of-n \| (\w+) \| [\d.]+× \| ([^|]+?) \|", text))
    assert verdicts.keys() >= {"USD", "tokens"} and {*verdicts.values()} == {"no verdict, not at equal spend"}
    assert refused.code == 2 and "exchange" in refused.err and len(refused.err.splitlines()) == 1


async def test_a_task_that_is_asked_several_times_counts_once() -> None:
    """Every task is asked three times; which is answered rightly hangs on the task alone, so eight count."""

    async def generate(request: Request) -> Reply:
        asked.append(request)
        return Reply(f"ANSWER: {2 if '1 plus 1?' in request.messages[0].content else 0}", "m", "p", Usage(10, 10))

    asked: list[Request] = []
    tasks = [question(number).model_dump() for number in range(1, 9)]
    context = RunContext("r", 3, generate, silent, lambda: 0, Terms())
    options = Options(methods=("single", "self-consistency"), samples=1, repeat=3)
    found = Figures.model_validate(await ComparisonHooks().run(Task(tasks=tasks), options, context))
    single, _ = found.methods
    assert (single.tasks, single.right) == (24, 3) and single.score
    assert single.score.high - 0.125 == pytest.approx(0.125 * 2.365, rel=0.005), "of 8 tasks, not of 24 answers"
    assert len({request.seed for request in asked}) == len(asked), "each time is asked anew"
    with pytest.raises(ValueError, match="no repeat with early"):
        Options(repeat=2, early=True)


async def test_open_questions_are_compared_by_raters_who_know_nobody_and_are_asked_in_both_orders() -> None:
    """Self-consistency names the risk, single does not; the third rater prefers whatever stands first."""

    async def generate(request: Request) -> Reply:
        phase, asked = request.label.phase, request.messages[-1].content
        if phase.startswith("rater"):
            shown.append(asked)
            better = 1 if phase == "rater3" else 1 + (asked.index("at night") > asked.index("A plain yes"))
            return Reply(json.dumps({"reason": "The risk.", "better": better}), "m", "p", Usage(9, 9), cost=9)
        said = "A plain yes." if phase == "single" else "Yes, if somebody watches it at night."
        return Reply(said, "m", "p", Usage(10, 10), cost=10)

    shown: list[str] = []
    tasks = [{"id": str(n), "question": f"Should shop {n} run its own database?"} for n in range(12)]
    context = RunContext("r", 3, generate, silent, lambda: 0, Terms())
    methods = ("self-consistency", "single")
    result = await ComparisonHooks().run(Task(tasks=tasks), Options(methods=methods, samples=1, raters=3), context)
    found = Figures.model_validate(result)
    (pair,) = found.comparisons
    assert (pair.only_a, pair.only_b, pair.rated, pair.agreed) == (12, 0, 12, 0)
    assert "self-consistency was found better more often than single" in in_short(found)
    assert "Raters agreed on 0 of 12." in in_short(found)
    assert found.rows[0].votes == {"single": (1, 1, 0)}
    assert len(shown) == 12 * 3 * 2 and not any(name in text for text in shown for name in METHODS if name != "single")
    firsts = [text.index("at night") < text.index("A plain yes") for text in shown]
    assert firsts.count(True) == firsts.count(False)
    assert all(method.calls == 12 for method in found.methods), "no method pays for raters"
