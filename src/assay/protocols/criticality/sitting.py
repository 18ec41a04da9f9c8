"""What holds for one sitting of a build and not for the run: who answers this time, and how far it goes."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING

from llm_runtime.structs import Struct

if TYPE_CHECKING:
    from criticality.artifacts import Artifacts
    from criticality.human import Answers, AnswersFile, Human


class Sitting(Struct):
    """One stretch of work on a project.

    Args:
        human: makes whoever answers, of what the project holds; the seat ``person`` where left out.
        until: the phase to stop before; empty goes on to the end.
    """

    human: Callable[[Artifacts], Human] | None = None
    until: str = ""


SITTING: ContextVar[Sitting | None] = ContextVar("SITTING", default=None)
"""Set by a command before it starts or resumes the run: the run's log must not keep what holds only once."""


def rest_of(answers: Answers, artifacts: Artifacts) -> AnswersFile:
    """Return answers from a file without those that the project has used up already."""
    from criticality import AnswersFile

    return AnswersFile(
        answers,
        approvals_given=len(artifacts.approvals) + len(artifacts.feedback),
        contradictions_answered=sum(
            answer.question.startswith(("contradiction:", "resolution:")) for answer in artifacts.answers
        ),
        resolutions_given=sum(block.type == "criticality.human_responded" for block in artifacts.blocks),
    )
