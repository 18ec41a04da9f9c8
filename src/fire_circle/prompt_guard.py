"""One door to three ways of judging a prompt: one model, several apart, a circle (FC25)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, field
from functools import partial
from typing import Literal, TypeAlias

from fire_circle.answers import CANNOT_TELL
from fire_circle.asking import Asked, Outcome, ask_seat
from fire_circle.baseline import JudgedLayer, baseline_request
from fire_circle.behaviour import BEHAVIOUR
from fire_circle.case import Case
from fire_circle.circle import drawn_seed, fire_circle_evaluate
from fire_circle.config import CircleConfigurationError, EvaluationConfig, FireCircleConfig
from fire_circle.layers import MultiNeutrosophicPrompt
from fire_circle.results import (
    ALARM,
    EvaluationError,
    FailureRecord,
    FireCircleResult,
    NeutrosophicEvaluation,
    PatternObservation,
    Spend,
    all_answered,
    evaluations_of,
)
from fire_circle.seats import Seat, seat_circle
from fire_circle.session import SessionMemory
from llm_runtime.errors import NoModelError
from llm_runtime.events import Emit, silent
from llm_runtime.messages import Generate
from llm_runtime.models import Model
from llm_runtime.structs import Struct
from llm_runtime.tasks import gather

Mode: TypeAlias = Literal["single", "parallel", "fire_circle"]
Exchange: TypeAlias = Literal["reciprocal", "neutral", "extractive"]

_CLEAR = 0.3


class ReciprocityMetrics(Model):
    """What a prompt was found to be.

    Args:
        mode: how it was judged.
        truth, indeterminacy, falsehood: 0.0 to 1.0, the whole triple of the evaluation with the highest F.
        ayni_balance: T - F, from -1.0 (all taking) to 1.0 (all giving).
        exchange_type: ``reciprocal`` from a balance of 0.3, ``extractive`` from -0.3, ``neutral`` between.
        trust: 1 - F.
        evaluations: every evaluation behind it.
        failures: seats that gave none.
        patterns: of the circle, of every layer that was judged; empty in the other modes.
        dialogue_summary: a few lines of what happened, for a person.
        spend: what the calls took.
        partial: a seat failed.
        result: the circle's own result.
    """

    mode: Mode
    truth: float
    indeterminacy: float
    falsehood: float
    ayni_balance: float
    exchange_type: Exchange
    trust: float
    evaluations: tuple[NeutrosophicEvaluation, ...]
    failures: tuple[FailureRecord, ...] = ()
    patterns: tuple[PatternObservation, ...] = ()
    dialogue_summary: str = ""
    spend: Spend = Spend()
    partial: bool = False
    result: FireCircleResult | None = None


class PromptGuard(Struct):
    """Judges prompts.

    Modes ``single`` and ``parallel`` ask the very question of a circle's first round, so that the modes differ by
    the dialogue alone.

    Args:
        generate: the model function.
        config: models and limits of the modes without dialogue.
        session: the conversation the prompts belong to, where it is known; it is read, not written.
        emit: told of what a circle does.
        seed: the nonces derive from it; drawn where left out.
        similar: what is remembered of other prompts; circles alone are told.
    """

    generate: Generate | None = None
    config: EvaluationConfig = field(default_factory=EvaluationConfig)
    _: KW_ONLY
    session: SessionMemory | None = None
    emit: Emit = silent
    seed: int = field(default_factory=drawn_seed)
    similar: str = ""

    async def evaluate(
        self, system: str = "", user: str = "", application: str = "", mode: str = "single",
        fire_circle_config: FireCircleConfig | None = None, answer: str = "",
    ) -> ReciprocityMetrics:  # fmt: skip
        """Judge one prompt.

        Raises:
            CircleConfigurationError: ``mode`` is none of the three.
            NoModelError: there is no model function.
            PromptError: the prompt cannot be judged.
            EvaluationError: nobody answered, or the circle came to no verdict.
        """
        prompt = MultiNeutrosophicPrompt(system=system, user=user, application=application, answer=answer)
        return await self.judge(Case(prompt, self.session, self.similar), mode, fire_circle_config)

    async def judge(
        self, case: Case, mode: str = "single", config: FireCircleConfig | None = None
    ) -> ReciprocityMetrics:
        """Judge one case, with the transcript and the material that it has; raises as :meth:`evaluate` does."""
        if mode == "fire_circle":
            held = partial(fire_circle_evaluate, generate=self.generate, emit=self.emit, seed=self.seed)
            return _of_circle(await held(case.prompt, config, case.session, similar=case.similar))
        if mode == "single":
            return await self._apart("single", case, self.config.models[:1])
        if mode == "parallel":
            return await self._apart("parallel", case, self.config.models)
        raise CircleConfigurationError(f"mode must be single, parallel or fire_circle, got {mode!r}")

    async def _apart(self, mode: Mode, case: Case, models: tuple[str, ...]) -> ReciprocityMetrics:
        if self.generate is None:
            raise NoModelError("PromptGuard needs a model function: pass generate=...")
        case.prompt.check(self.config.max_layer_chars)
        layers, answers = case.judged(), list[tuple[Outcome, Spend]]()
        for layer in layers:
            seats = seat_circle(models, layer.name if len(layers) > 1 else "")
            subject = JudgedLayer(case, layer, self.config, self.seed)
            answers += await independent_evaluations(self.generate, subject, seats)
        evaluations = tuple(answer for answer, _ in answers if isinstance(answer, NeutrosophicEvaluation))
        failures = tuple(answer for answer, _ in answers if isinstance(answer, FailureRecord))
        if not evaluations:
            reason = "; ".join(f"{failure.model}: {failure.kind}: {failure.detail}" for failure in failures)
            message = f"no model gave a score: {reason or 'all abstained'}"
            raise EvaluationError(message, model=models[0], answered=all_answered(failures))
        return _metrics(
            mode,
            max(evaluations, key=lambda e: (e.falsehood, -e.seat)),
            evaluations=evaluations,
            failures=failures,
            spend=sum((spent for _, spent in answers), Spend()),
            dialogue_summary=f"{len(evaluations)} of {len(answers)} judged alone; no dialogue.",
        )


async def independent_evaluations(
    generate: Generate, subject: JudgedLayer, seats: tuple[Seat, ...], sample: int = 1
) -> list[tuple[Outcome, Spend]]:
    """Ask each seat for its own judgement, without any dialogue; return them in seat order.

    Args:
        sample: 1-based; what keeps several samples of the same seat apart.
    """

    def question(seat: Seat) -> Asked:
        request, named = baseline_request(seat, subject, phase="single", number=sample)
        texts, settings = subject.case.texts, subject.settings
        return Asked(request, seat, sample, named, texts, settings, salvaging=True)

    return await gather(ask_seat(generate, question(seat)) for seat in seats)


def shortfalls(metrics: ReciprocityMetrics, seats: int) -> list[str]:
    """Return why a verdict of ``seats`` judges is not the whole circle's, or not a clear one, one line each."""
    lines = list(_lacking(metrics.failures, metrics.evaluations))
    if metrics.result is None:
        lines += _too_few(metrics.evaluations, seats)
    for result in metrics.result.every_layer if metrics.result else ():
        last = result.dialogue_history[-1]
        lines += _lacking(result.failures, evaluations_of(result.dialogue_history))
        lines += [f"{model} raised the alarm and fell silent" for model in result.silenced]
        lines += _too_few(last.evaluations, seats) if last.phase != "guard" else ()
    return list(dict.fromkeys(lines))


