"""The settings of a debate: who answers which step at what temperature, and how long things may go on.

CX1, CX2, CX3, CX4, CX8, CX9.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias, cast, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from llm_runtime.errors import ConfigurationError
from llm_runtime.models import fits
from llm_runtime.names import ModelName
from llm_runtime.toml import own_table

Tier: TypeAlias = Literal["fast", "strong"]
Spoken: TypeAlias = Literal["opening", "take", "rebuttal", "room_turn", "closing"]
"""Tasks of debaters."""
_Around: TypeAlias = Literal["decomposition", "detection", "exit_check", "card", "summary", "baseline", "judge"]
_OfTexts: TypeAlias = Literal["contract", "extraction", "reading", "linking", "relate", "comparison"]
Task: TypeAlias = Literal[_Around, Spoken, _OfTexts]


class CruxConfigurationError(ConfigurationError, ValueError):
    """A setting of a debate or a persona is out of range or contradicts another; one line that names it."""


class _Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **values: Any) -> None:
        with fits("", CruxConfigurationError):
            super().__init__(**values)


class ChosenModel(_Settings):
    """A model and what it can do. ``takes_temperature`` is False for models that refuse one."""

    id: ModelName = Field(min_length=1)
    takes_temperature: bool = True


class TaskSettings(_Settings):
    """How one kind of call is made.

    Args:
        tier: which of the two models answers.
        temperature: 0.0 to 2.0.
        max_tokens: upper bound of the answer.
        expected_tokens: what an answer usually takes, for the estimate before a debate.
    """

    tier: Tier
    temperature: float = Field(ge=0.0, le=2.0, allow_inf_nan=False)
    max_tokens: int = Field(default=700, ge=64)
    expected_tokens: int = Field(default=150, ge=1)


_TABLES = own_table("crux", "tasks.toml")
_TASKS: dict[Task, TaskSettings] = {task: TaskSettings(**row) for task, row in _TABLES["tasks"].items()}
#: Input tokens of one call of each task.
INPUT_TOKENS: dict[Task, int] = _TABLES["input_tokens"]
SPEAKING: frozenset[Task] = frozenset(get_args(Spoken))


class ModelTable(_Settings):
    """Every task's model and temperature in one place (CX8).

    Args:
        fast: the model of the small steps.
        strong: the model that speaks and writes cards.
        tasks: how each kind of call is made.
        panel: models that the debaters take in turn to speak, in place of ``strong``.
    """

    fast: ChosenModel = ChosenModel(id="anthropic/claude-haiku-4-5")
    strong: ChosenModel = ChosenModel(id="anthropic/claude-sonnet-4-5")
    tasks: dict[Task, TaskSettings] = Field(default_factory=lambda: dict(_TASKS))
    panel: tuple[ChosenModel, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _keep_the_rest(cls, values: Any) -> Any:
        """Let a table that names some tasks change those, and keep the others."""
        if not isinstance(values, dict):
            return values
        changes = cast("dict[str, Any]", values)
        tasks = changes.get("tasks")
        if not isinstance(tasks, dict):
            return changes
        return {**changes, "tasks": {**_TASKS, **cast("dict[str, Any]", tasks)}}

    def model(self, task: Task, seat: str = "") -> ChosenModel:
        """Return the model that answers ``task``; of a panel, that of the debater in a seat like ``"1:maud"``."""
        number = seat.partition(":")[0]
        if self.panel and task in SPEAKING and number.isdecimal():
            return self.panel[(int(number) - 1) % len(self.panel)]
        return self.fast if self.tasks[task].tier == "fast" else self.strong

    def temperature(self, task: Task, seat: str = "") -> float | None:
        """Return the temperature of ``task``; None for a model that refuses one."""
        return self.tasks[task].temperature if self.model(task, seat).takes_temperature else None


class DebateConfig(_Settings):
    """A debate.

    Args:
        models: the model and temperature table.
        aspects: ``"auto"`` lets the decomposition decide within 2 to 4; a number asks for that many.
        detected_pairs: how many pairs a detection may name, 1 to 3.
        rebuttals: ``(least, most)`` of a clash, within 2 to 4.
        rooms_per_aspect: at most so many, 0 to 2.
        exchange_turns: ``(least, most)`` of a room's second phase, within 2 to 8.
        steelman_after: exchange turns after which a turn must state the other side at its strongest.
        exit_check_from: exchange turns before the first exit check; then one every 2 turns.
        extensions: how often two sides that name different things go on, 0 to 2.
        room_turns: no room has more turns than this, at most 16.
        beliefs_per_turn: belief nodes that a turn is shown, 5 to 10.
        flip_test: negate each card's premise and close again, beside a premise that means nothing (CX21).
        flip_samples: how often each side closes under each of the two, 1 to 5.
        questions: yes/no questions that are the rounds, up to 4: those that a comparison of the texts found, say;
            with fewer than two, the decomposition is asked for the rest.
        anyway: debate a topic also where nothing that anybody wrote bears on it.
        baselines: also ask for a one-call and a chain-of-thought answer (CX24): 2 calls.
    """

    models: ModelTable = Field(default_factory=ModelTable)
    aspects: Literal["auto"] | int = 3
    detected_pairs: int = Field(default=3, ge=1, le=3)
    rebuttals: tuple[int, int] = (2, 4)
    rooms_per_aspect: int = Field(default=2, ge=0, le=2)
    exchange_turns: tuple[int, int] = (2, 8)
    steelman_after: int = Field(default=4, ge=1, le=8)
    exit_check_from: int = Field(default=4, ge=2, le=8)
    extensions: int = Field(default=2, ge=0, le=2)
    room_turns: int = Field(default=16, ge=6, le=16)
    beliefs_per_turn: int = Field(default=6, ge=5, le=10)
    flip_test: bool = False
    flip_samples: int = Field(default=3, ge=1, le=5)
    questions: tuple[Annotated[str, Field(min_length=3, max_length=400)], ...] = Field(default=(), max_length=4)
    anyway: bool = False
    baselines: bool = False

    @model_validator(mode="after")
    def _in_range(self) -> DebateConfig:
        if self.aspects != "auto" and not 2 <= self.aspects <= 4:
            raise ValueError(f'aspects is {self.aspects}; it must be "auto" or 2 to 4')
        for name, (least, most), high in (("rebuttals", self.rebuttals, 4), ("exchange_turns", self.exchange_turns, 8)):
            if not 2 <= least <= most <= high:
                raise ValueError(f"{name} is {least} to {most}; it must lie within 2 to {high}")
        return self

    @property
    def most_aspects(self) -> int:
        """How many aspects are kept of those that the decomposition gives."""
        return 4 if self.aspects == "auto" else self.aspects
