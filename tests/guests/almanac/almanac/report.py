"""A forecast, told from its events."""

from dataclasses import replace

from assay.report.generic import GenericFold
from assay.report.story import Prose, Section, Story


class AdviceFold(GenericFold):
    """Puts the advice first."""

    def story(self) -> Story:
        """Return the report."""
        story, result = super().story(), self.run.result
        own = (Section("Sowing time", (Prose(result["advice"], lead=True),)),) if result else ()
        return replace(story, sections=(*own, *story.sections))
