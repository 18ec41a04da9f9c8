"""Forms of right and wrong answers, written after the scorers were; and tasks in the files that people have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.protocols.compare.datasets import read_tasks
from assay.protocols.compare.grading import graded
from assay.protocols.compare.tasks import Question, majority
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import Reply, Request, Usage

CITY = {"choices": ["Sydney", "Canberra", "Melbourne", "Perth"], "expected": "B"}
LETTER = {"expected": "C"}
PRIMES = {"scorer": "set", "expected": [2, 3, 5, 7]}
COLOURS = {"scorer": "set", "expected": ["red", "blue", "green"]}
RIGHT: list[tuple[dict[str, Any], list[str]]] = [
    (CITY, ["B", "b.", "(B)", "**B**", "B) Canberra", "Canberra", "Option B", "The answer is B", "B: Canberra", "$B$"]),
    (LETTER, ["C", "(c)", "C. the third one", "Choice C", r"\boxed{C}"]),
    (
        {"expected": 12},
        ["12", "12.0", "x = 12", "twelve", "12 apples", "3 * 4 = 12", "The total is 12.", "$12$", "+12"],
    ),
    ({"expected": 1234.5}, ["1,234.5", "1 234.5", "1.234,5", "1'234.50", r"\$1,234.50", "1.2345e3", "1.2345 × 10³"]),
    ({"expected": 0.5}, ["1/2", r"\frac{1}{2}", "0.5", ".5", "50%", "0,5", "1/2 (one half)"]),
    ({"expected": "3.5 km"}, ["3.5 km", "3500 m", "3,500 meters", "3.5", "about 3.5 kilometres"]),
    ({"expected": 1_200_000}, ["1.2 million", "1,200,000", "1200 thousand"]),
    (
        {"expected": "2026-11-24"},
        ["24 November 2026", "Nov 24, 2026", "24.11.2026", "2026/11/24", "November 24th, 2026"],
    ),
    (PRIMES, ["2, 3, 5, 7", "{7, 5, 3, 2}", "2, 3, 5 and 7"]),
    (COLOURS, ["green, red, blue", "Red; Green; Blue", "red and blue and green"]),
    ({"expected": "São Paulo"}, ["Sao Paulo", "São Paulo, Brazil", "The city is São Paulo."]),
]
WRONG: list[tuple[dict[str, Any], list[str]]] = [
    (CITY, ["A", "A or B", "B or C", "B) Sydney", "Sydney", "not B", "Canberra or Sydney", "None", "Brisbane", "BC"]),
    (LETTER, ["D", "A", "C or D", "not C", "Cat", "all of them"]),
    (
        {"expected": 12},
        [
            "13",
            "1.2",
            "120",
            "-12",
            "12 or 13",
            "between 10 and 12",
            "12 thousand",
            "112",
            "not 12",
            "12 to 15",
            "x = 12 + 1",
        ],
    ),
    ({"expected": 1234.5}, ["12345", "1234", "1,2345", "1.234", "1235", "1234.5 million"]),
    ({"expected": 0.5}, ["5", "2", "1/3", "5%", "-0.5", "0.05"]),
    ({"expected": "3.5 km"}, ["3.5 m", "35 km", "3.5 kg", "3.5 miles", "3500 km"]),
    ({"expected": "2026-11-24"}, ["24 October 2026", "2025-11-24", "24.12.2026", "November 2026"]),
    (PRIMES, ["2, 3, 5", "2, 3, 5, 7, 11", "1, 2, 3, 5, 7", "2357"]),
    (COLOURS, ["red, blue", "red, blue, yellow", "red, blue, green, black"]),
    ({"expected": "São Paulo"}, ["Rio", "Paulo", "not São Paulo", "São Paulo or Rio"]),
    ({"expected": "yes"}, ["no"]),
]


#: Sixty of each, written when the scorers had been mended by others, and first read after that: two were mistaken.
LATER_RIGHT: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"choices": ["Only I", "Only II", "Both I and II", "Neither I nor II"], "expected": "D"},
        ["D", "(d)", "D) Neither I nor II", "Neither I nor II", "**D**", "Answer is D", "It's D."],
    ),
    (
        {"choices": ["1789", "1799", "1804", "1815"], "expected": "A"},
        ["A", "1789", "A. 1789", "In 1789", "The year was 1789", "the first answer"],
    ),
    ({"expected": "1.8 kg"}, ["1.8 kg", "1800 g", "1,800 grams", "1,8 kg", "1.8 kilograms", "1 kg 800 g"]),
    ({"expected": "25 °C"}, ["25 °C", "25°C", "25 degrees Celsius", "25", "25^\\circ\\text{C}", "25 Grad Celsius"]),
    (
        {"expected": 365},
        [
            "365",
            "three hundred sixty-five",
            "three hundred and sixty-five",
            "365 days",
            "365,0",
            "dreihundertfünfundsechzig",
        ],
    ),
    (
        {"expected": "3.2 billion"},
        ["3.2 billion", "3,200,000,000", "3200 million", "3.2 × 10^9", "3,2 Milliarden", "3.2e9"],
    ),
    (
        {"expected": "14 July 1789"},
        ["14 July 1789", "July 14, 1789", "1789-07-14", "14 juillet 1789", "14.7.1789", "el 14 de julio de 1789"],
    ),
    (
        {"expected": "Wolfgang Amadeus Mozart"},
        [
            "Wolfgang Amadeus Mozart",
            "Wolfgang Amadeus Mozart.",
            "The composer is Wolfgang Amadeus Mozart",
            "*Wolfgang Amadeus Mozart*",
        ],
    ),
    ({"scorer": "set", "expected": ["A", "C"]}, ["A, C", "C and A", "A and C", "[A, C]", "A\nC"]),
    ({"expected": ["true"]}, ["True", "Yes", "true.", "Correct"]),
    ({"expected": 60, "tolerance": 1}, ["60", "60.5", "about 60", "59.2"]),
]
LATER_WRONG: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"choices": ["Only I", "Only II", "Both I and II", "Neither I nor II"], "expected": "D"},
        ["A", "C", "Both I and II", "Only II", "A or D", "C) Both I and II", "Only I"],
    ),
    (
        {"choices": ["1789", "1799", "1804", "1815"], "expected": "A"},
        ["B", "1799", "1815", "not 1789", "1789 or 1799", "the last answer"],
    ),
    ({"expected": "1.8 kg"}, ["18 kg", "1.8 g", "1.8 lb", "180 g", "1 kg 80 g", "0.18 kg"]),
    ({"expected": "25 °C"}, ["25 °F", "-25 °C", "2.5 °C", "25 K", "52 °C", "between 20 and 25 °C"]),
    ({"expected": 365}, ["356", "366", "three hundred fifty-six", "36.5", "365 thousand", "more than 365"]),
    ({"expected": "3.2 billion"}, ["3.2 million", "3.2", "32 billion", "3.2 × 10^6", "320 million", "2.3 billion"]),
    (
        {"expected": "14 July 1789"},
        ["14 July 1798", "4 July 1789", "14 June 1789", "July 1789", "1789", "14 août 1789"],
    ),
    (
        {"expected": "Wolfgang Amadeus Mozart"},
        ["Leopold Mozart", "Joseph Haydn", "Mozart's father", "not Wolfgang Amadeus Mozart"],
    ),
    ({"scorer": "set", "expected": ["A", "C"]}, ["A", "A, B", "A, B, C", "B and C", "none"]),
    ({"expected": ["true"]}, ["False", "No", "not true", "maybe"]),
    ({"expected": 60, "tolerance": 1}, ["62", "58.9", "6", "60 or 70"]),
]


#: Four times sixty and more of each, written on 26 November 2026, each set when the scorers had been mended by those
#: before. Read first, 9 of 146, 6 of 130, 3 of 124 and, of the last, 1 of 126 were mistaken. "denied" was written on
#: the day after against what the scorers then took for right (39 of 150 mistaken): it is no measure of what is left;
#: nor is "kinds", of units, times of day, days without a year and lists, written on 28 November (101 mistaken then).
FORMS = json.loads(Path(__file__).with_name("forms.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("rights", "wrongs"),
    [(RIGHT, WRONG), (LATER_RIGHT, LATER_WRONG), *((one["right"], one["wrong"]) for one in FORMS.values())],
)
def test_of_sixty_forms_of_right_and_sixty_of_wrong_answers_two_at_most_are_mistaken(
    rights: list[tuple[dict[str, Any], list[str]]], wrongs: list[tuple[dict[str, Any], list[str]]]
) -> None:
    mistaken, counted = list[str](), 0
    for forms, right in ((rights, True), (wrongs, False)):
        for check, answers in forms:
            task = Question.model_validate({"id": "1", "question": "Which?", **check})
            for answer in answers:
                counted += 1
                if task.right(task.said(f"Let us see.\nANSWER: {answer}")) is not right:
                    mistaken.append(f"{answer!r} for {task.wanted}")
    assert counted >= 120 and len(mistaken) <= 2, (counted, mistaken)


#: What was told equal and is not, and the other way, before number 9.
NINTH: list[tuple[dict[str, Any], list[str], list[str]]] = [
    ({"expected": "x^2"}, ["x²", "x**2", "$x^{2}$", "y = x^2"], ["x/2", "x-2", "x*2", "2x"]),
    ({"expected": "x - 2"}, ["x-2", "x − 2"], ["x/2", "x+2", "2 - x"]),
    ({"expected": r"\frac{x+1}{2}"}, ["(x+1)/2", r"\dfrac{x + 1}{2}"], ["x + 1/2", r"\frac{x-1}{2}"]),
    ({"expected": "a/b"}, ["a / b", r"\frac{a}{b}"], ["b", "b/a", "a-b"]),
    ({"expected": r"2\pi"}, ["2π", "2 pi", "2*pi"], ["2", "π"]),
    ({"expected": "&&"}, ["`&&`"], ["||", "&"]),
    ({"expected": "Cl-"}, ["Cl⁻", "$Cl^-$", r"\ce{Cl-}"], ["Cl", "Cl+"]),
    ({"expected": "(0, 1]"}, ["(0,1]", "$(0, 1]$", "0, 1"], ["[0, 1]", "(0, 1)", "[0,1)"]),
    ({"expected": r"[0, \infty)"}, ["[0, ∞)", "[0, infinity)"], ["(0, ∞)", "[0, -∞)"]),
    ({"choices": ["(0,1)", "[0,1]", "(0,1]"], "expected": "B"}, ["[0, 1]", "B"], ["(0,1]", "(0, 1)"]),
    ({"choices": ["x^2", "x/2", "x-2"], "expected": "B"}, ["x/2"], ["x^2", "x-2"]),
    ({"expected": 3.4}, ["3,4"], ["(3,4)"]),
    ({"expected": 1234}, ["(1,234)"], []),
    ({"expected": "3:2"}, ["3 to 2"], ["3.2", "2:3"]),
    ({"expected": "$5"}, ["5 US dollars"], ["5%", "5 Canadian dollars", "CAD 5"]),
    ({"expected": "90°"}, ["90 degrees"], ["90%"]),
    ({"expected": "5 percentage points"}, ["5 pp"], ["5%"]),
    ({"expected": "12‰"}, ["1.2%", "12 per mille", "0.012"], ["12%"]),
    ({"expected": "100 °C"}, ["212 °F", "373.15 K", "100"], ["100 °F", "100 K", "212 °C"]),
    ({"expected": "300 K"}, ["300", "26.85 °C", "300 kelvin"], ["300,000", "300 °C"]),
    ({"expected": "0 °C", "tolerance": 0.5}, ["32 °F", "273 K"], ["31 °F"]),
    ({"expected": "£3.40"}, ["3.40 pounds", "340p"], ["$3.40", "340 pounds"]),
    ({"expected": "60 km/h"}, ["60 km h⁻¹", "60 km·h^{-1}"], ["60 m s⁻¹"]),
    ({"expected": "20 µg"}, ["20 mcg", "20 ug"], ["20 mg"]),
    ({"expected": "14:30"}, ["14:30:00"], ["14:30:15"]),
    ({"expected": 1_500_000}, ["15 lakh", "Rs. 15,00,000", "1٬500٬000"], ["15 crore"]),
    ({"expected": "北京"}, ["是北京"], ["不是北京"]),
    ({"expected": "no"}, ["nope", "não", "いいえ"], ["no answer", "no answer is possible", "yep"]),
]


@pytest.mark.parametrize(("check", "rights", "wrongs"), NINTH, ids=lambda one: str(one)[:40])
def test_operators_brackets_and_scales_are_read(check: dict[str, Any], rights: list[str], wrongs: list[str]) -> None:
    task = Question.model_validate({"id": "1", "question": "Which?", **check})
    for answer in [*rights, *wrongs]:
        said = task.said(f"Let us see.\nANSWER: {answer}")
        assert (answer, task.right(said)) == (answer, answer in rights)


def test_answers_that_differ_in_operators_or_brackets_are_no_votes_for_one() -> None:
    assert (
        majority(["x-2", "x/2", "x / 2"]) == majority(["(0,1]", "[0,1]", "[0, 1]"]) == majority(["&&", "||", "||"]) == 1
    )


MORE: list[tuple[dict[str, Any], str, bool | None]] = [
    ({"scorer": "includes", "expected": "Canberra"}, "I think that it must be Canberra, not Sydney.", True),
    ({"scorer": "includes", "expected": "bra"}, "I think that it must be Canberra.", False),
    ({"scorer": "match", "expected": ["Paris", "Lutetia"]}, "the capital is called Lutetia.", True),
    ({"scorer": "match", "expected": "Paris"}, "Paris is not it, Rome", False),
    ({"expected": ["Oslo", "Christiania"]}, "Christiania", True),
    ({"expected": 9.81, "tolerance": 0.02}, "9.8 m/s", True),
    ({"expected": "10 km", "tolerance": 0.5}, "10400 m", True),
    ({"expected": "10 km", "tolerance": 0.5}, "10600 m", False),
    ({"scorer": "judge", "expected": "Fix it."}, "Mend it.", None),
]


@pytest.mark.parametrize(("check", "answer", "right"), MORE)
def test_a_scorer_checks_as_its_name_says(check: dict[str, Any], answer: str, right: bool | None) -> None:
    assert Question.model_validate({"id": "1", "question": "?", **check}).right(answer) is right


def test_answers_that_choose_the_same_are_votes_for_one() -> None:
    task = Question.model_validate({"id": "1", "question": "Which?", **CITY})
    assert majority(["Sydney", "B", "B) Canberra", "Canberra"], task.form) == 1
    assert "\nB) Canberra\n" in task.asked
    days = Question(id="1", question="Days of March?", choices=("28", "30", "31"), expected="C")
    assert all(days.right(said) for said in ("thirty-one", "31 days", "C", "31")) and not days.right("thirty")


FILES = {
    "ours.jsonl": '{"question": "2 + 2?", "expected": 4}\n',
    "others.jsonl": '{"prompt": "2 + 2?", "answer": "4", "source": "a book"}\n',
    "list.json": '[{"input": "2 + 2?", "target": "4"}]',
    "chat.json": '[{"input": [{"role": "user", "content": "2 + 2?"}], "target": "4", "id": 7}]',
    "helm.json": json.dumps(
        {
            "request_states": [
                {
                    "instance": {
                        "input": {"text": "2 + 2?"},
                        "id": "id1",
                        "references": [
                            {"output": {"text": "4"}, "tags": ["correct"]},
                            {"output": {"text": "5"}, "tags": []},
                        ],
                    }
                }
            ]
        }
    ),
    "eval.jsonl": json.dumps(
        {"doc_id": 1, "doc": {"problem": "2+2"}, "target": "4", "arguments": {"gen_args_0": {"arg_0": "2 + 2?"}}}
    ),
    "table.csv": "question,answer\n2 + 2?,4\n",
    "tabs.tsv": "question\tanswer\n2 + 2?\t4\n",
    "sheet.csv": "Question;Expected;Tolerance\r\n2 + 2?;4;0\r\n",
    "worked.jsonl": json.dumps({"question": "2 + 2?", "answer": "Two and two, and no more, not 5.\n#### 4"}),
}


@pytest.mark.parametrize("name", FILES)
def test_tasks_are_read_from_the_files_that_people_have(name: str) -> None:
    (task,) = read_tasks(FILES[name], name)
    assert task.question == "2 + 2?" and task.wanted == ("4",) and task.right("four") and not task.right("5")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", '{"question": "Capital?", "choices": ["Sydney", "Canberra"], "answer": 1}'),
        ("a.csv", "question,A,B,answer\nCapital?,Sydney,Canberra,B\n"),
        ("a.jsonl", '{"input": "Capital?", "choices": ["Sydney", "Canberra"], "target": "B"}'),
        ("a.jsonl", '{"doc": {"question": "Capital?", "choices": {"text": ["Sydney", "Canberra"]}}, "target": 1}'),
    ],
)
def test_choices_are_read_with_the_right_one_by_letter_number_or_column(name: str, text: str) -> None:
    (task,) = read_tasks(text, name)
    assert task.choices == ("Sydney", "Canberra") and task.right("B") and not task.right("Sydney")


@pytest.mark.parametrize("yes", [True, False])
def test_true_and_false_are_yes_and_no_and_not_1_and_0(yes: bool) -> None:
    (task,) = read_tasks(json.dumps({"question": "Is it so?", "answer": yes}), "a.jsonl")
    assert [answer for answer in ("yes", "no", "True", "false", "1", "0") if task.right(answer)] == (
        ["yes", "True"] if yes else ["no", "false"]
    )


@pytest.mark.parametrize(
    ("choices", "given", "right"),
    [
        (["2", "4", "6"], {"target": "4"}, "B"),
        (["2", "4", "6"], {"target": 1}, "B"),
        (["2", "4", "6"], {"expected": "6"}, "C"),
        (["-1", "1"], {"answer": "1"}, "B"),
    ],
)
def test_a_figure_that_is_a_choice_is_that_choice_and_no_number_of_one(
    choices: list[str], given: dict[str, Any], right: str
) -> None:
    (task,) = read_tasks(json.dumps({"question": "?", "choices": choices, **given}), "a.jsonl")
    assert [letter for letter in "ABCDE" if task.right(letter)] == [right]


@pytest.mark.parametrize("expected", ["C", "z", 1, 0, ["A", "E"], "not y"])
def test_what_is_expected_and_no_choice_is_told_before_anybody_is_asked(expected: Any) -> None:
    row = json.dumps({"question": "?", "choices": ["x", "y"], "expected": expected})
    with pytest.raises(ConfigurationError, match=r"^a.jsonl, line 1: .* is no choice; write its letter or its words$"):
        read_tasks(row, "a.jsonl")


@pytest.mark.parametrize("sign", ["\u2028", "\u2029", "\x85"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_line_of_a_file_ends_where_its_text_does_not(sign: str, end: str) -> None:
    rows = (json.dumps({"question": f"a{sign}{at}?", "expected": at}, ensure_ascii=False) for at in (1, 2))
    assert [one.question for one in read_tasks(end.join(rows), "a.jsonl")] == [f"a{sign}1?", f"a{sign}2?"]


def test_too_many_rows_and_rows_that_are_none_are_one_line() -> None:
    with pytest.raises(ConfigurationError, match=r"^big.jsonl holds more than 10,000 tasks; split it$"):
        read_tasks('{"question": "?"}\n' * 1_000_000, "big.jsonl")
    with pytest.raises(ConfigurationError, match=r"^a.csv, line 2: question"):
        read_tasks("input,target\n,4\n", "a.csv")


PROGRAMS = {
    "```python\ndef add(a, b):\n    return a + b\n```": True,
    "First:\n```\ndef add(a, b):\n    return a\n```\nBetter:\n```py\ndef add(a, b):\n    return b + a\n```": True,
    "```python\ndef add(a, b):\n    return a - b\n```": False,
    "```python\nimport os\nos._exit(0)\n```": False,
    "```python\nimport sys\nsys.exit(0)\n```": False,
    "I would use the sign +.": False,
}


@pytest.mark.box
@pytest.mark.parametrize("answer", PROGRAMS)
async def test_a_program_is_right_where_its_tests_pass_in_a_box(answer: str) -> None:
    task = Question(id="1", question="Write add.", expected="assert add(1, 2) == 3", scorer="code")
    assert task.asked == "Write add." and not task.marked
    assert await graded(task, answer, unasked, 1) == (PROGRAMS[answer], "")


async def unasked(request: Request) -> Reply:
    raise AssertionError(request)


async def test_a_judge_knows_nobody_is_asked_in_both_orders_and_named_where_it_fails() -> None:
    task = Question(id="1", question="What first?", expected="Mend the release.", scorer="judge")
    asked: list[str] = []

    def judge(says: Any) -> Any:
        async def generate(request: Request) -> Reply:
            asked.append(request.messages[0].content)
            return Reply(says(asked[-1]), "m", "p", Usage(1, 1))

        return generate

    assert await graded(task, "Repair it.", judge(lambda _: '{"differs": "", "same": true}'), 1) == (True, "")
    first, second = asked
    assert first.index("Mend the") > first.index("Repair") and second.index("Mend the") < second.index("Repair")

    def of_the_first(text: str) -> str:
        """Prefers a place: the same only where the reference stands first."""
        same = text.index("Mend the") < text.index("Repair")
        return json.dumps({"differs": "" if same else "Much.", "same": same})

    assert await graded(task, "Repair it.", judge(of_the_first), 1) == (False, "")
    right, why = await graded(task, "Repair it.", judge(lambda _: "I cannot judge that."), 1)
    assert right is False and why.startswith("StructuredOutputError: ")


@pytest.mark.parametrize("part", ["1", "1 1/2 ", "½", "a ", "- 1 ", "$", "\\frac{", "vierund", "９"])
@pytest.mark.parametrize(
    "check", [{"expected": 12}, {"expected": "2024-01-02"}, {"scorer": "set", "expected": ["b"]}, CITY]
)
def test_any_text_is_scored_and_a_hostile_one_is_not_right(part: str, check: dict[str, Any]) -> None:
    task = Question.model_validate({"id": "1", "question": "?", **check})
    assert task.right(task.said(f"ANSWER: {part * 2_000}")) is False
