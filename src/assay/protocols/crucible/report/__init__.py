"""Crucible's runs: the fold over a council's events, and the story made of it."""

from assay.protocols.crucible.report.fold import CouncilFold
from assay.protocols.crucible.report.state import CouncilState, NamedSeat
from assay.protocols.crucible.report.story import council_story

__all__ = ["CouncilFold", "CouncilState", "NamedSeat", "council_story"]
