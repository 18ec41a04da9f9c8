"""The building of a persona as a run: how far it is, and the persona once it is there."""

from __future__ import annotations

from dataclasses import replace

from assay.protocols.crux.report.persona import audit_section, persona_story
from assay.report.frame import cost_section
from assay.report.generic import GenericFold
from assay.report.progress import Progress
from assay.report.story import Note, Plain, Section, Story
from crux import Persona
from crux.claims.audit import Audit
from crux.events import PersonaStep
from llm_runtime.errors import StoreDamaged
from llm_runtime.events import Event
from llm_runtime.models import fits

_ABOUT = (
    "A persona is read out of somebody's own texts: a contract of how they argue and what would change their mind, "
    "and a book of claims in which each opens to the sentence it came from. What no text states is not kept."
)
_STEPS = {"contract": "the contract", "reading": "reading every passage"}


class StepsFold(GenericFold):
    """The fold of a run that goes by steps.

    Args:
        keep: how many settled calls to remember one by one.
    """

    protocol = "Crux"

    def _start(self) -> None:
        self._steps: dict[str, PersonaStep] = {}

    def _take(self, event: Event, at: int) -> None:
        if isinstance(event, PersonaStep):
            self._steps[event.step] = event


class PersonaFold(StepsFold):
    """The fold of a persona's build."""

    lines = {PersonaStep: lambda _, e: f"{_words(e.step)}: all {e.of} done" if e.done == e.of else None}

    def progress(self) -> Progress:
        """Return the build as it stands."""
        open_ = [step for step in self._steps.values() if step.done < step.of]
        phase = ", ".join(f"{_words(step.step)}, {step.done} of {step.of}" for step in open_)
        return replace(super().progress(), phase=phase or "building a persona")

    def story(self) -> Story:
        """Return the persona, or how far its build is."""
        run = self.run
        if not run.result.get("persona"):
            return self._under_way()
        with fits("the persona in the run's log does not fit: ", StoreDamaged):
            persona = Persona.model_validate(run.result["persona"])
        story = persona_story(persona)
        notes = [Note(f"Thin: {reason}", "warning") for reason in run.result.get("gate", {}).get("reasons", ())]
        notes += [Note(f"Not read: {line}", "warning") for line in run.result.get("unread", ())]
        missing = Section("Read with care", tuple(notes)) if notes else None
        checked = audit_section(Audit.model_validate(run.result["audit"])) if "audit" in run.result else None
        sections = tuple(section for section in (missing, checked, *story.sections, cost_section(run)) if section)
        return replace(story, sections=sections)

    def _under_way(self) -> Story:
        story = super().story()
        steps = tuple(Plain(f"{_words(step.step)}: {step.done} of {step.of}") for step in self._steps.values())
        about = Section("What is being built", (Plain(_ABOUT), *steps))
        return replace(story, subtitle="Crux · a persona", sections=(about, *story.sections))


def _words(step: str) -> str:
    return _STEPS.get(step, step.replace("_", " "))
