"""The data that passes between triage, executor and caller: the specification's frozen schemas."""

from __future__ import annotations

from pydantic import BaseModel, Field, field_validator
from pydantic_core import PydanticCustomError

from crucible.config import ComplexityDomain, CouncilRole, LoopGrammar, RedTeamFlavor


class CouncilSeat(BaseModel, defer_build=True):
    """One member of the council, as triage configures it."""

    role: CouncilRole
    system_prompt: str
    model_hint: str | None = Field(
        default=None, description="Optional model ID (e.g., 'anthropic/claude-sonnet-4-20250514') or None for auto"
    )

    @field_validator("system_prompt")
    @classmethod
    def _is_not_blank(cls, prompt: str) -> str:
        if not prompt.strip():
            raise PydanticCustomError("blank", "is empty")
        return prompt


class TriageOutput(BaseModel, defer_build=True):
    """How a query is to be deliberated. What spans several fields is checked by :mod:`crucible.triage.agent`."""

    reconstructed_query: str = Field(description="Clarified, disambiguated version of user input")
    complexity: ComplexityDomain
    short_circuit_allowed: bool = Field(
        default=False, description="If True and complexity is SIMPLE, executor may bypass council"
    )
    council: list[CouncilSeat] = Field(min_length=3, max_length=5)
    loop_grammar: LoopGrammar
    loop_count: int = Field(ge=2, le=5)
    red_team_flavor: RedTeamFlavor
    allow_early_exit: bool = Field(
        default=True,
        description="If True, can exit before loop_count if convergence detected (minimum 2 loops enforced)",
    )
    synthesis_instruction: str = Field(description="Guidance for final output format and emphasis")

    @property
    def is_simple(self) -> bool:
        """Whether one model may answer in place of a council."""
        return self.short_circuit_allowed and self.complexity is ComplexityDomain.SIMPLE


class LoopRecord(BaseModel, defer_build=True):
    """One loop as the trace keeps it; built only while observing.

    Args:
        loop_number: 1 to 5.
        council_responses: the positions the loop ended with; texts of seats that share a role are joined in
            seat order.
        red_team_critique: every critique of the loop, in order, joined.
        delta_detected: whether positions changed since the loop before; True where nobody compared.
    """

    loop_number: int
    council_responses: dict[CouncilRole, str]
    red_team_critique: str
    delta_detected: bool


class ExecutorResult(BaseModel, defer_build=True):
    """What a run returns.

    Args:
        final_response: the answer.
        loops_executed: 0 (short circuit) to 5.
        early_exit: the council converged before its last loop, or never sat.
        reasoning_trace: one record a loop while observing, else ``None``.
    """

    final_response: str
    loops_executed: int
    early_exit: bool
    reasoning_trace: list[LoopRecord] | None = None
