"""A persona's fidelity, which older releases measured: such a log is shown as ever, and none is made any more.

An answer predicted from somebody's texts stood for whether a persona is like the person, and does not show that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.report.standing import RunVerdict
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model


class Task(Model):
    """Who was measured, and who was the control."""

    personas: tuple[str, ...] = ()
    people: str = ""
    panel: list[dict[str, Any]] = []


class Options(Model):
    """Nothing could be set."""


class FidelityHooks(Hooks[Task, Options]):
    """What is left of a measurement of fidelity."""

    told = "assay.protocols.crux.report.figures:FidelityFold"
    replayable = False

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Refuse.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError("the fidelity of personas is measured no more; people judge it: bench RUN --blind")

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many answers were predicted from their own texts, and from the control's."""
        own, control = result["own"], result["control"]
        against = f"{control['hits']} of {control['of']} from the control's"
        return RunVerdict(f"{own['hits']} of {own['of']} predicted from their own texts", against)
