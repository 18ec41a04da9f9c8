"""What a caller sets, and the closed vocabularies that council configurations are written in."""

from __future__ import annotations

import inspect
from enum import Enum
from typing import Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from llm_runtime.messages import Generate
from llm_runtime.names import ModelName
from llm_runtime.rewording import instead


class ComplexityDomain(str, Enum):  # noqa: UP042 - frozen; StrEnum prints differently
    """How cause and effect relate in a question; after Snowden and Boone's Cynefin framework (2007)."""

    SIMPLE = "simple"
    COMPLICATED = "complicated"
    COMPLEX = "complex"
    CHAOTIC = "chaotic"


class LoopGrammar(str, Enum):  # noqa: UP042 - frozen; StrEnum prints differently
    """Who speaks when within one loop of deliberation."""

    PARALLEL = "parallel"
    SEQUENTIAL = "sequential"
    DEBATE = "debate"

    def calls(self, seats: int) -> int:
        """Return the calls of a loop of so many deliberating seats, the judge of change left out."""
        return {"parallel": seats + 1, "sequential": 2 * seats, "debate": 2 * seats + 1}[self.value]


class RedTeamFlavor(str, Enum):  # noqa: UP042 - frozen; StrEnum prints differently
    """The attack vector of the red team."""

    LOGICAL = "logical"
    FEASIBILITY = "feasibility"
    ETHICAL = "ethical"
    STEELMAN = "steelman"


class CouncilRole(str, Enum):  # noqa: UP042 - frozen; StrEnum prints differently
    """What a seat is there for."""

    SYNTHESIZER = "synthesizer"
    DOMAIN_EXPERT = "domain_expert"
    PRAGMATIST = "pragmatist"
    CREATIVE = "creative"
    RED_TEAM = "red_team"


class DeltaStrategy(Protocol):
    """Decides whether the council's positions materially changed from one loop to the next."""

    async def detect(self, prior: dict[CouncilRole, str] | None, current: dict[CouncilRole, str]) -> bool:
        """Return True where they changed. The texts of seats that share a role are joined in seat order."""
        ...


def _usable_strategy(value: Any) -> Any:
    # A runtime-checkable protocol would accept detect=1, and an instance test would refuse honest duck types.
    if value is None:
        return None
    detect = getattr(value, "detect", None)
    if not callable(detect) or not inspect.iscoroutinefunction(inspect.unwrap(detect)):
        raise ValueError("delta_strategy needs a method: async def detect(self, prior, current) -> bool")
    with instead(ValueError("delta_strategy.detect must take two arguments: prior and current"), TypeError):
        inspect.signature(detect).bind(None, {})
    return value


class EngineConfig(BaseModel):
    """Everything the engine is told once; the last three fields are optional extras (CR20).

    Args:
        openrouter_api_key: passed on to OpenRouter, never shown. Not used where ``generate`` is set.
        triage_model: the model that configures the council.
        default_model: every seat without a usable hint, the short circuit and the synthesis.
        observability: build the reasoning trace. The answer does not depend on it.
        delta_strategy: what detects convergence; ``None`` asks a model to judge.
        base_url: another address that speaks OpenRouter's protocol.
        generate: any model function, in place of OpenRouter.
        models: a panel: seats take them in turn, the red team the least used, and triage's hints do not count.
    """

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, defer_build=True)

    openrouter_api_key: str = Field(repr=False)
    triage_model: ModelName = "anthropic/claude-sonnet-4-20250514"
    default_model: ModelName = "openrouter/auto"
    observability: bool = False
    delta_strategy: Annotated[DeltaStrategy | None, PlainValidator(_usable_strategy)] = None
    base_url: str | None = None
    generate: Generate | None = Field(default=None, repr=False)
    models: tuple[ModelName, ...] = ()