def _lacking(failures: Iterable[FailureRecord], said: Iterable[NeutrosophicEvaluation]) -> Iterator[str]:
    yield from (f"{failure.model}: {failure.kind} in round {failure.round}" for failure in failures)
    for one in said:
        if (one.given_up or 0.0) >= ALARM > one.falsehood:
            yield f"{one.model} raised the alarm and fell silent"
        if one.doubt:
            yield f"{one.model} in round {one.round_number}: {one.doubt}"


def _too_few(last: Sequence[NeutrosophicEvaluation], seats: int) -> Iterator[str]:
    if 2 * len(last) <= seats:
        yield f"only {len(last)} of {seats} judges answered to the end"
    if 2 * (unsure := sum(one.verdict == CANNOT_TELL for one in last)) > len(last):
        yield f"{unsure} of {len(last)} judges cannot tell"


def _of_circle(result: FireCircleResult) -> ReciprocityMetrics:
    layers = (result,) if BEHAVIOUR.before(4) else result.every_layer
    told = {name: getattr(result, name) for name in ("failures", "spend", "partial")}
    told |= {"patterns": tuple(p for one in layers for p in one.patterns), "dialogue_summary": _summary(result)}
    said = tuple(evaluations_of(result.dialogue_history))
    return _metrics("fire_circle", result.consensus, **told, evaluations=said, result=result)


def _metrics(mode: Mode, verdict: NeutrosophicEvaluation, **rest: object) -> ReciprocityMetrics:
    balance = verdict.truth - verdict.falsehood
    kind: Exchange = "reciprocal" if balance >= _CLEAR else "extractive" if balance <= -_CLEAR else "neutral"
    told = {"mode": mode, **verdict.triple, "ayni_balance": balance, "exchange_type": kind}
    told |= {"trust": 1 - verdict.falsehood, "partial": bool(rest.get("failures"))}
    return ReciprocityMetrics.model_validate({**told, **rest})


def _summary(result: FireCircleResult) -> str:
    verdict = result.consensus
    lines = [
        f"Round {dialogue_round.round_number} ({dialogue_round.phase}): "
        + ", ".join(f"{e.model} F={e.falsehood:.2f}" for e in dialogue_round.evaluations)
        + (f"; empty chair: {dialogue_round.empty_chair_model}" if dialogue_round.empty_chair_model else "")
        for dialogue_round in result.dialogue_history
    ]
    lines.append(f"Highest F {verdict.falsehood:.2f}, by {verdict.model} in round {verdict.round_number}.")
    if result.patterns:
        named = ", ".join(f"{p.pattern_type} ({p.model_agreement:.0%})" for p in result.patterns)
        lines.append(f"Patterns: {named}.")
    if result.failed_models:
        lines.append(f"Failed: {', '.join(result.failed_models)}.")
    return "\n".join(lines)
