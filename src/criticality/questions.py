"""The questions of the interview, in order, and which part of it each belongs to."""

from __future__ import annotations

from functools import cache

from criticality.labels import InterviewPhase
from llm_runtime.models import Model
from llm_runtime.toml import own_table

INTERVIEW: tuple[InterviewPhase, ...] = ("discovery", "architecture", "constraints", "designPrefs")
#: What may be left to the architect.
OPTIONAL: tuple[InterviewPhase, ...] = ("constraints", "designPrefs")


class _Question(Model):
    """A question that every interview puts."""

    id: str
    phase: InterviewPhase
    text: str


@cache
def catalogue() -> tuple[_Question, ...]:
    """Return the questions, in order."""
    return tuple(_Question.model_validate(q) for q in own_table("criticality", "questions.toml")["questions"])


def left_after(phase: InterviewPhase) -> frozenset[str]:
    """Return the questions that are left to the architect when it decides what comes after a part."""
    parts = [one for one in INTERVIEW[INTERVIEW.index(phase) + 1 :] if one in OPTIONAL]
    return frozenset(question.id for question in catalogue() if question.phase in parts)
