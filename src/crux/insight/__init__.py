"""What debates show when they are over: who clashes, who moved, what keeps coming back."""

from crux.insight.alignment import AlignmentMap, alignment_map
from crux.insight.crux_graph import (
    CruxGraph,
    Ties,
    crux_graph,
    question_pairs,
    ties_of,
)
from crux.insight.timeline import shift_timeline

__all__ = [
    "AlignmentMap",
    "CruxGraph",
    "Ties",
    "alignment_map",
    "crux_graph",
    "question_pairs",
    "shift_timeline",
    "ties_of",
]
