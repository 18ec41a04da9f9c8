"""Crucible's runs: the fold over a council's events, and the story made of it."""

from assay.report.crucible.fold import CouncilFold
from assay.report.crucible.state import CouncilState, Seat
from assay.report.crucible.story import council_story

__all__ = ["CouncilFold", "CouncilState", "Seat", "council_story"]
