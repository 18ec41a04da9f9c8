"""Reading questions, checking answers, and choosing how many samples a spend buys."""

from __future__ import annotations

import json
import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.assay.compare.conftest import TRIAGE

from assay.protocols.compare.datasets import read_tasks
from assay.protocols.compare.events import MethodAnswered
from assay.protocols.compare.figures import Row, figures
from assay.protocols.compare.methods import METHODS, Bench, best_of_n, more_samples, self_consistency
from assay.protocols.compare.story import CompareFold, in_short
from assay.protocols.compare.tasks import Question, final_answer, majority, same
from llm_runtime.errors import CallTimeout, ConfigurationError
from llm_runtime.events import RunStarted, silent
from llm_runtime.messages import Generate, Reply, Request, Usage
from llm_runtime.statistics.significance import holm
from llm_runtime.wrappers.metered import Meter


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 1 is not JSON"),
        ("[1]", "line 1 is not a JSON object"),
        ("[" * 100_000, "line 1 is not JSON"),
        ("{}", "question"),
        ('{"question": ""}', "question"),
        ('{"question": "a", "expcted": "b"}', "expcted"),
        ('{"question": "a", "expected": "b", "regex": "c"}', "not both"),
        ('{"question": "a", "regex": "("}', "cannot be read"),
        ('{"question": "a", "expected": "blue", "tolerance": 1}', "needs a number"),
        ('{"question": "a", "tolerance": NaN, "expected": 1}', "tolerance"),
        ('{"question": "a", "id": "x"}\n{"question": "b", "id": "x"}', "line 2: the id 'x' was used in line 1"),
        ("", "holds no tasks"),
    ],
)
def test_a_bad_line_is_one_line_that_says_where(line: str, says: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_tasks(line, "q.jsonl")
    assert says in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Thinking.\nANSWER: 42", "42"),
        ("ANSWER: 41\nno, wait\n**Answer:** 42.", "42"),
        ("> ANSWER: `Paris`", "Paris"),
        ("I say\n\nit is 42\n", "it is 42"),
        ("ANSWER:\n42\n", "42"),
        ("", ""),
        ("\n" * 19_000 + "42", "42"),
        ("ANSWER: 4" + " 2" * 9_000 + " " * 900, "4" + " 2" * 9_000),
    ],
    ids=range(8),
)
def test_the_last_answer_line_counts(text: str, answer: str) -> None:
    assert final_answer(text) == answer


@pytest.mark.parametrize(
    ("check", "answer", "right"),
    [
        ({"expected": 10}, "10.0", True),
        ({"expected": "1000"}, "1,000", True),
        ({"expected": 3.14159, "tolerance": 0.01}, "3.14", True),
        ({"expected": 3.14159}, "3.14", False),
        ({"expected": 10}, "ten", True),
        ({"expected": -5}, "−5", True),
        ({"expected": "New  York"}, "*new york.*", True),
        ({"regex": r"^(yes|y)$"}, "yes", True),
        ({"regex": r"^(yes|y)$"}, "no", False),
        ({}, "anything", None),
    ],
)
def test_an_answer_is_checked_as_its_task_says(check: dict[str, object], answer: str, right: bool | None) -> None:
    assert Question.model_validate({"id": "1", "question": "?", **check}).right(answer) is right


def test_a_tie_goes_to_the_earlier_answer() -> None:
    assert majority(["a", "b", "B.", "A"]) == 0
    assert majority(["7", "8", "8.0"]) == 1


@given(st.lists(st.sampled_from(["1", "1.0", "2", "two", "Two."]), min_size=1))
def test_no_other_answer_has_more_votes_than_the_majority(answers: list[str]) -> None:
    forms = [same(answer) for answer in answers]
    assert all(forms.count(forms[majority(answers)]) >= forms.count(form) for form in forms)


async def _unused(request: Request) -> Reply:
    raise AssertionError(request)


def meter(cost: int | None, inputs: int = 100, outputs: int = 100) -> Meter:
    meter = Meter(_unused)
    meter.input_tokens, meter.output_tokens = inputs, outputs
    meter.known_cost, meter.unpriced_calls = cost or 0, int(cost is None)
    return meter


def test_samples_are_drawn_until_they_have_spent_what_the_council_spent() -> None:
    assert more_samples(meter(1000), meter(100), 1, closing=False) == 1, "one answer says little about the next"
    assert more_samples(meter(1000), meter(300), 3, closing=False) == 3
    assert more_samples(meter(1000), meter(1000), 9, closing=False) == 0
    assert more_samples(meter(None, 900, 100), meter(None, 200, 200), 2, closing=False) == 1, "in tokens"
    assert more_samples(meter(1000), meter(940), 9, closing=False) == 1, "half a sample short is one more"
    assert more_samples(meter(10), meter(100), 1, closing=False) == 0


def test_what_reads_all_samples_is_paid_out_of_the_same_spend() -> None:
    # Six samples cost 600; a synthesis reads six answers of half a sample each and writes one more: 400.
    assert more_samples(meter(1000), meter(600), 6, closing=True) == 0
    assert more_samples(meter(1000), meter(400), 4, closing=True) == 1


def question(number: int) -> Question:
    return Question(id=str(number), question=f"What is {number} plus {number}?", expected=2 * number)


def flaky(share: float, seed: int) -> Generate:
    """A model that adds rightly in seven of ten samples and fails in a share of its calls; lengths differ."""
    draw = random.Random(seed)

    async def generate(request: Request) -> Reply:
        if draw.random() < share:
            raise CallTimeout("too slow", label=request.label)
        asked = re.search(r"(\d+) plus", request.messages[0].content)
        assert asked
        right = draw.random() < 0.7
        length = round(draw.lognormvariate(5, 0.9))
        return Reply(f"ANSWER: {2 * int(asked[1]) + (0 if right else draw.randint(1, 9))}", "m", "p", Usage(50, length))

    return generate


