"""The errors that end a debate, a reading or a comparison: every further question would meet the same."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TypeVar

from llm_runtime.errors import (
    AuthenticationFailed,
    BudgetExceeded,
    CallError,
    DeadlineExceeded,
    PaymentRequired,
    StructuredOutputError,
)

T = TypeVar("T")

OVER = (BudgetExceeded, DeadlineExceeded, AuthenticationFailed, PaymentRequired)
"""What every further call would meet too: it ends a debate instead of skipping a turn."""


async def answered(answering: Awaitable[T]) -> T | CallError | StructuredOutputError:
    """Return the answer, or why the call failed or gave nothing usable; what ends a debate is raised."""
    try:
        return await answering
    except OVER:
        raise
    except (CallError, StructuredOutputError) as fault:
        return fault


async def tried(answering: Awaitable[T]) -> T | None:
    """Return the answer, or nothing where the call failed or gave nothing usable."""
    answer = await answered(answering)
    return None if isinstance(answer, CallError | StructuredOutputError) else answer
