"""The synthesis of a council of records: an answer in one voice, or the findings of a review."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from crucible.asking import Asker, Say, Wanted, part
from crucible.behaviour import first_records
from crucible.deliberation import Deliberation
from crucible.objections import runs
from crucible.records import SEVERITIES, FindingRecord, Rest, Review, Synthesis
from crucible.rendering import review_text
from crucible.reviewing import checked
from crucible.schemas import TriageOutput
from llm_runtime.errors import StructuredOutputError
from llm_runtime.messages import CallLabel, Message
from llm_runtime.prompts import Fence, load_prompt

_LABEL = CallLabel("crucible", "synthesis")
#: Of its runs of characters, the share from which on an answer is the instruction; shorter ones may be words of it.
_REPEATED, _LEAST = 0.8, 40
Models = Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Conclusion:
    """What a council came to.

    Args:
        text: as prose for a person.
        claims: of an answer.
        findings: of a review, the gravest first; ``None`` of an answer.
        looked_at: of a review.
    """

    text: str
    claims: list[Rest] = field(default_factory=list[Rest])
    findings: list[FindingRecord] | None = None
    looked_at: str = ""


async def answered(
    asker: Asker, models: Models, triage: TriageOutput, deliberation: Deliberation, query: str
) -> _Conclusion:
    """Write the answer."""

    order = runs(f"{triage.synthesis_instruction}\n{deliberation.briefing.form}")

    def own(written: Synthesis) -> str | None:
        said = runs(written.answer)
        if first_records() or len(said) < _LEAST or len(said & order) < _REPEATED * len(said):
            return None
        return "`answer` repeats the instruction; write what the user is to read"

    async def parts(say: Say) -> Synthesis:
        written = Synthesis(answer=await say(part("answer")))
        if fault := own(written):
            raise StructuredOutputError(fault, written.answer)
        return written

    compose = _composer("synthesis_answer", triage, deliberation, query, formed(deliberation.briefing.form))
    wanted = Wanted(Synthesis, compose, own, parts, lambda text: Synthesis(answer=text), _shown(deliberation))
    got = await asker.record(wanted, _LABEL, models)
    return _Conclusion(got.answer, got.claims)


async def reviewed(
    asker: Asker, models: Models, triage: TriageOutput, deliberation: Deliberation, query: str
) -> _Conclusion:
    """Write the findings of a review. There is no way to get them in parts: a gate stands on them.

    Raises:
        StructuredOutputError: no model gave findings that can be read.
    """
    complained = first_records()

    def quoting(review: Review) -> str | None:
        """Complain once of words that stand nowhere; a finding that has none may still be right."""
        nonlocal complained
        marked = checked(review.findings, deliberation.briefing.material)
        bare = [] if complained else [one.found.title for one in marked if not one.verified]
        complained = True
        return f"`quote` is no line at that place: {bare[0][:200]}; copy it from the attachment" if bare else None

    compose = _composer("synthesis_review", triage, deliberation, query, "")
    wanted = Wanted(Review, compose, quoting, shown=_shown(deliberation))
    got = await asker.record(wanted, _LABEL, models)
    got.findings.sort(key=lambda one: SEVERITIES.index(one.severity))
    return _Conclusion(review_text(got), findings=got.findings, looked_at=got.looked_at)


def formed(form: str) -> str:
    """Return the order to write in a form; nothing where there is none."""
    return load_prompt("crucible", "form").render(form=form) if form else ""


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
