"""One layer of a prompt before a circle: baseline, discussion, synthesis, verdict (specification, "Data Flow").

::

    round 1    every seat alone                          baseline
    round 2    peers' judgements, the empty chair        discussion
    round 3    first judgements, patterns, the chair     synthesis
    round 4    LARGE circles that still disagree         synthesis
    verdict    highest F of all rounds and active seats, patterns with agreement, the chair's influence
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from fire_circle import events
from fire_circle.asking import Asked, Metered, Outcome, ask_seat
from fire_circle.baseline import JudgedLayer, baseline_request
from fire_circle.classification import claimed, classify_patterns_llm, pattern_types, with_types
from fire_circle.config import FailureMode, FireCircleConfig
from fire_circle.consensus import falsehoods, history_claims, stddev
from fire_circle.discussion import dialogue_request
from fire_circle.empty_chair import choose_chair
from fire_circle.guard import ask_guard, evaluation_of
from fire_circle.layers import LayerName
from fire_circle.quotes import verify
from fire_circle.results import (
    Abstention,
    EvaluationError,
    FailureRecord,
    FireCircleResult,
    NeutrosophicEvaluation,
    PatternClaim,
    PatternType,
    all_answered,
)
from fire_circle.rounds import RoundPlan, certain, converged, goes_on, most_rounds, phase_of
from fire_circle.seats import Seat
from fire_circle.transcript import Transcript
from llm_runtime.errors import CallError, StructuredOutputError
from llm_runtime.events import Emit
from llm_runtime.messages import Generate, Request
from llm_runtime.prompts import Prompt
from llm_runtime.silence import Silence
from llm_runtime.tasks import gather

Clock = Callable[[], float]


@dataclass(slots=True)
class LayerCircle:
    """The seats that judge one layer of a case; ``transcript`` hears all that is emitted."""

    subject: JudgedLayer
    config: FireCircleConfig
    generate: Generate
    emit: Emit
    clock: Clock
    suffix: str
    charge: Prompt
    transcript: Transcript
    chair: Seat | None = None

    @property
    def layer(self) -> LayerName:
        return self.subject.layer.name

    async def run(self) -> FireCircleResult:
        """Hold rounds until they agree or no more are allowed; raises as :func:`fire_circle_evaluate` does."""
        self._open()
        if not await self._settled():
            await self._talk()
        result = self.transcript.concluded(self.config.pattern_threshold, chaired=self.chair is not None)
        told = {"consensus", "patterns", "empty_chair_influence", "partial", "warnings"}
        self.emit(events.ConsensusReached(layer=self.layer, **{name: getattr(result, name) for name in told}))
        return result

    async def _talk(self) -> None:
        for number in itertools.count(1):
            spread = await self._round(number)
            if not goes_on(number, spread, self.config):
                break
            decided = certain(number, falsehoods(self.transcript.history()[-1]), self.config)
            if spread is not None and (decided or converged(number, spread, self.config)):
                threshold = self.config.early_stop_convergence
                self.emit(events.StoppedEarly(layer=self.layer, round=number, stddev=spread, threshold=threshold))
                break

    async def _settled(self) -> bool:
        """Ask the guard, where there is one; tell whether it settles the verdict, which is round 0 then."""
        if (guard := self.config.guard) is None:
            return False
        counted, seconds = Metered(self.generate), self.config.base_config.timeout_seconds
        reading = await ask_guard(counted, guard, self.subject.layer, self.transcript.seed, self.suffix, seconds)
        self.transcript.spend += counted.spend
        self.emit(events.GuardAnswered(layer=self.layer, reading=reading))
        if not reading.settles:
            return False
        label, evaluation = f"0:{guard.model}", evaluation_of(reading, counted.spend)
        most = most_rounds(self.config)
        self.emit(events.RoundStarted(layer=self.layer, round=0, of=most, phase="guard", seats=[label], chair=""))
        self.emit(events.SeatEvaluated(layer=self.layer, round=0, seat=label, evaluation=evaluation))
        self.emit(events.RoundEnded(layer=self.layer, round=0, metrics=self.transcript.metrics()[-1]))
        return True

    async def _round(self, number: int) -> float | None:
        """Hold one round; return its stddev(F)."""
        plan = self._plan(number)
        held = self.transcript.rounds[number]
        held.began = self.clock()
        asked = [self._question(seat, plan) for seat in plan.seats]
        held.sent = {question.seat.name: _whole(question.request) for question in asked}
        outcomes = await self._fan_out(asked, plan)
        answers = [outcome for outcome in outcomes if isinstance(outcome, NeutrosophicEvaluation)]
        evaluations = with_types(answers, await self._types(claimed(answers), number))
        self._tell_round(number, evaluations)
        self._hold(number, outcomes)
        return stddev([e.falsehood for e in evaluations])

    def _plan(self, number: int) -> RoundPlan:
        gone = self.transcript.gone
        present = tuple(seat for seat in self.transcript.seats if seat.index not in gone)
        if self.config.empty_chair:
            seats, rotation = self.transcript.seats, self.config.empty_chair_rotation
            self.chair = choose_chair(number, seats, present, self.chair, rotation=rotation)
        plan = RoundPlan(number, most_rounds(self.config), phase_of(number), present, self.chair)
        labels, chair = [seat.label for seat in present], plan.chair.label if plan.chair else ""
        layer, of, phase = self.layer, plan.of, plan.phase
        self.emit(events.RoundStarted(layer=layer, round=number, of=of, phase=phase, seats=labels, chair=chair))
        return plan

    def _question(self, seat: Seat, plan: RoundPlan) -> Asked:
        subject, history = self.subject, self.transcript.history()
        if plan.number == 1:
            request, named = baseline_request(seat, subject)
        else:
            request, named = dialogue_request(seat, plan, subject, history, self.transcript.seats, self.charge)
        shown = _whole(request)

        def located(claim: PatternClaim) -> PatternClaim:
            return verify(claim, subject.case, subject.layer, shown)

        return Asked(
            request=request,
            seat=seat,
            number=plan.number,
            id=named,
            texts=subject.case.texts,
            settings=subject.settings,
            salvaging=self.config.failure_mode is FailureMode.RESILIENT,
            deadline=asyncio.get_running_loop().time() + self.config.timeout_per_round,
            chair=seat == plan.chair,
            verify=located,
        )

    async def _fan_out(self, asked: Sequence[Asked], plan: RoundPlan) -> list[Outcome]:
        """Ask every seat at once; return the outcomes in seat order.

        A failure does not cancel the other seats, in STRICT mode neither: their calls are under way and paid, and
        the partial result must not depend on who was quicker.
        """

        async def one(question: Asked) -> Outcome:
            outcome, spent = await ask_seat(self.generate, question)
            self.transcript.spend += spent
            self._tell_seat(question.seat, plan, outcome)
            return outcome

        return await gather(one(question) for question in asked)

    async def _types(self, descriptions: list[str], number: int) -> dict[str, tuple[PatternType, ...]]:
        """Return the types of each description, by the classifying model where that is wanted and works."""
        if descriptions and self.config.pattern_classification == "llm":
            counted = Metered(self.generate)
            try:
                async with Silence(self.config.base_config.timeout_seconds):
                    model, seed = self.config.classifier_model, self.transcript.seed
                    types = await classify_patterns_llm(
                        descriptions, counted, model=model, seed=seed, round_number=number, layer=self.suffix
                    )
                return dict(zip(descriptions, types, strict=True))
            except (CallError, StructuredOutputError, TimeoutError) as error:
                fault = str(error) or "no answer in time"
                self.emit(events.ClassificationFellBack(layer=self.layer, round=number, detail=fault))
            finally:
                self.transcript.spend += counted.spend
        return {description: pattern_types(description) for description in descriptions}

    def _hold(self, number: int, outcomes: Sequence[Outcome]) -> None:
        """Go on only with enough seats, and in STRICT mode only with all.

        Raises:
            EvaluationError: with what there is.
        """
        failed = [outcome for outcome in outcomes if isinstance(outcome, FailureRecord)]
        answered = sum(isinstance(outcome, NeutrosophicEvaluation) for outcome in outcomes)
        if failed and self.config.failure_mode is FailureMode.STRICT:
            first = failed[0]
            reason = f"{first.model}: {first.kind}: {first.detail}"
            self._end(number, f"Fire Circle failed in round {number}: {reason}", first.model, failed[:1])
        if answered < self.config.min_viable_models:
            reasons = "; ".join(f"{failure.model}: {failure.kind}" for failure in failed) or "the others abstained"
            least = f"Fire Circle degraded below minimum ({self.config.min_viable_models} active models)"
            self._end(number, f"{least} in round {number}: {answered} answered ({reasons})", "fire_circle", failed)

    def _end(self, number: int, message: str, model: str, failed: Sequence[FailureRecord]) -> NoReturn:
        self.emit(events.CircleFailed(layer=self.layer, round=number, message=message))
        partial, layer = self.transcript.partial(), f"round_{number}"
        raise EvaluationError(message, model=model, layer_name=layer, partial=partial, answered=all_answered(failed))

    def _open(self) -> None:
        labels, most = [seat.label for seat in self.transcript.seats], most_rounds(self.config)
        usual, seconds = FireCircleConfig.model_fields["timeout_per_round"].default, self.config.timeout_per_round
        patience = None if seconds == usual else seconds
        layer, turn = self.layer, self.subject.case.turn
        self.emit(events.CircleStarted(layer=layer, seats=labels, max_rounds=most, turn=turn, round_seconds=patience))

    def _tell_seat(self, seat: Seat, plan: RoundPlan, outcome: Outcome) -> None:
        layer, number, name = self.layer, plan.number, seat.label
        if isinstance(outcome, NeutrosophicEvaluation):
            self.emit(events.SeatEvaluated(layer=layer, round=number, seat=name, evaluation=outcome))
        elif isinstance(outcome, Abstention):
            self.emit(events.SeatAbstained(layer=layer, round=number, seat=name, reasoning=outcome.reasoning))
        else:
            kind, detail, chair = outcome.kind, outcome.detail, outcome.empty_chair
            self.emit(events.SeatFailed(layer=layer, round=number, seat=name, kind=kind, detail=detail, chair=chair))

    def _tell_round(self, number: int, evaluations: Sequence[NeutrosophicEvaluation]) -> None:
        labels = {seat.index: seat.label for seat in self.transcript.seats}
        for evaluation in evaluations:
            for claim in evaluation.claims:
                kind = events.PatternSeen if claim.verified else events.PatternDropped
                self.emit(kind(layer=self.layer, round=number, seat=labels[evaluation.seat], claim=claim))
        if claims := history_claims(evaluations):
            self.emit(events.HistoryChecked(layer=self.layer, claims=claims))
        self.emit(events.RoundEnded(layer=self.layer, round=number, metrics=self.transcript.metrics()[-1]))


def _whole(request: Request) -> str:
    return "\n\n".join(message.content for message in request.messages)
