"""Reading questions, checking answers, and choosing how many samples a spend buys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.protocols.compare.events import MethodAnswered
from assay.protocols.compare.figures import Row, figures
from assay.protocols.compare.methods import samples_for
from assay.protocols.compare.story import CompareFold, in_short
from assay.protocols.compare.tasks import Question, final_answer, majority, read_tasks, same
from llm_runtime.errors import ConfigurationError
from llm_runtime.events import RunStarted
from llm_runtime.messages import Reply, Request
from llm_runtime.wrappers.metered import Meter


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{", "line 1 is not JSON"),
        ("[1]", "line 1 is not a JSON object"),
        ("[" * 100_000, "line 1 is not JSON"),
        ("{}", "question"),
        ('{"question": ""}', "question"),
        ('{"question": "a", "answer": "b"}', "answer"),
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
        ({"expected": 10}, "ten", False),
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


def test_as_many_samples_are_drawn_as_the_council_s_spend_buys() -> None:
    assert samples_for(meter(1000), meter(100), synthesis=False) == 10
    assert samples_for(meter(None, 900, 100), meter(None), synthesis=False) == 5
    assert samples_for(meter(10), meter(100), synthesis=False) == 1
    assert samples_for(meter(10**9), meter(1), synthesis=False) == 64


def test_a_synthesis_is_paid_out_of_the_same_spend() -> None:
    # Six samples cost 600; a synthesis reads six answers of half a sample each and writes one more: 400.
    assert samples_for(meter(1000), meter(100), synthesis=True) == 6


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
