"""Crux's part of the report: a fold over its events, a display of a debate under way, and its story."""

from assay.report.crux.fold import DebateFold
from assay.report.crux.state import DebateState, result_of
from assay.report.crux.story import debate_story

__all__ = ["DebateFold", "DebateState", "debate_story", "result_of"]
