"""What debates show when they are over: who clashes, who moved, what keeps coming back."""

from crux.insight.alignment import AlignmentCell, AlignmentMap, alignment_map
from crux.insight.crux_graph import (
    CruxGraph,
    CruxLink,
    CruxPoint,
    FaultLine,
    Ties,
    crux_graph,
    question_pairs,
    ties_of,
)
from crux.insight.timeline import ShiftTimeline, StancePoint, shift_timeline

__all__ = [
    "AlignmentCell",
    "AlignmentMap",
    "CruxGraph",
    "CruxLink",
    "CruxPoint",
    "FaultLine",
    "ShiftTimeline",
    "StancePoint",
    "Ties",
    "alignment_map",
    "crux_graph",
    "question_pairs",
    "shift_timeline",
    "ties_of",
]
