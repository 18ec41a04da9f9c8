"""Tasks: questions with, optionally, what tells a right answer; and how an answer is read and checked."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from assay.protocols.compare import BEHAVIOUR
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import first_fault
from llm_runtime.prompts import load_prompt

MOST_TASKS = 10_000
_LONGEST_ANSWER = 20_000
# Nothing in it is tried twice: an answer may be any text.
_LAST = re.compile(r"^(?:[^\S\n]|[*_#>`])*+ANSWER[\s*_`]*+:\s*+(.*)", re.IGNORECASE | re.MULTILINE)
_NUMBER = re.compile(r"[-+−]?\d[\d,' ]*(?:\.\d+)?(?:[eE][-+]?\d+)?")
_BOXED = re.compile(r"\\boxed\{([^{}]*)\}")
_CHOICE = re.compile(r"^\(?[A-Za-z][).:]\s+(?=\S)")
_UNIT = re.compile(r"[$€£]?\s*([-+−]?\d[\d,' ]*(?:\.\d+)?)\s*[^\W\d_][^\d]{0,30}")
_FRACTION = re.compile(r"([-+−]?\d{1,15})\s*/\s*(\d{1,15})")
_FEW_WORDS = 3
#: Characters; an open question's longer answer is one, however it begins.
_SHORT = 300
#: What begins like this gives no answer, in whatever form it comes.
_REFUSES = re.compile(
    r"\W*(i('m| am) (\w+ )?(sorry|afraid|unable|not able)|i ((can|could|do|will|would)( ?not|n't)|won't|refuse|"
    r"(must )?decline|have no)|(we|one) can('t|not)|sorry|apologies|as an ai|unable to|no (comment|answer)|"
    r"(it )?depends|can(not|'t)|not sure|(es )?tut mir leid|lo siento|(je suis )?désolée?|抱歉|对不起)",
    re.IGNORECASE,
)
_EDGES = " \t\r\n.,;:!?*_`\"'()[]$"


class Question(BaseModel):
    """One line of the questions.

    Args:
        id: unique; its line number where left out.
        question: what is asked.
        expected: the right answer; a number is compared as a number, a text without case, edges and double blanks.
        regex: what a right answer matches somewhere, in place of ``expected``; Python's syntax.
        tolerance: how far a number may be off, at least 0.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1, max_length=100)
    question: str = Field(min_length=1, max_length=100_000)
    expected: str | int | float | None = None
    regex: str | None = Field(default=None, max_length=2000)
    tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _one_check(self) -> Question:
        if self.expected is not None and self.regex is not None:
            raise ValueError("give expected or regex, not both")
        if self.tolerance and _number(str(self.expected)) is None:
            raise ValueError("a tolerance needs a number as expected")
        if self.regex is not None:
            try:
                re.compile(self.regex)
            except re.error as fault:
                raise ValueError(f"the regex cannot be read: {fault}") from None
        return self

    @property
    def checkable(self) -> bool:
        """Whether a right answer can be recognised."""
        return self.expected is not None or self.regex is not None

    @property
    def asked(self) -> str:
        """The question as every method gets it: a checkable one asks for a last line that can be read."""
        return (
            load_prompt("assay.protocols.compare", "answer").render(question=self.question)
            if self.checkable
            else self.question
        )

    def said(self, text: str) -> str:
        """Return what a text says that the answer is; empty where it refuses, or does not say: that is no vote."""
        if BEHAVIOUR.before(4):
            return final_answer(text)
        answer = _marked(text) if self.checkable else text
        refuses = _REFUSES.match(answer.replace("’", "'")) and (self.checkable or len(text) < _SHORT)
        return "" if refuses else answer

    def right(self, answer: str) -> bool | None:
        """Whether a final answer is right; ``None`` where nothing tells."""
        if self.regex is not None:
            return re.search(self.regex, answer[:_LONGEST_ANSWER]) is not None
        if self.expected is None:
            return None
        wanted = _number(str(self.expected))
        if wanted is not None:
            number = _number(answer)
            if number is None and (unit := _UNIT.fullmatch(answer.strip(_EDGES))):
                number = _number(unit[1])
            return number is not None and abs(number - wanted) <= self.tolerance + 1e-9 * abs(wanted)
        return same(answer) == same(str(self.expected))


def _marked(text: str) -> str:
    """Return the last ``ANSWER:`` line or box of an answer, or all of it where that is a few words."""
    text = text[-_LONGEST_ANSWER:]
    marked = _LAST.findall(text) or _BOXED.findall(text)
    return _bare(marked[-1]) if marked else _bare(text) if len(text.split()) <= _FEW_WORDS else ""


def final_answer(text: str) -> str:
    """Return the last ``ANSWER:`` line of an answer; its last line where it has none."""
    text = text[-_LONGEST_ANSWER:]
    matches = _LAST.findall(text)
    if matches:
        return _bare(matches[-1])
    lines = [line for line in text.splitlines() if line.strip()]
    return _bare(lines[-1]) if lines else ""


def _bare(line: str) -> str:
    """Return an answer without what dresses it: a box, the letter of a choice."""
    boxed = _BOXED.search(line)
    return _CHOICE.sub("", (boxed[1] if boxed else line).strip(_EDGES)).strip(_EDGES)


def same(answer: str) -> str:
    """Return the form in which two answers are counted as one."""
    number = _number(answer)
    if number is not None:
        return f"{number:.12g}"
    return " ".join(answer.casefold().strip(_EDGES).split())


def majority(answers: Iterable[str]) -> int:
    """Return the index of the first of the answers that most agree with; a tie goes to the earlier one.

    A blank is no vote.

    Raises:
        ValueError: there are none.
    """
    forms = [same(answer) for answer in answers]
    if not forms:
        raise ValueError("no answers to count")
    votes = [form for form in forms if form] or forms
    return forms.index(max(votes, key=lambda form: (votes.count(form), -votes.index(form))))


def _number(text: str) -> float | None:
    """Return the number that a whole text is, with its thousands apart or not."""
    bare = text.strip(_EDGES).removesuffix("%").strip()
    if (fraction := _FRACTION.fullmatch(bare)) and int(fraction[2]):
        return int(fraction[1].replace("−", "-")) / int(fraction[2])
    if not _NUMBER.fullmatch(bare):
        return None
    value = float(re.sub(r"[,' ]", "", bare.replace("−", "-")))
    return value if math.isfinite(value) else None


def read_tasks(text: str, name: str = "the tasks") -> list[Question]:
    """Tasks from JSONL.

    Raises:
        ConfigurationError: a line is no task, an id comes twice, or there are none; says which line.
    """
    tasks: list[Question] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        task = _task(line, f"{name}, line {number}", str(number))
        if task.id in seen:
            raise ConfigurationError(f"{name}, line {number}: the id {task.id!r} was used in line {seen[task.id]}")
        seen[task.id] = number
        tasks.append(task)
        if len(tasks) > MOST_TASKS:
            raise ConfigurationError(f"{name} holds more than {MOST_TASKS} tasks; split it")
    if not tasks:
        raise ConfigurationError(f'{name} holds no tasks; write one JSON object a line: {{"question": "..."}}')
    return tasks


def _task(line: str, where: str, number: str) -> Question:
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise ConfigurationError(f"{where} is not JSON") from None
    if not isinstance(data, dict):
        raise ConfigurationError(f"{where} is not a JSON object")
    try:
        return Question.model_validate({"id": number, **data})
    except ValidationError as fault:
        raise ConfigurationError(f"{where}: {first_fault(fault).replace('Value error, ', '', 1)}") from None
