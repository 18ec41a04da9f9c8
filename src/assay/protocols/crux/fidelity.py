"""Runs of the past that measured how well a persona is predicted: listed and shown; no more are made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from assay.fields import Ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.crux.people import PeopleFolder
from assay.report.standing import RunVerdict
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model


class Task(Model):
    """Who is measured, and who is the control."""

    personas: Annotated[tuple[str, ...], Ui(hidden=True)]
    """Who was measured, and the control."""
    people: Annotated[PeopleFolder, Ui(hidden=True)] = ""
    """The folder that the personas were looked up in."""
    panel: Annotated[list[dict[str, Any]], Ui(hidden=True)] = []
    """Both personas whole."""


class Options(Model):
    """Nothing can be set."""


class FidelityHooks(Hooks[Task, Options]):
    """What is told of a measurement that was made."""

    replayable = False

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Refuse: it is measured no more.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError("the fidelity of a persona is measured no more (docs/decisions/crux.md, CX25)")

    def title_of(self, task: Task) -> str:
        """Return one line for lists."""
        return f"Is {task.personas[0]} predicted better than {task.personas[1]}?"

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many answers were predicted from their own texts, and from the control's."""
        own, control = result["own"], result["control"]
        against = f"{control['hits']} of {control['of']} from the control's"
        return RunVerdict(f"{own['hits']} of {own['of']} predicted from their own texts", against)