@pytest.mark.parametrize("share", [0.0, 0.01, 0.03])
async def test_a_failed_sample_costs_a_method_no_task(share: float) -> None:
    council = meter(None, 2_000, 3_000)
    right, spent = 0, 0
    for number in range(1, 201):
        own = Meter(flaky(share, number))
        bench = Bench(7, 5, silent, against=council)
        right += question(number).right((await self_consistency(question(number), own, bench)).answer) or False
        spent += own.tokens
    assert right >= 196, "at any share of failures that a council survives, the majority stays right"
    assert 0.9 < spent / (200 * council.tokens) < 1.1, "and the spend is the council's, however lengths differ"


async def test_a_method_whose_every_call_fails_says_so() -> None:
    with pytest.raises(CallTimeout):
        await self_consistency(question(1), Meter(flaky(1.0, 1)), Bench(7, 5, silent, against=meter(None)))


def test_blanks_are_no_votes() -> None:
    assert majority(["", "", "x"]) == 2
    assert majority(["", ""]) == 0


@pytest.mark.parametrize(
    ("expected", "answer"),
    [(7, r"\boxed{7}"), (0.5, "1/2"), (5, "5 apples"), ("Canberra", "C) Canberra"), (1200, "$1,200 in all")],
)
def test_answers_in_usual_dress_are_read(expected: object, answer: str) -> None:
    task = Question.model_validate({"id": "1", "question": "?", "expected": expected})
    assert task.right(final_answer(f"ANSWER: {answer}"))


async def test_a_judge_chooses_among_samples() -> None:
    async def generate(request: Request) -> Reply:
        if request.label.phase == "best":
            return Reply("Two is right.\n\nBEST: 2", "m", "p", Usage(10, 10))
        return Reply(f"ANSWER: {request.label.attempt}", "m", "p", Usage(10, 10))

    answered = await best_of_n(question(1), Meter(generate), Bench(7, 3, silent))
    assert (answered.answer, answered.samples) == ("2", 3)


async def test_a_council_without_a_red_team_asks_no_critic() -> None:
    asked: list[str] = []

    async def generate(request: Request) -> Reply:
        asked.append(request.label.phase)
        text = json.dumps(TRIAGE) if request.label.phase == "triage" else "ANSWER: 2"
        return Reply(text, "m", "p", Usage(10, 10))

    answered = await METHODS["council-without-red-team"](question(1), Meter(generate), Bench(7, 3, silent))
    assert answered.answer == "2" and "critique" not in asked and asked.count("position") == 4


def test_pairs_are_corrected_by_holm() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == [] and holm([0.5, 0.9]) == [1.0, 1.0]
    rows = [row(str(n), m, m == "b" or n > 6) for n in range(20) for m in ("a", "b", "c")]
    pairs = figures(rows, ["a", "b", "c"], 1).comparisons
    assert all(pair.p_holm is not None and pair.p is not None and pair.p_holm >= pair.p for pair in pairs)


def row(task: str, method: str, right: bool | None, tokens: int = 100) -> Row:
    return Row(
        task=task,
        question="?",
        expected="x",
        method=method,
        text="t",
        answer="a",
        right=right,
        samples=1,
        agreed=0,
        calls=1,
        input_tokens=tokens,
        output_tokens=0,
        cost=None,
    )


def test_a_difference_is_claimed_only_where_the_interval_and_the_test_agree() -> None:
    few = [row(str(n), m, m == "b" or n > 1) for n in range(4) for m in ("a", "b")]
    assert "No difference shown" in in_short(figures(few, ["a", "b"], 1))
    many = [row(str(n), m, m == "b") for n in range(20) for m in ("a", "b")]
    found = figures(many, ["a", "b"], 1)
    assert "b was right more often than a" in in_short(found)
    (pair,) = found.comparisons
    assert (pair.only_a, pair.only_b, pair.spend_in) == (0, 20, "tokens") and pair.equal_spend


def test_unequal_spend_is_said_beside_the_verdict() -> None:
    rows = [row(str(n), m, True, 100 if m == "a" else 1000) for n in range(5) for m in ("a", "b")]
    assert "not at equal spend" in in_short(figures(rows, ["a", "b"], 1))


def test_a_task_counts_only_once_every_method_is_done_with_it() -> None:
    found = figures([row("1", "a", True), row("1", "b", True), row("2", "a", True)], ["a", "b"], 1)
    assert [method.tasks for method in found.methods] == [1, 1]


def test_what_nothing_tells_is_not_scored() -> None:
    found = figures([row("1", "a", None), row("1", "b", None)], ["a", "b"], 1)
    assert found.comparisons[0].difference is None and "nothing was scored" in in_short(found)


def fold_of(task: dict[str, object], settings: dict[str, object]) -> CompareFold:
    fold = CompareFold()
    fold.apply(RunStarted(run_id="r", protocol="compare", title="t", task=task, settings=settings, seed=1), 0)
    fold.apply(MethodAnswered(row=row("1", "single", True).model_dump()), 1)
    return fold


def test_a_log_of_an_earlier_version_is_read() -> None:
    engine = {"methods": ["single"], "samples": 5, "at_once": 4}
    fold = fold_of({"tasks": [{"id": "1", "question": "?", "expected": "x"}], "source": "q"}, {"engine": engine})
    assert fold.figures().methods[0].right == 1 and "1 of 1 answers" in fold.progress().phase


def test_a_log_whose_task_does_not_fit_still_has_a_report() -> None:
    assert fold_of({"tasks": "all"}, {}).story().title == "t"
