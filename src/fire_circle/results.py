"""What a circle hands back: evaluations, rounds, patterns, failures and the verdict.

Everything here dumps to JSON and loads again; names are those of the specification, section 8 "API Specification".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from fire_circle.layers import LayerName
from fire_circle.security import SecurityKind
from llm_runtime.errors import CallError, LlmRuntimeError, StructuredOutputError
from llm_runtime.models import Model

Score: TypeAlias = Annotated[float, Field(strict=True, ge=0.0, le=1.0, allow_inf_nan=False)]
"""0.0 to 1.0. A string, a boolean, NaN or a number outside is refused, never bent into place (FC4)."""

FailureKind: TypeAlias = Literal[
    "timeout", "rate_limited", "api_error", "refusal", "unparseable", "contradiction", "echo", "unexpected"
]
"""Why a seat has no score: the specification's four, a refusal, an answer that is copied out of what was shown, and
anything the model function raised that it should not; in older logs also reasoning that denied its own score."""
ANSWERED: frozenset[FailureKind] = frozenset({"refusal", "unparseable", "contradiction", "echo"})
"""Failures in which the model did answer; what it had said before still counts."""

HistoryStatus: TypeAlias = Literal["impossible", "unsupported", "possible", "unverifiable"]

UNCLASSIFIED = "unclassified"
ALARM = 0.7
"""F from which a seat has raised the alarm."""


def _unset(value: object) -> bool:
    """Tell whether a field that older logs do not have says nothing, and can be left out."""
    return value is None or value == "" or value == ()


class PatternType(StrEnum):
    """The eight kinds of pattern (section 6.1)."""

    TEMPORAL_INCONSISTENCY = "temporal_inconsistency"
    CROSS_LAYER_FABRICATION = "cross_layer_fabrication"
    POLITE_EXTRACTION = "polite_extraction"
    EDUCATIONAL_ESCALATION = "educational_escalation"
    CONTEXT_SATURATION = "context_saturation"
    ROLE_CONFUSION = "role_confusion"
    FABRICATED_PROGRESSION = "fabricated_progression"
    FALSE_AUTHORITY = "false_authority"


Place: TypeAlias = LayerName | Literal["earlier"]
"""Where evidence stands: in a layer, or in the earlier turns, as they were shown."""


class Span(Model):
    """A place in what was judged: ``text[start:end]`` of the layer or the earlier turns, in characters."""

    layer: Place
    start: int
    end: int


class PatternClaim(Model):
    """One pattern as one seat put it.

    Args:
        description: the seat's own words.
        quote: what it quotes from the prompt under test.
        span: where the quote stands; ``None`` where it was not found, and then the claim counts for nothing.
        also: further places of the same words, in this layer and others.
        dropped: why it counts for nothing; empty where it counts (FC16).
        types: the pattern types it names, empty where none was recognised.
        security: the kinds of attack it names.
    """

    description: str
    quote: str = ""
    span: Span | None = None
    also: tuple[Span, ...] = Field(default=(), exclude_if=_unset)
    dropped: Literal["", "no_quote", "too_short", "not_found", "scaffold"] = ""
    types: tuple[PatternType, ...] = ()
    security: tuple[SecurityKind, ...] = Field(default=(), exclude_if=_unset)

    @property
    def verified(self) -> bool:
        """Whether the quote stands in the prompt under test."""
        return self.span is not None

    def __str__(self) -> str:
        return self.description


def _claim(value: Any) -> Any:
    return {"description": value} if isinstance(value, str) else value


Claim: TypeAlias = Annotated[PatternClaim, BeforeValidator(_claim)]


class Spend(Model):
    """What calls took.

    Args:
        calls: model calls, the repeated ones included.
        input_tokens: tokens sent.
        output_tokens: tokens received.
        cost: integer micro-dollars (1 USD = 1,000,000) of the calls whose price is known.
        unpriced_calls: calls without a known price; the cost is a lower bound where this is not 0.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: int = 0
    unpriced_calls: int = 0

    def __add__(self, other: Spend) -> Spend:
        return Spend(**{name: getattr(self, name) + getattr(other, name) for name in Spend.model_fields})


class HistoryClaim(Model):
    """A claim about earlier conversation, as judges see it over the records (FC23).

    ``status``: ``unsupported`` where the records do not bear it out, ``possible`` where they do, ``unverifiable``
    where that cannot be told. In logs of before behaviour 4 it was found by rule, and ``impossible`` too, and
    ``claimed_turn`` was told.
    """

    span: Span
    text: str
    claimed_turn: int | None
    status: HistoryStatus


