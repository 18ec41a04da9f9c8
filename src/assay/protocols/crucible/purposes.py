"""What a council is for: each purpose a word for triage, a form for the response, and a question of its own."""

from __future__ import annotations

from functools import cache
from typing import Literal, TypeAlias

from llm_runtime.prompts import load_prompt
from llm_runtime.structs import Struct

Purpose: TypeAlias = Literal["answer", "review", "decision", "plan", "incident", "spec"]
WORDS = {
    "answer": "an answer, as the question wants it",
    "review": "findings with their places",
    "decision": "a decision with what would reverse it",
    "plan": "steps with gates",
    "incident": "what happened, why, and what prevents it",
    "spec": "what a specification leaves open or contradicts",
}


class _Form(Struct):
    """The words of a purpose.

    Args:
        question: asked where the user wrote none.
        triage: what triage is told.
        response: how the response is to be written.
    """

    question: str = "What do the attachments show, and what follows from it?"
    triage: str = ""
    response: str = ""


@cache
def form_of(purpose: Purpose) -> _Form:
    """Return the words of a purpose; a plain answer has none."""
    if purpose == "answer":
        return _Form()
    parts = load_prompt("assay.protocols.crucible", f"as_{purpose}").text.split("\n---\n")
    question, triage, response = (part.strip() for part in parts)
    return _Form(question, triage, response)
