"""The settings of a circle: who sits, how long it talks, what happens when a seat fails.

Specification, section 7 "Configuration Schema"; FC7, FC9, FC12, FC15 and FC22.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model, fits
from llm_runtime.names import ModelName


class CircleConfigurationError(ConfigurationError, ValueError):
    """A setting of a circle is out of range or contradicts another; the message names it, in one line."""


class CircleSize(Enum):
    """How many seats a circle has: ``(least, most)``."""

    SMALL = (2, 3)
    MEDIUM = (4, 6)
    LARGE = (7, 10)

    @classmethod
    def of(cls, seats: int) -> CircleSize:
        """Return the size that ``seats`` models make.

        Raises:
            CircleConfigurationError: fewer than 2 or more than 10.
        """
        for size in cls:
            least, most = size.value
            if least <= seats <= most:
                return size
        raise CircleConfigurationError(f"a circle has 2 to 10 models, got {seats}: change `models`")


class FailureMode(StrEnum):
    """What a failed seat does to the circle."""

    STRICT = "strict"
    """Any failure ends it."""
    RESILIENT = "resilient"
    """It goes on with the seats that are left, while there are enough."""


def _size(value: Any) -> Any:
    if isinstance(value, str) and value.upper() in CircleSize.__members__:
        return CircleSize[value.upper()]
    return value


_Size: TypeAlias = Annotated[
    CircleSize, BeforeValidator(_size), PlainSerializer(lambda size: size.name.lower(), return_type=str)
]


class _Settings(Model):
    def __init__(self, **values: Any) -> None:
        with fits("", CircleConfigurationError):
            super().__init__(**values)


class EvaluationConfig(_Settings):
    """What holds for every single call, with or without dialogue.

    Args:
        models: the models of modes ``single`` (the first) and ``parallel`` (all).
        temperature: 0.0 to 2.0; ``None`` leaves it to the provider.
        max_tokens: upper bound of one answer, in tokens.
        timeout_seconds: until the first words of one answer, from when the call is let go; a round has its own
            deadline beside it.
        rate_limit_retries: how often one call is repeated after HTTP 429, within the round's deadline.
        max_layer_chars: a longer layer is refused before anything is spent.
        policy: a criterion of the team's own, weighed beside reciprocity.
    """

    models: tuple[ModelName, ...] = ("anthropic/claude-sonnet-4-20250514",)
    temperature: float | None = Field(default=None, ge=0.0, le=2.0)
    max_tokens: int | None = Field(default=1500, ge=64)
    timeout_seconds: float = Field(default=45.0, gt=0.0, allow_inf_nan=False)
    rate_limit_retries: int = Field(default=3, ge=0, le=20)
    max_layer_chars: int = Field(default=400_000, ge=1)
    policy: str = Field(default="", max_length=40_000, exclude_if=lambda text: not text)

    @model_validator(mode="after")
    def _has_models(self) -> EvaluationConfig:
        _check_models(self.models)
        return self


class GuardConfig(_Settings):
    """A guard model before the circle; what it leaves open reaches the judges.

    Args:
        model: its id; any model that answers yes or no, a score, or the word of a guard (``unsafe``).
        calm: a score below it settles that a layer is calm, 0.0 to 1.0; 0 never does.
        alarm: a score from it on settles that a layer is an attack; ``None`` never does.
        asks: whether our question is put around the text; off for a guard that has a question of its own.
    """

    model: ModelName
    calm: float = Field(default=0.0, ge=0.0, le=1.0, allow_inf_nan=False)
    alarm: float | None = Field(default=None, gt=0.0, le=1.0, allow_inf_nan=False)
    asks: bool = True

    @property
    def least(self) -> float:
        """The least score of an attack; above 1 where no score settles that."""
        return 2.0 if self.alarm is None else max(self.alarm, self.calm)


class FireCircleConfig(_Settings):
    """A circle.

    Args:
        models: 2 to 10 model ids, one a seat; the same id twice makes two seats.
        circle_size: inferred from ``models`` where it is ``None``; the specification's default (MEDIUM, with three
            models) contradicts its own validation, so there is none here (FC7).
        max_rounds: 1 to 4. 1 is the baseline alone; a fourth round runs only in a LARGE circle that still
            disagrees after the third (FC9).
        empty_chair: whether a chair sits at all; switched off for the ablation.
        empty_chair_rotation: ``False`` keeps the chair of round 2.
        empty_chair_prompt_path: a file that takes the place of ``prompts/empty_chair.md``; it must hold
            ``{{ polarity }}``.
        failure_mode: STRICT or RESILIENT.
        min_viable_models: with fewer answers than this in a round the circle ends with an error; at least 2.
        pattern_threshold: least agreement of a reported pattern, 0.0 to 1.0.
        pattern_classification: by keywords or by a model.
        classifier_model: the model that classifies; a cheap one will do.
        cache_enabled: whether equal calls of one process are made once; an equal prompt before an equal circle then
            costs nothing, unless a seed is passed that makes it another.
        timeout_per_round: seconds.
        early_stop_convergence: the circle stops after round 2 or later when stddev(F) is below this.
        certain: the circle ends after round 1 where every seat's F lies below the first, or reaches the second.
        guard: a cheap first stage; see :func:`fire_circle.measurement.calibration.calibrated` for its bounds.
        per_layer: one circle for each layer, and the worst of them, instead of one for the least trusted.
        base_config: what holds for every call.
    """

    circle_size: _Size | None = None
    models: tuple[ModelName, ...] = (
        "anthropic/claude-sonnet-4-20250514",
        "qwen/qwen-2.5-72b-instruct",
        "deepseek/deepseek-r1",
    )
    max_rounds: int = Field(default=3, ge=1, le=4)
    empty_chair: bool = True
    empty_chair_rotation: bool = True
    empty_chair_prompt_path: str | None = None
    failure_mode: FailureMode = FailureMode.RESILIENT
    min_viable_models: int = Field(default=2)
    pattern_threshold: float = Field(default=0.5, ge=0.0, le=1.0, allow_inf_nan=False)
    pattern_classification: Literal["heuristic", "llm"] = "heuristic"
    classifier_model: ModelName = "x-ai/grok-4-fast"
    cache_enabled: bool = False
    timeout_per_round: float = Field(default=60.0, gt=0.0, allow_inf_nan=False)
    early_stop_convergence: float = Field(default=0.1, ge=0.0, le=1.0, allow_inf_nan=False)
    certain: tuple[float, float] | None = Field(default=None, exclude_if=lambda bounds: bounds is None)
    guard: GuardConfig | None = Field(default=None, exclude_if=lambda guard: guard is None)
    per_layer: bool = False
    base_config: EvaluationConfig = Field(default_factory=EvaluationConfig)

    @property
    def size(self) -> CircleSize:
        """The size that holds, given or inferred."""
        return self.circle_size or CircleSize.of(len(self.models))

    @model_validator(mode="after")
    def _fits_together(self) -> FireCircleConfig:
        _check_models(self.models)
        if self.circle_size not in (None, CircleSize.of(len(self.models))):
            least, most = self.circle_size.value
            raise ValueError(
                f"circle size {self.circle_size.name} requires {least}-{most} models, got {len(self.models)}"
            )
        if self.min_viable_models < 2:
            raise ValueError("Fire Circle requires at least 2 models: min_viable_models must be 2 or more")
        if self.min_viable_models > len(self.models):
            raise ValueError(
                f"min_viable_models is {self.min_viable_models} and there are only {len(self.models)} models"
            )
        return self


def _check_models(models: tuple[str, ...]) -> None:
    if not models:
        raise ValueError("models: name at least one model")
    if any(not model.strip() for model in models):
        raise ValueError("models: a model id is empty")
