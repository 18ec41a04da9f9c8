"""Ignition: the interview, the proposal, the auditor's challenge, and four kinds of approval."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

from pydantic import Field, ValidationError

from criticality import events as e
from criticality.asking import Note, Question, sieved
from criticality.canonical import pretty
from criticality.human import Reply
from criticality.labels import InterviewPhase
from criticality.language import Language
from criticality.machine.states import AwaitingApproval, Interviewing, Synthesizing
from criticality.questions import INTERVIEW, OPTIONAL, catalogue
from criticality.spec.spec import Spec, fault_line
from criticality.spec.types import TypeFault
from criticality.work import Work
from llm_runtime.errors import LlmRuntimeError
from llm_runtime.events import Event
from llm_runtime.http.shape import mapping
from llm_runtime.models import Model

_CLASSES = ("core", "foundational", "bolt-on")
_DELEGATION = "I can go on with detailed questions, or proceed with sensible defaults. Continue, or delegate?"


class Feature(Model):
    """A feature, its class, and the question that confirms it."""

    name: str = Field(min_length=2, max_length=120)
    classification: Literal["core", "foundational", "bolt-on"]
    question: str = Field(max_length=600)


class Features(Model):
    """The architect's list."""

    features: list[Feature] = Field(max_length=12)


class Proposal(Model):
    """The architect's specification, not yet validated, and what it decided for the person."""

    spec: dict[str, Any]
    decisions: list[str] = Field(default=[], max_length=30)


class Challenges(Model):
    """The auditor's objections."""

    challenges: list[str] = Field(max_length=20)


async def interview(work: Work) -> Event | None:
    """Put the next question and take its answer."""
    phase = work.at(Interviewing)
    if phase.open_questions:
        return await _follow_up(work, phase)
    answered = {answer.question for answer in work.artifacts.answers}
    for place in INTERVIEW:
        for question in (q for q in catalogue() if q.phase == place):
            if question.id not in answered:
                return await _put(work, question.id, question.text, place)
        if place == "architecture":
            if not work.artifacts.features_asked:
                return await _features(work)
            for feature in work.artifacts.features:
                name = f"feature:{feature['name']}"
                if name not in answered:
                    options = (feature["classification"], *(c for c in _CLASSES if c != feature["classification"]))
                    return await _put(work, name, feature["question"], place, options)
        if place in OPTIONAL and f"delegation:{place}" not in answered:
            return await _offer(work, place)
    return None


async def _put(
    work: Work, question: str, text: str, phase: InterviewPhase, options: tuple[str, ...] = (), *, last: bool = False
) -> Event | None:
    reply = await work.human.answer(question, text, options)
    if reply is None:
        return None
    if reply.corrects:
        return _correction(work, reply)
    if reply.delegate:
        return e.Delegated(after=phase, notes=reply.text)
    return e.QuestionAnswered(question=question, text=text, answer=reply.text.strip(), interview_phase=phase, last=last)


def _correction(work: Work, reply: Reply) -> Event:
    """Take an earlier answer anew: the question that was put is put again."""
    old = next((answer for answer in work.artifacts.answers if answer.question == reply.corrects), None)
    if old is None:
        raise LlmRuntimeError(f"no question {reply.corrects} was answered yet; correct one that was")
    return e.QuestionAnswered(
        question=old.question, text=old.text, answer=reply.text.strip(), interview_phase=old.phase, corrects=True
    )


async def _offer(work: Work, place: InterviewPhase) -> Event | None:
    """Ask at the end of an optional phase: go on, delegate, or delegate with notes."""
    options = ("continue", "delegate", "delegate with notes")
    event = await _put(work, f"delegation:{place}", _DELEGATION, place, options, last=place == "designPrefs")
    if isinstance(event, e.QuestionAnswered) and not event.corrects:
        return event.model_copy(update={"answer": ""})
    return event


async def _follow_up(work: Work, phase: Interviewing) -> Event | None:
    """Put the questions of a revision or an audit; the last answer leads back to the architect."""
    name = phase.open_questions[0]
    last = len(phase.open_questions) == 1
    kind, _, rest = name.partition(":")
    if kind == "revision":
        text, feedback = "What should change?", work.artifacts.feedback.get(int(rest), "")
        return e.QuestionAnswered(
            question=name, text=text, answer=feedback, interview_phase=phase.interview_phase, last=last
        )
    text, options = f"How should this be resolved: {rest}?", tuple[str, ...]()
    for contradiction in work.artifacts.contradictions:
        if kind == "contradiction" and contradiction["id"] == rest:
            text = f"The audit found a contradiction ({rest}): {contradiction['analysis']}"
            options = tuple(contradiction.get("suggested_resolution_options", ()))
    return await _put(work, name, text, phase.interview_phase, options, last=last)