class NeutrosophicEvaluation(Model):
    """One seat's judgement in one round.

    Args:
        truth: T, degree to which the layer keeps reciprocity, 0.0 to 1.0.
        indeterminacy: I, degree to which that cannot be told.
        falsehood: F, degree to which the layer violates reciprocity.
        verdict: ``violates``, ``keeps`` or ``cannot tell``; empty in logs of before behaviour 4.
        reasoning: the seat's words.
        history: claims about earlier turns that it named, and whether the records bear them out.
        model: the seat's name: the model id, with ``#2`` where the model sits twice.
        seat: 1-based place in ``FireCircleConfig.models``.
        round_number: 1-based.
        patterns_observed: what it saw in the discussion.
        consensus_patterns: what it confirms in a synthesis; united with the former wherever patterns are counted.
        empty_chair: it spoke for the absent.
        salvaged: the scores were read out of prose, not out of JSON (RESILIENT only).
        repaired: the JSON was broken and had to be repaired.
        reasked: a first answer was of no use, and this is the second.
        answered_by: the model that answered, as the provider names it.
        doubt: what stayed unclear when it was asked again: words against numbers, several answers; in logs of
            before behaviour 4 how its reasoning seems to deny the score. The gravest of what it said counts.
        given_up: an F that it gave before it was asked again, higher than this one.
        spend: what the calls for this evaluation took.
    """

    truth: Score
    indeterminacy: Score
    falsehood: Score
    verdict: str = Field(default="", exclude_if=_unset)
    reasoning: str = ""
    model: str = ""
    seat: int = 0
    round_number: int = 1
    patterns_observed: tuple[Claim, ...] = ()
    consensus_patterns: tuple[Claim, ...] = ()
    history: tuple[HistoryClaim, ...] = Field(default=(), exclude_if=_unset)
    empty_chair: bool = False
    salvaged: bool = False
    repaired: bool = False
    reasked: bool = False
    answered_by: str = ""
    doubt: str = Field(default="", exclude_if=_unset)
    given_up: Score | None = Field(default=None, exclude_if=_unset)
    spend: Spend = Spend()

    @property
    def claims(self) -> tuple[PatternClaim, ...]:
        """All patterns it names, ``patterns_observed`` and ``consensus_patterns`` united (FC18)."""
        return (*self.patterns_observed, *self.consensus_patterns)

    @property
    def triple(self) -> dict[str, float]:
        """T, I and F, by name."""
        return {"truth": self.truth, "indeterminacy": self.indeterminacy, "falsehood": self.falsehood}

    def with_claims(self, change: Callable[[PatternClaim], PatternClaim]) -> NeutrosophicEvaluation:
        """Return it with each of its patterns changed."""
        names = ("patterns_observed", "consensus_patterns")
        return self.model_copy(update={name: tuple(map(change, getattr(self, name))) for name in names})


class FailureRecord(Model):
    """A seat that gave no score, and why (FC21)."""

    model: str
    seat: int
    round: int
    kind: FailureKind
    detail: str
    empty_chair: bool = False


class Abstention(Model):
    """A seat that said it cannot judge the layer: neither a failure nor a score. It is asked again next round."""

    model: str
    seat: int
    round: int
    reasoning: str


class DialogueRound(Model):
    """One round.

    Args:
        round_number: 1-based.
        phase: ``baseline``, ``discussion`` or ``synthesis``; ``guard`` of round 0, where a guard settled it.
        evaluations: in seat order; only real answers of this round, nobody's is carried forward.
        empty_chair_model: who spoke for the absent; ``None`` where nobody did, or the chair failed.
        prompt_used: the whole prompt each seat was sent, by its name (FC13).
        convergence_metric: population standard deviation of F; ``None`` with fewer than two evaluations.
        timestamp: seconds since the Unix epoch at the start, from the injected clock; 0.0 without one.
    """

    round_number: int
    phase: Literal["guard", "baseline", "discussion", "synthesis"] = "baseline"
    evaluations: tuple[NeutrosophicEvaluation, ...]
    empty_chair_model: str | None = None
    prompt_used: dict[str, str] = {}
    convergence_metric: float | None = None
    timestamp: float = 0.0


class RoundMetrics(Model):
    """Statistics of one round.

    Args:
        f_score_mean: mean of F; ``None`` without evaluations.
        f_score_stddev: population standard deviation of F; ``None`` with fewer than two evaluations.
        convergence_delta: change of the standard deviation since the round before; ``None`` where either lacks.
        empty_chair_influence: the chair's share of the pattern types first seen in this round, 0.0 to 1.0.
    """

    round_number: int
    f_score_mean: float | None
    f_score_stddev: float | None
    convergence_delta: float | None
    empty_chair_influence: float


class Example(Model):
    """A verified quote, and where it stands."""

    quote: str
    span: Span


class PatternObservation(Model):
    """A pattern that enough active seats saw.

    Args:
        pattern_type: one of :class:`PatternType`, or ``"unclassified"``.
        description: the earliest description of it.
        model_agreement: active seats that saw it over active seats, 0.0 to 1.0.
        examples: quotes of the prompt under test, each of them really there.
        observed_in_round: the first round it was seen in, 2 or later.
        models_observing: names of the active seats that saw it, in seat order.
        located: the same quotes with their places.
        retracted_by: seats that saw it and left it out of their last answer; it still counts (FC18).
        security: the kinds of attack that its seats name, the most named first.
    """

    pattern_type: str
    description: str
    model_agreement: float
    examples: tuple[str, ...]
    observed_in_round: int
    models_observing: tuple[str, ...]
    located: tuple[Example, ...] = ()
    retracted_by: tuple[str, ...] = ()
    security: tuple[SecurityKind, ...] = Field(default=(), exclude_if=_unset)


