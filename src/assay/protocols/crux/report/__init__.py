"""Crux's part of the report: a fold over its events, a display of a debate under way, and its story."""

from assay.protocols.crux.report.fold import DebateFold
from assay.protocols.crux.report.state import DebateState, result_of
from assay.protocols.crux.report.story import debate_story

__all__ = ["DebateFold", "DebateState", "debate_story", "result_of"]