async def _features(work: Work) -> Event:
    question = work.ask.question("ignition", "features", "architect", work.round)
    features = await work.ask.data(question, Features, "features", answers=question.fence("INTERVIEW", _answers(work)))
    return e.FeaturesProposed(features=[f.model_dump() for f in features.features])


def _answers(work: Work) -> str:
    """Return the interview so far, one answer under each question."""
    lines = [f"Q: {a.text}\nA: {a.answer}" for a in work.artifacts.answers if a.answer]
    if work.artifacts.delegated_after:
        notes = f" Notes: {work.artifacts.notes}" if work.artifacts.notes else ""
        lines.append(f"(The rest is left to the architect.{notes})")
    return "\n\n".join(lines)


async def synthesize(work: Work) -> Event:
    """Propose, or challenge what was proposed."""
    phase = work.at(Synthesizing)
    if not phase.proposed:
        return await _propose(work, phase)
    if phase.challenges >= work.config.orchestrator.max_challenges:
        return e.SynthesisCompleted(version=phase.proposal_version)
    question = work.ask.question("ignition", "challenge", "auditor", work.round, phase.challenges + 1)
    proposal = question.fence("PROPOSAL", pretty(work.artifacts.proposals[phase.proposal_version].spec))
    given = _given(work, question) | {"proposal": proposal}
    challenge = await work.ask.data(question, Challenges, "challenge", None, **given)
    if not challenge.challenges:
        return e.SynthesisCompleted(version=phase.proposal_version)
    return e.AuditorChallenged(version=phase.proposal_version, challenges=challenge.challenges)


async def _propose(work: Work, phase: Synthesizing) -> Event:
    version = max(work.artifacts.proposals, default=0) + 1
    question = work.ask.question("ignition", f"proposal-{version}", "architect", work.round)
    previous = work.artifacts.proposals.get(version - 1)
    parts: list[str] = []
    if previous is not None:
        parts.append(question.fence("PREVIOUS PROPOSAL: keep what is not objected to", pretty(previous.spec)))
    if work.artifacts.challenges:
        parts.append(question.fence("OBJECTIONS", "\n".join(f"- {c}" for c in work.artifacts.challenges)))
    if found := work.artifacts.contradictions if phase.challenges == 0 else ():
        live = [c["analysis"] for c in found if c["severity"] == "critical" and not c.get("dismissed")]
        parts.append(question.fence("CONTRADICTIONS FOUND", "\n".join(f"- {c}" for c in live)))
    fault, sieve = partial(_spec_fault, work.language), partial(_with_sound_claims, work.language)
    given = _given(work, question) | {"previous": "\n\n".join(parts)}
    draft, notes = await work.ask.parts(question, Proposal, "proposal", fault, sieve, **given)
    spec = Spec.model_validate(draft.spec)
    decisions = [*draft.decisions, *(f"{name} is left out: {why}" for name, why in notes)]
    told = [{"text": text} for text in decisions]
    return e.ProposalMade(version=version, spec=spec.model_dump(mode="json"), decisions=told)


def _given(work: Work, question: Question) -> dict[str, str]:
    decisions = question.fence("DECISIONS", work.ledger.for_prompt())
    return {"answers": question.fence("INTERVIEW", _answers(work)), "decisions": decisions}


def _with_sound_claims(language: Language, proposal: Proposal) -> tuple[Proposal, list[Note]]:
    """Leave out claims that have a fault of their own, where any is without one."""
    told = mapping(proposal.spec.get("claims"))
    alone = {name: _claiming(proposal, {name: claim}) for name, claim in told.items()}
    sound, notes = sieved(told, lambda name: _spec_fault(language, alone[name]), "the claim {}".format)
    return (_claiming(proposal, {name: told[name] for name in sound}), notes) if sound else (proposal, [])


def _claiming(proposal: Proposal, claims: dict[str, Any]) -> Proposal:
    return proposal.model_copy(update={"spec": {**proposal.spec, "claims": claims}})


def _spec_fault(language: Language, proposal: Proposal) -> str | None:
    try:
        spec = Spec.model_validate(proposal.spec)
    except (ValidationError, TypeFault) as fault:
        return f"spec: {fault_line(fault)}"
    fault = language.spec_fault(spec)
    return f"spec: {fault}" if fault else None


async def approval(work: Work) -> Event | None:
    """Ask the person to decide on the proposal."""
    version = work.at(AwaitingApproval).proposal_version
    verdict = await work.human.approve(Spec.model_validate(work.artifacts.proposals[version].spec), version)
    if verdict is None:
        return None
    match verdict.decision:
        case "approve" | "conditional":
            conditions = verdict.conditions if verdict.decision == "conditional" else []
            return e.Approved(version=version, conditions=conditions)
        case "revise":
            return e.Revised(version=version, feedback=verdict.feedback, interview_phase=verdict.phase)
        case "reject":
            return e.Rejected(version=version)
