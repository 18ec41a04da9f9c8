"""The synthesis of a council of records: an answer in one voice, or the findings of a review."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import TypeAlias

from crucible.asking import Asker, Say, Wanted, kept, part
from crucible.behaviour import BEHAVIOUR, first_records
from crucible.deliberation import Deliberation
from crucible.material import Dossier
from crucible.records import SEVERITIES, Review, RevisionRecord, Synthesis, Use, Weighed
from crucible.refusing import LONGEST, refuses, runs
from crucible.rendering import review_text
from crucible.reviewing import CheckedFinding, checked, diff_places
from crucible.schemas import TriageOutput
from llm_runtime.http.shape import mapping
from llm_runtime.messages import CallLabel, Message
from llm_runtime.objects import FoundObject, Objects
from llm_runtime.prompts import Fence, load_prompt
from llm_runtime.structured import AnswerObjects

_LABEL, _WEIGHED = CallLabel("crucible", "synthesis"), CallLabel("crucible", "weigh")
_OBJECT = re.compile(r"\s*(?:```\w*\s*)?\{")
#: Of its runs of characters, the share from which on an answer is the instruction; shorter ones may be words of it.
_REPEATED, _LEAST = 0.8, 40
Models = Sequence[Sequence[str]]
Concluded: TypeAlias = tuple[str, Mapping[str, object]]
"""What a council came to: as prose for a person, and what of it are data, by the fields of its result."""


async def answered(
    asker: Asker, models: Models, triage: TriageOutput, deliberation: Deliberation, query: str
) -> Concluded:
    """Write the answer."""

    order = runs(f"{triage.synthesis_instruction}\n{deliberation.briefing.form}")
    held, complained, reader = (_shown(deliberation), False, _reader(asker, models, query, deliberation.briefing.seed))

    def rests(written: Synthesis) -> bool:
        return _named(deliberation, [id for claim in written.claims for id in claim.rests_on], written.objections)

    def own(written: Synthesis) -> str | None:
        nonlocal complained
        said = runs(written.answer)
        if not first_records() and len(said) >= _LEAST and len(said & order) >= _REPEATED * len(said):
            return "`answer` repeats the instruction; write what the user is to read"
        if not BEHAVIOUR.before(8) and _is_record(written.answer):
            return "`answer` is a record; write what the user is to read"
        if not complained and not rests(written) and refuses(written.answer, held):
            complained = not BEHAVIOUR.before(8)
            return "`answer` says nothing of what is held, and `claims` names no claim on which it rests"
        return None

    async def weigh(written: Synthesis) -> str | None:
        return await reader(written.answer) if len(written.answer) <= LONGEST and not rests(written) else None

    async def parts(say: Say) -> Synthesis:
        said = await say(part("answer"))
        found = _object(said)
        # Who writes the record all the same, with a field that cannot be read, has answered in it.
        if found and _wraps(found.data):
            said = str(mapping(found.data)["answer"] or said)
        return kept(Synthesis(answer=said), own)

    compose = _composer("synthesis_answer", triage, deliberation, query, formed(deliberation.briefing.form))
    wanted = Wanted(Synthesis, compose, own, parts, lambda text: Synthesis(answer=text), held, weigh)
    got = await asker.record(wanted, _LABEL, models)
    return got.answer, {"claims": got.claims}


def _object(answer: str) -> FoundObject | None:
    return next(iter(Objects(answer)), None) if _OBJECT.match(answer) else None


def _wraps(data: object) -> bool:
    return not BEHAVIOUR.before(17) and {"answer", "claims"} <= mapping(data).keys()


def _is_record(answer: str) -> bool:
    """Tell a record of a council, or half an object, from an object that a user asked for."""
    found = _object(answer)
    if found is None or not found.data or _wraps(found.data):
        return found is not None
    shapes = (RevisionRecord, TriageOutput, *((Synthesis,) if "claims" in found.data else ()))
    return any(True for shape in shapes for _ in AnswerObjects(answer, shape, repair=False))


async def reviewed(
    asker: Asker, models: Models, triage: TriageOutput, deliberation: Deliberation, query: str
) -> Concluded:
    """Write the findings of a review. There is no way to get them in parts: a gate stands on them.

    Raises:
        StructuredOutputError: no model gave findings that can be read.
    """
    complained, material = first_records(), deliberation.briefing.material
    compose = _composer("synthesis_review", triage, deliberation, query, "")
    told = "\n".join([_shown(deliberation), *(turn.content for turn in compose(None))])

    def said(review: Review) -> str:
        """Return what it says, where that names nothing that is attached or was objected; else nothing."""
        words = " ".join([review.looked_at, *(one.title for one in review.findings)])
        named = _about(words, checked(review.findings, material), material)
        return "" if named or _named(deliberation, (), review.objections) else words

    def quoting(review: Review) -> str | None:
        """Complain once of words that stand nowhere; a finding that has none may still be right."""
        nonlocal complained
        marked = () if complained else checked(review.findings, material)
        bare = [one.found.title for one in marked if not one.verified]
        complained = True
        if (words := said(review)) and refuses(words, told):
            name = "say what of that was looked at" if BEHAVIOUR.before(8) else "name in `looked_at` what was read"
            return f"nothing in it is about what is attached; {name}, and what was found"
        return f"`quote` is no line at that place: {bare[0][:200]}; copy it from the attachment" if bare else None

    async def weigh(review: Review) -> str | None:
        words = said(review)
        return await _reader(asker, models, query, deliberation.briefing.seed)(words) if words else None

    got = await asker.record(Wanted(Review, compose, quoting, shown=_shown(deliberation), weigh=weigh), _LABEL, models)
    got.findings.sort(key=lambda one: SEVERITIES.index(one.severity))
    return review_text(got), {"findings": got.findings, "looked_at": got.looked_at}


def _reader(asker: Asker, models: Models, query: str, seed: int) -> Callable[[str], Awaitable[str | None]]:
    """Return who is asked whether a text that rests on nothing answers: meaning decides that, not words."""
    attempts = count(1, 2)

    async def weigh(text: str) -> str | None:
        if BEHAVIOUR.before(8):
            return None
        fence = Fence(seed, _WEIGHED)
        texts = {"query": fence("QUESTION", query), "text": fence("TEXT", text)}
        task = load_prompt("crucible", "weigh").render(**texts)
        wanted = Wanted(Weighed, lambda bound: [Message("user", task)], shown="\n".join(texts.values()))
        read = await asker.record(wanted, replace(_WEIGHED, attempt=next(attempts)), models[-1:])
        return None if read.answers else "nothing in it answers the question"

    return weigh


def formed(form: str) -> str:
    """Return the order to write in a form; nothing where there is none."""
    return load_prompt("crucible", "form").render(form=form) if form else ""


def _about(said: str, marked: Sequence[CheckedFinding], material: Dossier) -> bool:
    names = {one.name for one in material} | {at[0] for one in material for at in diff_places(one.text) if at}
    return any(one.places for one in marked) or any(name in said for name in names)


def _named(deliberation: Deliberation, rests: Sequence[str], uses: Sequence[Use]) -> bool:
    """Tell whether ids are those of claims that were held, or of objections that were raised."""
    raised = {one.id for one in deliberation.objections}
    held = any(id.strip(" .[]").upper() in deliberation.claims for id in rests)
    return held or any(one.does.strip() and one.objection.strip().upper() in raised for one in uses)


def _shown(deliberation: Deliberation) -> str:
    return "\n\n".join(one.text for one in deliberation.held.values())


def _composer(
    kind: str, triage: TriageOutput, deliberation: Deliberation, query: str, form: str
) -> Callable[[int | None], Sequence[Message]]:
    briefing, objections = deliberation.briefing, deliberation.objections
    fence = Fence(briefing.seed, _LABEL)

    def compose(bound: int | None) -> list[Message]:
        material = load_prompt("crucible", "synthesis").render(
            user_query=fence("ORIGINAL USER QUERY", query),
            reconstructed_query=fence("RECONSTRUCTED QUERY", briefing.query),
            positions=deliberation.forms.standing(_LABEL, bound),
            objections=fence("OBJECTIONS", objections.shown(objections, bound, replies=True) or "(none)"),
            instruction=fence("SYNTHESIS INSTRUCTION", triage.synthesis_instruction),
        )
        parts = (material, form, load_prompt("crucible", kind).render())
        return [briefing.turn("", "\n\n".join(part for part in parts if part))]

    return compose
