"""Attempts that are not made: the reason is told before each begins."""

from __future__ import annotations

from collections.abc import Callable

from inspect_ai.dataset import Sample
from inspect_ai.log import EvalSpec
from inspect_ai.scorer import SampleScore
from inspect_ai.util import EarlyStop
from pydantic import JsonValue


class LeavingOut:
    """Inspect's early stopping: an attempt for which there is a reason is not made."""

    def __init__(self, reason: Callable[[str, int], str]) -> None:
        self._reason = reason

    async def start_task(self, task: EvalSpec, samples: list[Sample], epochs: int) -> str:
        """Return what the log calls it."""
        return "left out"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        """Leave an attempt out that is not to be made."""
        reason = self._reason(str(id), epoch)
        return EarlyStop(id=id, epoch=epoch, reason=reason) if reason else None

    async def complete_sample(self, id: str | int, epoch: int, scores: dict[str, SampleScore]) -> None:
        """Do nothing: who asked for the trial is told by another way."""

    async def complete_task(self) -> dict[str, JsonValue]:
        """Return what the log is to say besides."""
        return {}
