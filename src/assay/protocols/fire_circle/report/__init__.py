"""Fire Circle's runs and studies: the fold over a circle's events, and the stories made of either."""

from assay.protocols.fire_circle.report.fold import CircleFold
from assay.protocols.fire_circle.report.state import Circle, CircleState
from assay.protocols.fire_circle.report.story import circle_story

__all__ = ["Circle", "CircleFold", "CircleState", "circle_story"]
