"""One seat's answer in one round: patience with rate limits, deadlines, and what becomes of an answer that is none.

Specification, section 5 "Failure Handling"; FC1, FC3, FC5, FC6 and FC11.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from fire_circle.answers import (
    BaselineAnswer,
    DiscussionAnswer,
    SynthesisAnswer,
    is_refusal,
    salvage,
    valid_unicode,
)
from fire_circle.config import EvaluationConfig
from fire_circle.contradiction import contradiction
from fire_circle.results import (
    Abstention,
    FailureKind,
    FailureRecord,
    NeutrosophicEvaluation,
    PatternClaim,
    Spend,
)
from fire_circle.seats import Seat
from fire_circle.shown import Shown
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
from llm_runtime.structured import ask, parse
from llm_runtime.wrappers.metered import Meter

Outcome: TypeAlias = NeutrosophicEvaluation | Abstention | FailureRecord
Verify: TypeAlias = Callable[[PatternClaim], PatternClaim]

_BACKOFF_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Asked:
    """One question on its way.

    Args:
        request: what is asked.
        seat: who is asked.
        number: the round, 1-based.
        shown: what the seat has before it, to recognise an answer that is copied out of it.
        settings: timeouts and patience.
        salvaging: whether labelled numbers may be read out of prose (RESILIENT).
        deadline: the round's end, in the event loop's time; ``None`` where there is no round.
        chair: the seat speaks for the absent.
        verify: looks up a pattern's quote.
    """

    request: Request
    seat: Seat
    number: int
    shown: Shown
    settings: EvaluationConfig
    salvaging: bool
    deadline: float | None = None
    chair: bool = False
    verify: Verify = lambda claim: claim


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
    doubted: list[BaselineAnswer] = []
    outcome = await _caught(generate, asked, doubted)
    return _stood_by(outcome, doubted[0], asked) if doubted else outcome


async def _caught(generate: Generate, asked: Asked, doubted: list[BaselineAnswer]) -> Outcome:
    try:
        async with asyncio.timeout_at(asked.deadline):
            return await _ask(generate, asked, doubted)
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


async def _ask(generate: Generate, asked: Asked, doubted: list[BaselineAnswer]) -> Outcome:
    """Ask; an answer that seems to deny its own score goes to ``doubted``, and is asked about once."""
    form = {"discussion": DiscussionAnswer, "synthesis": SynthesisAnswer}.get(
        asked.request.label.phase, BaselineAnswer
    )

    def check(answer: BaselineAnswer) -> str | None:
        if complaint := asked.shown.complaint(answer):
            return complaint
        if doubted or not (denial := _denial(answer)):
            return None
        doubted.append(answer)
        return f"{denial}; if you mean the score, give it again"

    try:
        structured = await ask(generate, asked.request, form, check=check, shown=asked.shown.objects)
    except StructuredOutputError as fault:
        return _unusable(asked, form, fault)
    if structured.value.abstains:
        reasoning = structured.value.reasoning
        return Abstention(model=asked.seat.name, seat=asked.seat.index, round=asked.number, reasoning=reasoning)
    return _evaluation(
        asked,
        structured.value,
        repaired=structured.repaired,
        reasked=structured.attempts > 1,
        answered_by=structured.reply.model,
    )


def _stood_by(outcome: Outcome, first: BaselineAnswer, asked: Asked) -> Outcome:
    """Return what a seat stands by that was asked whether it meant its score: without another score, the first."""
    if not isinstance(outcome, NeutrosophicEvaluation):
        return _evaluation(asked, first, reasked=True, doubt=_denial(first) or "")
    given_up = first.falsehood if (first.falsehood or 0) > outcome.falsehood else None
    doubt = contradiction(outcome.falsehood, outcome.reasoning) or ""
    return outcome.model_copy(update={"doubt": doubt, "given_up": given_up})


def _evaluation(asked: Asked, answer: BaselineAnswer, **rest: Any) -> NeutrosophicEvaluation:
    observed = answer.patterns_observed if isinstance(answer, DiscussionAnswer) else []
    confirmed = answer.consensus_patterns if isinstance(answer, SynthesisAnswer) else []
    truth, indeterminacy, falsehood = answer.scores
    return NeutrosophicEvaluation(
        truth=truth,
        indeterminacy=indeterminacy,
        falsehood=falsehood,
        reasoning=answer.reasoning,
        model=asked.seat.name,
        seat=asked.seat.index,
        round_number=asked.number,
        patterns_observed=tuple(asked.verify(PatternClaim(description=p.pattern, quote=p.quote)) for p in observed),
        consensus_patterns=tuple(
            asked.verify(PatternClaim(description=p.pattern, quote=p.quote)) for p in confirmed
        ),
        empty_chair=asked.chair,
        **rest,
    )


def _unusable(asked: Asked, form: type[BaselineAnswer], fault: StructuredOutputError) -> Outcome:
    """Return why the last answer is no evaluation, or the scores that can still be read from it."""
    try:
        parse(fault.raw, form)
    except StructuredOutputError:
        pass
    else:
        return _failed(asked, "echo", str(fault))
    if is_refusal(fault.raw):
        return _failed(asked, "refusal", f"the model declined: {_line(fault.raw)}")
    saved = salvage(fault.raw) if asked.salvaging else None
    if saved is None:
        return _failed(asked, "unparseable", f"{fault}: {_line(fault.raw)}")
    if asked.shown.copied(fault.raw, saved):
        return _failed(asked, "echo", f"the numbers stand in what the judge was shown: {_line(fault.raw)}")
    return NeutrosophicEvaluation(
        truth=saved.truth,
        indeterminacy=saved.indeterminacy,
        falsehood=saved.falsehood,
        reasoning=fault.raw,
        model=asked.seat.name,
        seat=asked.seat.index,
        round_number=asked.number,
        empty_chair=asked.chair,
        salvaged=True,
        reasked=True,
        doubt=contradiction(saved.falsehood, fault.raw) or "",
    )


def _denial(answer: BaselineAnswer) -> str | None:
    return None if answer.falsehood is None else contradiction(answer.falsehood, answer.reasoning)


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


class Metered:
    """A model function that adds up what its calls took, and whose answers are valid Unicode."""

    def __init__(self, generate: Generate) -> None:
        self._meter = Meter(generate)

    @property
    def spend(self) -> Spend:
        """What the calls so far took."""
        meter = self._meter
        return Spend(
            calls=meter.calls,
            input_tokens=meter.input_tokens,
            output_tokens=meter.output_tokens,
            cost=meter.known_cost,
            unpriced_calls=meter.unpriced_calls,
        )

    async def __call__(self, request: Request) -> Reply:
        reply = await self._meter(request)
        text = valid_unicode(reply.text)
        return reply if text is reply.text else dataclasses.replace(reply, text=text)


def _failed(asked: Asked, kind: FailureKind, detail: str) -> FailureRecord:
    return FailureRecord(
        model=asked.seat.name,
        seat=asked.seat.index,
        round=asked.number,
        kind=kind,
        detail=_line(detail, 500),
        empty_chair=asked.chair,
    )


def _line(text: str, most: int = 200) -> str:
    return " ".join(text[: most * 2].split())[:most]
