"""The terms of a run: which models answer, and what they may spend. Kept in its log, they hold at every door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from assay.fields import Ui, read_ui
from llm_runtime.events import Event, RunResumed, RunStarted
from llm_runtime.messages import Effort
from llm_runtime.names import ModelName
from llm_runtime.wrappers.accounts import Caps

if TYPE_CHECKING:
    from llm_runtime.settings import Settings


def _loggable(value: float | None) -> float | None:
    # Canonical JSON ends at 2^53-1, and money is kept in micro-dollars.
    if value is not None and value > 2**33:
        raise ValueError(f"Input should be at most {2**33:,}")
    return value


class Terms(BaseModel):
    """On what terms a run goes. What is left out is left to the configuration, or is no bound."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)

    ui: ClassVar[Mapping[str, Ui]] = read_ui(__package__ or "")["terms"]

    model: ModelName = ""
    """PROVIDER:MODEL for every call, e.g. ollama:qwen3, mailbox:DIR, terminal:, or a base URL."""
    seats: dict[str, ModelName] = {}
    """A model for a role or phase: ROLE=MODEL, one a line; terminal: puts you in the seat."""
    max_tokens: int | None = Field(default=None, ge=1)
    """Upper bound of each answer, in tokens."""
    effort: Effort | None = None
    """How long models that can reason think: none, minimal, low, medium, high or max."""
    budget: Annotated[float | None, AfterValidator(_loggable)] = Field(default=None, ge=0, allow_inf_nan=False)
    """Dollars the run may spend. Answers are then 4096 tokens at most, and 2048 of reasoning, unless max_tokens or
    effort say more."""
    max_calls: Annotated[int | None, AfterValidator(_loggable)] = Field(default=None, ge=0)
    """Model calls the run may make."""
    deadline: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    """Seconds the run may take."""

    @property
    def caps(self) -> Caps:
        """The bounds in the runtime's terms."""
        cost = None if self.budget is None else round(self.budget * 1_000_000)
        return Caps(cost=cost, calls=self.max_calls, seconds=self.deadline)

    @property
    def routes(self) -> dict[str, str]:
        """The models that answer in place of others, by role; every seat's under the empty name."""
        return {**self.seats, **({"": self.model} if self.model else {})}

    def data(self) -> dict[str, Any]:
        """Return what is set, as a log keeps it."""
        return self.model_dump(mode="json", exclude_defaults=True)

    def over(self, earlier: Terms) -> Terms:
        """Return ``earlier`` with these laid over it: the last set wins, seats by their role."""
        seats = {**earlier.seats, **self.seats}
        return Terms.model_validate({**earlier.data(), **self.data(), "seats": seats})

    def settings(self, settings: Settings) -> Settings:
        """Return the user's settings with these laid over them."""
        from llm_runtime.settings import merged

        seats = {**settings.config.seats, **self.seats}
        fields = {"max_tokens": self.max_tokens, "effort": self.effort}
        return merged(settings, model=self.model or None, seats=seats, **fields)


def configured(settings: Settings) -> Terms:
    """Return what the user's configuration says of models: a run keeps it beside what it was started with."""
    config = settings.config
    return Terms(model=config.model or "", seats=config.seats, max_tokens=config.max_tokens, effort=config.effort)


def in_force(events: Iterable[Event]) -> Terms:
    """Return the terms of a run by its log: those it was started with under those of each resume."""
    terms = Terms()
    for event in events:
        if isinstance(event, RunStarted):
            terms = _started(event)
        elif isinstance(event, RunResumed):
            terms = Terms.model_validate(event.terms).over(terms)
    return terms


def _started(event: RunStarted) -> Terms:
    settings = event.settings
    if "terms" in settings:
        return Terms.model_validate(settings["terms"])
    # Logs of before version 0.2 keep models and caps apart, and money in micro-dollars.
    models, caps = settings.get("models", {}), settings.get("caps", {})
    cost = caps.get("cost")
    return Terms(
        model=models.get("model") or "",
        seats=models.get("seats") or {},
        max_tokens=models.get("max_tokens"),
        budget=None if cost is None else cost / 1_000_000,
        max_calls=caps.get("calls"),
        deadline=caps.get("seconds"),
    )
