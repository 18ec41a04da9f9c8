"""Tasks: questions with, optionally, what tells a right answer; and how an answer is read and checked."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

from pydantic import Field, FiniteFloat, model_validator

from assay.protocols.compare import BEHAVIOUR
from assay.protocols.compare.scoring import LETTERS, UNITS, WORDS, bare, choice, plain, quantity, same_set, says, words
from llm_runtime.models import Model
from llm_runtime.prompts import load_prompt
from llm_runtime.rewording import reworded

MOST_TASKS = 10_000
_LONGEST_ANSWER = 20_000
# Nothing in it is tried twice: an answer may be any text.
_LAST = re.compile(r"^(?:[^\S\n]|[*_#>`])*+ANSWER[\s*_`]*+:\s*+(.*)", re.IGNORECASE | re.MULTILINE)
_BOXED = re.compile(r"\\boxed\{((?:[^{}]|\{[^{}]*\})*)\}")
_FEW_WORDS = 3
#: Characters; an open question's longer answer is one, however it begins.
_SHORT = 300
#: What begins like this gives no answer, in whatever form it comes.
_REFUSES = re.compile(WORDS["refusing"]["begins"], re.IGNORECASE | re.VERBOSE)


def same(answer: str) -> str:
    """Return the form in which two answers to any question are counted as one."""
    if (number := quantity(answer)) is None:
        return words(answer)
    return f"{number.value * number.each:.12g} {number.kind if number.kind in UNITS else ''}".strip()


class Question(Model):
    """One line of the questions.

    Args:
        id: unique; its line number where left out.
        question: what is asked.
        expected: the right answer, or several of which any is: a number with its unit, a date, words, yes or no. With
            ``choices`` the letter of the right one, or its words.
        regex: what a right answer matches somewhere, in place of ``expected``; Python's syntax.
        tolerance: how far a number may be off, at least 0, in the unit of what is expected.
        choices: answers to choose from; they are shown with letters.
        scorer: how it is checked, where what is expected does not tell: ``"set"`` wants all that is expected in any
            order, ``"includes"`` that it stands anywhere in the text, ``"match"`` at its end, ``"code"`` that the
            tests which are expected pass on the program, ``"judge"`` that a reader finds that both say the same.
    """

    id: str = Field(min_length=1, max_length=100)
    question: str = Field(min_length=1, max_length=100_000)
    expected: str | bool | int | FiniteFloat | tuple[str | bool | int | FiniteFloat, ...] | None = None
    regex: str | None = Field(default=None, max_length=2000)
    tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    choices: tuple[str, ...] = Field(default=(), max_length=len(LETTERS), exclude_if=lambda held: not held)
    scorer: Literal["", "set", "includes", "match", "code", "judge"] = Field(
        default="", exclude_if=lambda held: not held
    )

    @model_validator(mode="after")
    def _one_check(self) -> Question:
        if self.expected is not None and self.regex is not None:
            raise ValueError("give expected or regex, not both")
        if self.tolerance and not any(map(quantity, self.wanted)):
            raise ValueError("a tolerance needs a number as expected")
        if (self.scorer or self.choices) and not self.wanted:
            raise ValueError("a scorer and choices need what is expected")
        if self.regex is not None:
            with reworded("the regex cannot be read", re.error, kind=ValueError):
                re.compile(self.regex)
        return self

    @property
    def wanted(self) -> tuple[str, ...]:
        """What is expected, as texts."""
        held = self.expected if isinstance(self.expected, tuple) else (self.expected,)
        return tuple(str(one) for one in held if one is not None)

    @property
    def checkable(self) -> bool:
        """Whether a right answer can be recognised."""
        return self.expected is not None or self.regex is not None

    @property
    def marked(self) -> bool:
        """Whether its answer is a last line, and votes can be counted."""
        return self.checkable and self.scorer not in ("includes", "code", "judge")

    @property
    def shown(self) -> str:
        """The question, with the choices by their letters."""
        listed = (f"{letter}) {one}" for letter, one in zip(LETTERS, self.choices, strict=False))
        return "\n".join([self.question, *(["", *listed] if self.choices else [])])

    @property
    def asked(self) -> str:
        """The question as every method gets it: one with a last line asks for one that can be read."""
        return load_prompt(__package__ or "", "answer").render(question=self.shown) if self.marked else self.shown

    def said(self, text: str) -> str:
        """Return what a text says that the answer is; empty where it refuses, or does not say: that is no vote."""
        if BEHAVIOUR.before(4):
            return final_answer(text)
        answer = _marked(text, lines=self.scorer == "set") if self.marked else text
        refuses = _REFUSES.match(answer.replace("’", "'")) and (self.marked or len(text) < _SHORT)
        # "Cannot be determined" is an answer where it is one of those that are asked for.
        return "" if refuses and not (self.right(answer) or choice(answer, self.choices)) else answer

    def right(self, answer: str) -> bool | None:
        """Whether a final answer is right; ``None`` where nothing tells, or who does has to be asked."""
        if self.regex is not None:
            return re.search(self.regex, answer[:_LONGEST_ANSWER]) is not None
        if not self.wanted or self.scorer in ("code", "judge"):
            return None
        if self.scorer == "set":
            return same_set(answer, self.wanted, self.tolerance)
        if self.scorer in ("includes", "match"):
            said = f" {plain(answer[-_LONGEST_ANSWER:])} "
            ends = self.scorer == "match"
            return any(said.endswith(f" {one} ") if ends else f" {one} " in said for one in map(plain, self.wanted))
        said = self.form(answer, str)
        return any(said == self.form(one, str) or says(answer, one, self.tolerance) for one in self.wanted)

    def form(self, answer: str, read: Callable[[str], str] = same) -> str:
        """Return the form in which two of its answers are counted as one: the letter that is chosen, else as read."""
        letters = self.choices or (len(self.wanted) == 1 and re.fullmatch("[A-Ja-j]", self.wanted[0]))
        return (choice(answer, self.choices) if letters else "") or read(answer)


def _marked(text: str, *, lines: bool) -> str:
    """Return what the last ``ANSWER:`` or box says; all of an answer where that is a few words."""
    text = text[-_LONGEST_ANSWER:]
    if lines and (last := [*_LAST.finditer(text)]):
        return text[last[-1].start(1) :]
    marked = _LAST.findall(text) or _BOXED.findall(text)
    return _bare(marked[-1]) if marked else _bare(text) if len(text.split()) <= _FEW_WORDS else ""


def final_answer(text: str) -> str:
    """Return the last ``ANSWER:`` line of an answer; its last line where it has none."""
    text = text[-_LONGEST_ANSWER:]
    return _bare((_LAST.findall(text) or [line for line in text.splitlines() if line.strip()] or [""])[-1])


def _bare(line: str) -> str:
    """Return an answer without what dresses it."""
    boxed = _BOXED.search(line)
    return bare(boxed[1] if boxed else line)


def majority(answers: Iterable[str], form: Callable[[str], str] = same) -> int:
    """Return the index of the first of the answers that most agree with; a tie goes to the earlier one.

    A blank is no vote.

    Raises:
        ValueError: there are none.
    """
    forms = [form(answer) for answer in answers]
    if not forms:
        raise ValueError("no answers to count")
    votes = [form for form in forms if form] or forms
    return forms.index(max(votes, key=lambda form: (votes.count(form), -votes.index(form))))