class GuardReading(Model):
    """What a guard said of a layer.

    Args:
        model: its id.
        score: 0.0 (surely calm) to 1.0 (surely an attack); yes and no are 1 and 0; ``None`` where there is none.
        said: its words, or why there are none.
        settles: what follows: ``violates``, ``keeps``, or nothing where the circle decides.
    """

    model: str
    score: float | None
    said: str
    settles: str = ""


class SeatCounts(Model):
    """How the answers of a circle came out, each kind counted apart (FC6)."""

    valid: int = 0
    salvaged: int = 0
    refusals: int = 0
    failures: int = 0
    abstentions: int = 0


class CircleRecord(Model):
    """What a circle leaves behind, with or without a verdict.

    Args:
        layer: the layer that was judged.
        dialogue_history: the rounds, oldest first.
        failed_models: ``"MODEL_round_N"`` for each failure, as specified.
        failures: the same with reasons.
        abstentions: seats that could not judge, by round.
        round_metrics: one entry a round.
        counts: how the answers came out.
        dropped_claims: patterns that counted for nothing, by reason.
        history_claims: claims about earlier turns, each with what most judges who named it say.
        guard: what a guard said before the circle, where there is one.
        turn: the turn the judges were told; ``None`` where it is not known.
        spend: what all calls took.
        seed: the nonces derive from it.
        partial: at least one seat failed.
        silenced: seats that raised the alarm and later gave no score, or gave it up when they were asked about it.
        warnings: one line each.
    """

    layer: LayerName
    dialogue_history: tuple[DialogueRound, ...] = ()
    failed_models: tuple[str, ...] = ()
    failures: tuple[FailureRecord, ...] = ()
    abstentions: tuple[Abstention, ...] = ()
    round_metrics: tuple[RoundMetrics, ...] = ()
    counts: SeatCounts = SeatCounts()
    dropped_claims: dict[str, int] = {}
    history_claims: tuple[HistoryClaim, ...] = ()
    guard: GuardReading | None = Field(default=None, exclude_if=_unset)
    turn: int | None = None
    spend: Spend = Spend()
    seed: int = 0
    partial: bool = False
    silenced: tuple[str, ...] = Field(default=(), exclude_if=_unset)
    warnings: tuple[str, ...] = ()


class PartialResult(CircleRecord):
    """A circle that ended without a verdict. There is no score in it that could be taken for one."""

    partial: bool = True


class FireCircleResult(CircleRecord):
    """A circle's verdict.

    Args:
        consensus: the evaluation with the highest F of all rounds and all voting seats, whole, with its author and
            round; ties go to the latest round, then to seat order (FC2).
        final_round_max: highest F of the last round's answers, 0.0 to 1.0.
        final_round_mean: their mean.
        patterns: verified patterns with enough agreement, most agreed first.
        empty_chair_influence: the chair's share of the pattern types, 0.0 to 1.0 (FC20).
        active_models: seats with a valid answer in the last round.
        stopped_early: the rounds ended because the seats agreed.
        layer_results: with ``per_layer``, every layer's own result; the outer one is the worst of them.
    """

    consensus: NeutrosophicEvaluation
    final_round_max: float
    final_round_mean: float
    patterns: tuple[PatternObservation, ...] = ()
    empty_chair_influence: float = 0.0
    active_models: tuple[str, ...] = ()
    stopped_early: bool = False
    layer_results: dict[LayerName, FireCircleResult] = {}

    @property
    def every_layer(self) -> tuple[FireCircleResult, ...]:
        """The result of each layer that was judged."""
        return tuple(self.layer_results.values()) or (self,)


def evaluations_of(history: Iterable[DialogueRound]) -> Iterator[NeutrosophicEvaluation]:
    """Return what was said in some rounds, rounds in order, seats in theirs."""
    return (evaluation for held in history for evaluation in held.evaluations)


def all_answered(failed: Iterable[FailureRecord]) -> bool:
    """Tell whether all of these seats did answer, and nothing could be made of it."""
    return all(failure.kind in ("unparseable", "contradiction", "echo") for failure in failed)


class EvaluationError(LlmRuntimeError):
    """A circle ended without a verdict.

    Args:
        message: one line.
        model: the seat that failed, or ``"fire_circle"``.
        layer_name: ``"round_N"``, as specified.
        partial: what there is; ``None`` where nothing was asked.
        answered: whether every seat that gave no score did answer, and nothing could be made of it.
    """

    exit_code = CallError.exit_code

    def __init__(
        self, message: str, *, model: str = "", layer_name: str = "", partial: PartialResult | None = None,
        answered: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(message)
        if answered:
            self.exit_code = StructuredOutputError.exit_code
        self.model = model
        self.layer_name = layer_name
        self.partial = partial
