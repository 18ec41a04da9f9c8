"""The words that states and events share: parts of the interview, tiers of models, reasons to be blocked."""

from __future__ import annotations

from typing import Literal, TypeAlias

InterviewPhase: TypeAlias = Literal["discovery", "architecture", "constraints", "designPrefs"]
Tier: TypeAlias = Literal["worker", "fallback1", "fallback2"]
BlockKind: TypeAlias = Literal[
    "canonical_conflict", "unresolved_contradiction", "circuit_breaker", "security_review", "user_requested",
    "structural_defect", "archive_failure", "provider_down", "context_overflow", "hand_edit",
]  # fmt: skip
