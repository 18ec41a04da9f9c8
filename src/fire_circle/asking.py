"""One seat's answer in one round: patience with rate limits, deadlines, and what becomes of an answer that is none.

Specification, section 5 "Failure Handling"; FC1, FC3, FC5, FC6 and FC11.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, TypeAlias

from fire_circle.answers import (
    ACCUSES,
    FORMS,
    OLD_FORMS,
    STATUSES,
    VIOLATES,
    BaselineAnswer,
    BoundAnswer,
    BoundDiscussion,
    DiscussionAnswer,
    SynthesisAnswer,
    WireClaim,
    disagreement,
    is_refusal,
    salvage,
    valid_unicode,
)
from fire_circle.behaviour import BEHAVIOUR
from fire_circle.config import EvaluationConfig
from fire_circle.echoes import dictates, echoes
from fire_circle.results import (
    Abstention,
    FailureKind,
    FailureRecord,
    HistoryClaim,
    NeutrosophicEvaluation,
    PatternClaim,
    Spend,
)
from fire_circle.seats import Seat
from llm_runtime.errors import (
    CallError,
    CallTimeout,
    LlmRuntimeError,
    RateLimited,
    ReplyFiltered,
    StructuredOutputError,
)
from llm_runtime.messages import Generate, Reply, Request
from llm_runtime.silence import Silence
from llm_runtime.structs import Struct
from llm_runtime.structured import AnswerObjects, ask
from llm_runtime.wrappers.metered import Meter

Outcome: TypeAlias = NeutrosophicEvaluation | Abstention | FailureRecord
Verify: TypeAlias = Callable[[PatternClaim], PatternClaim]

_BACKOFF_SECONDS = 0.5


class Asked(Struct):
    """One question on its way.

    Args:
        request: what is asked.
        seat: who is asked.
        number: the round, 1-based.
        id: what an answer must name, and nobody else can know; empty in logs of before behaviour 4.
        texts: all that the seat has before it and others wrote, to recognise what is copied out of it.
        settings: timeouts and patience.
        salvaging: whether labelled numbers may be read out of prose (RESILIENT).
        deadline: the round's end, in the event loop's time; ``None`` where there is no round.
        chair: the seat speaks for the absent.
        verify: looks up a pattern's quote.
    """

    request: Request
    seat: Seat
    number: int
    id: str
    texts: tuple[str, ...]
    settings: EvaluationConfig
    salvaging: bool
    deadline: float | None = None
    chair: bool = False
    verify: Verify = lambda claim: claim


@dataclass(slots=True)
class _Heard:
    """What a seat said, attempt by attempt; only objects that name the request are its own."""

    asked: Asked
    form: type[BoundAnswer]
    answers: list[BoundAnswer] = field(default_factory=list[BoundAnswer])
    fault: str = ""
    copied: bool = False
    unread: str = ""

    def read(self, text: str) -> tuple[BoundAnswer, bool]:
        """Read the one own answer in a text.

        Raises:
            StructuredOutputError: there is none, or several that differ, or one that contradicts itself or only
                copies what stood before it.
        """
        objects = AnswerObjects(text, self.form)
        found = [(value, repaired, spelling) for spelling, value, repaired, _ in objects]
        own = {one.core: (one, repaired) for one, repaired, _ in found if one.request == self.asked.id}
        whole = [one for one in own.values() if not echoes(one[0], self.asked.texts)]
        self.copied = bool(own) and not whole
        self.answers += [value for value, _ in whole]
        rest = reduce(lambda rest, one: rest.replace(one[2], ""), found, text)
        if self.asked.id in rest and ACCUSES.search(rest):
            self.unread = "it said violates as well, in what is no answer of the form"
        other = f'no object in it has "request": "{self.asked.id}"' if found else objects.fault
        self.fault = self._fault([value for value, _ in whole], other or "the answer holds no JSON object")
        if self.fault:
            raise StructuredOutputError(self.fault, text)
        return whole[0]

    def _fault(self, own: Sequence[BoundAnswer], other: str) -> str:
        if self.copied:
            return "the reasoning is copied from the prompt under judgement; write your own"
        if len(own) > 1:
            return f"it holds {len(own)} answers that differ; give the one that you mean"
        return (disagreement(own[0]) or "") if own else other

    def gravest(self, answers: Sequence[BoundAnswer]) -> BoundAnswer | None:
        """Return the answer with the highest F, of those that are no abstention."""
        return max((one for one in answers if not one.abstains), key=lambda one: one.scores[2], default=None)


async def ask_seat(generate: Generate, asked: Asked) -> tuple[Outcome, Spend]:
    """Ask one seat once, and again if the answer is unreadable or contradicts itself; return outcome and spend.

    Whatever goes wrong with the seat comes back as a record; what concerns the whole run (a budget, a deadline, the
    store, cancellation) is raised.
    """
    counted = Metered(generate)
    outcome = await _outcome_of(_patient(counted, asked), asked)
    if isinstance(outcome, NeutrosophicEvaluation):
        outcome = outcome.model_copy(update={"spend": counted.spend})
    return outcome, counted.spend


async def _outcome_of(generate: Generate, asked: Asked) -> Outcome:
    heard = _Heard(asked, FORMS.get(asked.request.label.phase, BoundAnswer))
    outcome = await _caught(generate, asked, heard)
    gravest = heard.gravest(heard.answers)
    if gravest is None:
        return outcome
    if not isinstance(outcome, NeutrosophicEvaluation):
        # What was said and not made clear counts at its gravest; an alarm is not taken back by falling silent.
        if isinstance(outcome, Abstention) and not gravest.alarms:
            return outcome
        return _evaluation(asked, gravest, reasked=True, doubt=heard.fault or "it fell silent when asked again")
    given_up = gravest.scores[2] if gravest.scores[2] > outcome.falsehood else None
    word = any(VIOLATES in (one.verdict, one.conclusion) for one in heard.answers)
    doubt = "it said violates first, and another word when asked again" if word else heard.unread
    return outcome.model_copy(update={"given_up": given_up, "doubt": doubt * (outcome.verdict != VIOLATES)})


async def _caught(generate: Generate, asked: Asked, heard: _Heard) -> Outcome:
    try:
        async with asyncio.timeout_at(asked.deadline):
            return await _ask(generate, asked, heard)
    except TimeoutError:
        return _failed(asked, "timeout", "no answer before the round's deadline")
    except CallTimeout as fault:
        return _failed(asked, "timeout", str(fault))
    except RateLimited as fault:
        return _failed(asked, "rate_limited", str(fault))
    except ReplyFiltered as fault:
        return _failed(asked, "refusal", str(fault))
    except CallError as fault:
        return _failed(asked, "api_error", str(fault))
    except LlmRuntimeError:
        raise
    except Exception as fault:
        return _failed(asked, "unexpected", f"{type(fault).__name__}: {fault}")


async def _ask(generate: Generate, asked: Asked, heard: _Heard) -> Outcome:
    old = OLD_FORMS.get(asked.request.label.phase, BaselineAnswer)
    try:
        if BEHAVIOUR.before(4):
            structured = await ask(generate, asked.request, old, shown="\n\n".join(asked.texts))
        else:
            structured = await ask(generate, asked.request, heard.form, read=heard.read)
    except StructuredOutputError as fault:
        return _unusable(asked, heard, fault)
    if structured.value.abstains:
        reasoning = structured.value.reasoning
        return Abstention(model=asked.seat.name, seat=asked.seat.index, round=asked.number, reasoning=reasoning)
    repaired, reasked = structured.repaired, structured.attempts > 1
    return _evaluation(asked, structured.value, repaired=repaired, reasked=reasked, answered_by=structured.reply.model)


def _evaluation(asked: Asked, answer: BaselineAnswer, **rest: Any) -> NeutrosophicEvaluation:
    observed = answer.patterns_observed if isinstance(answer, DiscussionAnswer) else []
    confirmed = answer.consensus_patterns if isinstance(answer, SynthesisAnswer) else []
    claims = answer.earlier_claims if isinstance(answer, BoundDiscussion) else []
    said = asked.verify
    return NeutrosophicEvaluation(
        **dict(zip(("truth", "indeterminacy", "falsehood"), answer.scores, strict=True)),
        verdict=(answer.verdict or "") if isinstance(answer, BoundAnswer) else "",
        reasoning=answer.reasoning,
        model=asked.seat.name,
        seat=asked.seat.index,
        round_number=asked.number,
        patterns_observed=tuple(said(PatternClaim(description=p.pattern, quote=p.quote)) for p in observed),
        consensus_patterns=tuple(said(PatternClaim(description=p.pattern, quote=p.quote)) for p in confirmed),
        history=tuple(told for claim in claims if (told := _claim(said, claim)) is not None),
        empty_chair=asked.chair,
        **rest,
    )


def _claim(verify: Verify, claim: WireClaim) -> HistoryClaim | None:
    found = verify(PatternClaim(description="", quote=claim.quote))
    status = STATUSES[claim.records_say]
    return found.span and HistoryClaim(span=found.span, text=found.quote, claimed_turn=None, status=status)


def _unusable(asked: Asked, heard: _Heard, fault: StructuredOutputError) -> Outcome:
    """Return why the last answer is no evaluation, or the scores that can still be read from it."""
    if heard.copied:
        return _failed(asked, "echo", str(fault))
    if is_refusal(fault.raw):
        return _failed(asked, "refusal", f"the model declined: {_line(fault.raw)}")
    saved = salvage(fault.raw, asked.id) if asked.salvaging and not heard.answers else None
    if saved is None:
        return _failed(asked, "unparseable", f"{fault}: {_line(fault.raw)}")
    if dictates(asked.texts, saved):
        return _failed(asked, "echo", f"the numbers stand in what the judge was shown: {_line(fault.raw)}")
    return _evaluation(asked, saved, salvaged=True, reasked=True)


def _patient(generate: Generate, asked: Asked) -> Generate:
    """Limit each call's time to its first words, and repeat it after HTTP 429 while the round lasts.

    The time begins when the runtime lets the call go: a seat that waits for a free slot is not silent.
    """

    async def call(request: Request) -> Reply:
        waits = 0
        while True:
            silence = Silence(asked.settings.timeout_seconds)
            try:
                async with silence:
                    return await generate(request)
            except TimeoutError:
                within = f" within {asked.settings.timeout_seconds:g} s" if silence.expired else ""
                raise CallTimeout(f"no answer{within}", model=request.model) from None
            except RateLimited as fault:
                wait = _BACKOFF_SECONDS * 2**waits if fault.retry_after is None else fault.retry_after
                if waits == asked.settings.rate_limit_retries or not _fits(wait, asked.deadline):
                    raise
                waits += 1
                await asyncio.sleep(wait)

    return call


def _fits(wait: float, deadline: float | None) -> bool:
    return deadline is None or asyncio.get_running_loop().time() + wait < deadline


class Metered(Meter):
    """A model function that adds up what its calls took, and whose answers are valid Unicode."""

    @property
    def spend(self) -> Spend:
        """What the calls so far took."""
        counted = ("calls", "input_tokens", "output_tokens", "unpriced_calls")
        return Spend(cost=self.known_cost, **{name: getattr(self, name) for name in counted})

    async def __call__(self, request: Request) -> Reply:
        reply = await super().__call__(request)
        text = valid_unicode(reply.text)
        return reply if text is reply.text else dataclasses.replace(reply, text=text)


def _failed(asked: Asked, kind: FailureKind, detail: str) -> FailureRecord:
    seat, number, said, chair = asked.seat, asked.number, _line(detail, 500), asked.chair
    return FailureRecord(model=seat.name, seat=seat.index, round=number, kind=kind, detail=said, empty_chair=chair)


def _line(text: str, most: int = 200) -> str:
    return " ".join(text[: most * 2].split())[:most]
