"""How well a persona is predicted from part of its author's texts, as a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from assay.fields import Ui, read_ui
from assay.hooks import Data, Hooks
from assay.protocol import RunContext
from assay.protocols.crux.people import PeopleFolder, open_people, persona_of
from assay.report.standing import RunVerdict
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model

FIELDS = read_ui(__package__ or "")


class Task(Model):
    """Who is measured, and who is the control."""

    ui: ClassVar[Mapping[str, Ui]] = FIELDS["fidelity"]

    personas: tuple[str, ...]
    """Hide a fifth of A's texts and predict A's answers, B's as control."""
    people: Annotated[PeopleFolder, Ui(hidden=True)] = ""
    """The folder that the personas were looked up in."""
    panel: Annotated[list[dict[str, Any]], Ui(hidden=True)] = []
    """Both personas whole."""


class Options(Model):
    """Nothing can be set."""


class FidelityHooks(Hooks[Task, Options]):
    """What a measurement of fidelity does."""

    told = "assay.protocols.crux.report.figures:FidelityFold"

    async def run(self, task: Task, options: Options, context: RunContext) -> Data:
        """Hide a fifth of the first one's texts and predict the answers in them; the result holds the figures.

        Raises:
            LlmRuntimeError: whatever ends it.
        """
        from crux import Persona
        from crux.measurement.held_out import held_out_fidelity

        first, control = (Persona.model_validate(data) for data in task.panel)
        figures = await held_out_fidelity(first, control, generate=context.generate, seed=context.seed)
        return figures.model_dump(mode="json")

    def prepare(self, task: Task, options: Options) -> tuple[Task, Options]:
        """Look both up.

        Raises:
            ConfigurationError: there are not two names.
            PersonaError: one is not there, or was not built.
        """
        if task.panel:
            return task, options
        if len(task.personas) != 2:
            raise ConfigurationError("fidelity takes two names, e.g. maud-tarrowby,ilario-fennimast")
        people = open_people(task.people)
        panel = [persona_of(name, people).model_dump(mode="json") for name in task.personas]
        return task.model_copy(update={"panel": panel, "people": ""}), options

    def title_of(self, task: Task) -> str:
        """Return one line for lists."""
        return f"Is {task.personas[0]} predicted better than {task.personas[1]}?"

    def outcome(self, result: Mapping[str, Any]) -> RunVerdict:
        """Return how many answers were predicted from their own texts, and from the control's."""
        own, control = result["own"], result["control"]
        against = f"{control['hits']} of {control['of']} from the control's"
        return RunVerdict(f"{own['hits']} of {own['of']} predicted from their own texts", against)
