"""What a run wants to know from a person: a brief written for people, and a place or a form for the answer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from markupsafe import Markup

from assay.report.story import Prose
from assay.web.answer_forms import AnswerField, Options, answer_fields, parsed, ways
from assay.web.brief import BriefPart, brief_of
from assay.web.templating import render


@dataclass(frozen=True)
class Ask:
    """An open question.

    Args:
        name: unique in its run.
        title: which step and seat asks.
        messages: role and content, oldest first.
        schema: the JSON schema that the answer must fit, or empty.
        where: a mailbox letter's file, or empty for a question of this server.
        seat: the role that whoever answers has, in words; or empty.
        does: what that role does, or empty.
    """

    name: str
    title: str
    messages: tuple[tuple[str, str], ...]
    schema: str = ""
    where: str = ""
    seat: str = ""
    does: str = ""

    @cached_property
    def brief(self) -> tuple[BriefPart, ...]:
        """What is asked and what to read for it, in order."""
        return brief_of(self.messages[-1][1], form=bool(self.fields)) if self.messages else ()

    @cached_property
    def options(self) -> Options:
        """The ways to answer, where the answer is one of a few texts; else nothing."""
        return ways(self._parsed)

    @cached_property
    def fields(self) -> tuple[AnswerField, ...]:
        """The fields of an answer that must be structured; nothing where it is a text, or no form can hold it."""
        return answer_fields(self._parsed)

    @cached_property
    def _parsed(self) -> dict[str, Any]:
        return parsed(self.schema)


def asking(run_id: str, asks: tuple[Ask, ...]) -> Markup:
    """Return the questions with a form each; an empty element where there are none."""
    return render("asks.html", run_id=run_id, asks=asks, prose=Prose)
