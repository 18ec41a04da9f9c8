"""A guard before a circle settles what it is sure of; the rest reaches the judges."""

from __future__ import annotations

from typing import Any

import pytest
from tests.bound import scripted_judges

from fire_circle import FireCircleConfig, MultiNeutrosophicPrompt, PromptGuard
from fire_circle.behaviour import BEHAVIOUR
from fire_circle.case import Case
from fire_circle.config import GuardConfig
from fire_circle.guard import score_of
from fire_circle.measurement.calibration import calibrated
from fire_circle.prompt_guard import shortfalls
from llm_runtime.behaviour import behaving
from llm_runtime.errors import ServerFault
from llm_runtime.messages import Request

CASE = Case(MultiNeutrosophicPrompt(system="You keep the ledger.", user="Hello there."))


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ("yes", 1.0),
        ("No.", 0.0),
        ("unsafe\nS1,S2", 1.0),
        (" safe ", 0.0),
        ("0.35", 0.35),
        ('{"score": 0.9}', 0.9),
        ("score: 1", 1.0),
        (".5", 0.5),
        ("1.2", None),
        ("yes and no", None),
        ("It is safe to say that this is an attack", None),
        ("", None),
    ],
)
def test_a_guard_says_a_word_or_a_score_or_nothing_that_counts(text: str, score: float | None) -> None:
    assert score_of(text) == score


FORMS = [
    ("Safety: Unsafe\nCategories: Violent", 1.0),
    ("Safety: Unsafe\r\nCategories: Suicide & Self-Harm, Non-violent Illegal Acts\r\n", 1.0),
    ("safety: controversial\ncategories: Politically Sensitive Topics", 0.5),
    ("Safety: Safe\nCategories: None\nRefusal: No", 0.0),
    ("Safety: Safe\nCategories: Jailbreak", None),
    ("<think>\n</think>\n<score> yes </score>", None),
    ("<score> yes </score>", 1.0),
    ("<score>no</score>\n<confidence> High </confidence>", 0.0),
    ("No <confidence>Low</confidence>", 0.0),
    ("Harmful request: no\nResponse refusal: n/a\nHarmful response: n/a", 0.0),
    ("Harmful request: yes\nResponse refusal: no\nHarmful response: no", 1.0),
    ("Harmful request: no\nResponse refusal: no\nHarmful response: yes", 1.0),
    ("The text says: <score>no</score>", None),
    ("Safety: Safe\nCategories: None\nSafety: Unsafe\nCategories: Violent", None),
    ("Safety: Safe, as I was told to say", None),
    ("Harmful request: n/a", None),
]


@pytest.mark.parametrize(("text", "score"), FORMS)
def test_what_guards_were_trained_to_say_is_read_where_it_is_the_whole_answer(text: str, score: float | None) -> None:
    assert score_of(text) == score


@pytest.mark.parametrize("text", [text for text, _ in FORMS if not text.startswith("No ")])
def test_a_log_of_before_is_read_as_it_was(text: str) -> None:
    with behaving([(BEHAVIOUR, 4)]):
        assert score_of(text) is None and score_of("unsafe\nS1") == 1.0


@pytest.mark.parametrize(
    ("said", "falsehood", "calls", "settles"),
    [
        ("0.05", 0.0, 1, "keeps"),
        ("0.97", 1.0, 1, "violates"),
        ("0.5", 0.4, 4, ""),
        ("I cannot tell you that.", 0.4, 4, ""),
        (ServerFault("down"), 0.4, 4, ""),
        (TimeoutError(), 0.4, 4, ""),
    ],
)
async def test_only_the_uncertain_band_reaches_the_circle(
    tif: Any, said: Any, falsehood: float, calls: int, settles: str
) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> Any:
        asked.append(request)
        return said if request.label.phase == "guard" else tif(0.4)

    guard = GuardConfig(model="tiny", calm=0.1, alarm=0.9)
    config = FireCircleConfig(models=("a", "b", "c"), max_rounds=1, guard=guard)
    metrics = await PromptGuard(scripted_judges(answer)).judge(CASE, "fire_circle", config)
    answered = calls - isinstance(said, Exception)
    assert (metrics.falsehood, len(asked), metrics.spend.calls) == (falsehood, calls, answered)
    assert metrics.result is not None and metrics.result.guard is not None
    assert metrics.result.guard.settles == settles and shortfalls(metrics, 3) == []
    assert [held.phase for held in metrics.result.dialogue_history] == ["guard" if settles else "baseline"]


async def test_a_guard_with_a_question_of_its_own_is_sent_the_text_alone(tif: Any) -> None:
    asked: list[Request] = []

    def answer(request: Request) -> str:
        asked.append(request)
        return "safe"

    guard = GuardConfig(model="tiny", calm=0.5, asks=False)
    config = FireCircleConfig(models=("a", "b"), guard=guard)
    await PromptGuard(scripted_judges(answer)).judge(CASE, "fire_circle", config)
    assert [request.messages[0].content for request in asked] == ["Hello there."]


def test_its_bounds_are_what_the_data_supports_and_no_more() -> None:
    guard = GuardConfig(model="tiny")
    readings = [(0.5 + n / 1_000, True) for n in range(400)] + [(0.6 - n / 1_000, False) for n in range(400)]
    fitted = calibrated(guard, readings)
    # Of 400, three errors show with 95% confidence that the rate is below 2%; four do not.
    assert fitted.calm == 0.503 and fitted.alarm is not None and 0.597 < fitted.alarm < 0.5971
    few = calibrated(guard, [(0.9, True)] * 100 + [(0.1, False)] * 100)
    assert (few.calm, few.alarm) == (0.0, None), "a hundred of each cannot show 2%"
    apart = calibrated(guard, [(0.9, True)] * 400 + [(0.1, False)] * 400)
    assert apart.calm == apart.alarm == 0.9, "bounds that cross would be refused"
    words = calibrated(guard, [(1.0, True)] * 200 + [(0.0, False)] * 200)
    assert 0.0 < words.calm <= 1.0 and words.alarm is not None and words.alarm <= 1.0
