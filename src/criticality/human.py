"""The person: questions that only they can answer, put through one seam, at a keyboard or from a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Annotated, Literal, Protocol, TypeVar

from pydantic import Field

from criticality.config import loaded
from criticality.labels import InterviewPhase
from criticality.machine.states import HumanQuery
from criticality.questions import catalogue, left_after
from criticality.spec.spec import Spec
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model

MAX_ANSWER = 20_000
_T = TypeVar("_T")


class Reply(Model):
    """An answer; ``delegate`` leaves the rest to the architect, with ``text`` as notes.

    Args:
        corrects: the id of an earlier question that this answers anew; the one put is then put again.
    """

    text: Annotated[str, Field(max_length=MAX_ANSWER)] = ""
    delegate: bool = False
    corrects: str = ""


class Approval(Model):
    """One of the four outcomes (CT19)."""

    decision: Literal["approve", "revise", "reject", "conditional"]
    feedback: str = ""
    phase: InterviewPhase = "discovery"
    conditions: list[str] = []


class Resolution(Model):
    """An option of a blocking query, and what the person adds."""

    option: str
    text: str = ""


class Human(Protocol):
    """Whoever answers. ``None`` says that nobody is there: the protocol stops and can be resumed."""

    async def answer(self, question: str, text: str, options: tuple[str, ...]) -> Reply | None:
        """Answer a question of the interview; ``options`` are those to choose from, none where words are wanted."""
        ...

    async def approve(self, proposal: Spec, version: int) -> Approval | None:
        """Decide what becomes of a proposal."""
        ...

    async def resolve(self, query: HumanQuery) -> Resolution | None:
        """Choose a way out of a block."""
        ...


class Nobody:
    """No person: every question waits."""

    async def answer(self, question: str, text: str, options: tuple[str, ...]) -> Reply | None:
        return None

    async def approve(self, proposal: Spec, version: int) -> Approval | None:
        return None

    async def resolve(self, query: HumanQuery) -> Resolution | None:
        return None


class Delegation(Model):
    """From where on the architect decides, and what it should know."""

    after: InterviewPhase
    notes: str = ""


class Answers(Model):
    """A file of answers.

    Args:
        answers: by question id.
        delegate: after which phase the rest is left to the architect, but for what ``answers`` has.
        features: class by feature name; what is not named keeps the architect's proposal.
        approvals: for the first proposal, the second, and so on; the last one holds for all further ones.
        contradictions: answers to what an audit asks, in the order in which it asks, by the same rule.
        resolutions: options for blocks, in their order; none left means that a person is needed.
    """

    answers: dict[str, str]
    delegate: Delegation | None = None
    features: dict[str, Literal["core", "foundational", "bolt-on"]] = {}
    approvals: list[Approval] = [Approval(decision="approve")]
    contradictions: list[str] = []
    resolutions: list[Resolution] = []


class AnswersFile:
    """A :class:`Human` that reads from a file. What it has used up follows from the journal, not from memory.

    Args:
        answers: the file's contents.
        approvals_given, contradictions_answered, resolutions_given: how many the journal holds already.
    """

    def __init__(
        self, answers: Answers, *, approvals_given: int = 0, contradictions_answered: int = 0,
        resolutions_given: int = 0,
    ) -> None:  # fmt: skip
        self._answers = answers
        self._approvals = _left_of(answers.approvals, approvals_given)
        self._contradictions = _left_of(answers.contradictions, contradictions_answered)
        self._resolutions = iter(answers.resolutions[resolutions_given:])

    async def answer(self, question: str, text: str, options: tuple[str, ...]) -> Reply | None:
        kind, colon, rest = question.partition(":")
        if colon and kind == "feature":
            return Reply(text=self._answers.features.get(rest, options[0]))
        if colon and kind in ("contradiction", "resolution"):
            told = next(self._contradictions, None)
            return None if told is None else Reply(text=told)
        delegated = self._answers.delegate
        if colon and kind == "delegation":
            if delegated is not None and delegated.after == rest:
                return Reply(text=delegated.notes, delegate=True)
            return Reply(text="continue")
        if (answer := self._answers.answers.get(question)) is not None:
            return Reply(text=answer)
        if delegated is not None and question in left_after(delegated.after):
            return Reply(text=delegated.notes, delegate=True)
        return None

    async def approve(self, proposal: Spec, version: int) -> Approval | None:
        return next(self._approvals, None)

    async def resolve(self, query: HumanQuery) -> Resolution | None:
        return next(self._resolutions, None)


def _left_of(given: Sequence[_T], used: int) -> Iterator[_T]:
    """Return what is left of answers; the last one holds for all further questions."""
    return chain(given[used:], repeat(given[-1])) if given else iter(())


def load_answers(path: Path) -> Answers:
    """Read a file of answers.

    Raises:
        ConfigurationError: it is not there, not TOML, or holds what is not known.
    """
    answers, known = loaded(Answers, path, str(path)), [question.id for question in catalogue()]
    if strange := next((name for name in answers.answers if name not in known), ""):
        raise ConfigurationError(f"{path}: no question is called {strange}; there are {', '.join(known)}")
    return answers
