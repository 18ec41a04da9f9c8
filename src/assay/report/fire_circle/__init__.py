"""Fire Circle's runs and studies: the fold over a circle's events, and the stories made of either."""

from assay.report.fire_circle.fold import CircleFold
from assay.report.fire_circle.state import Circle, CircleState, Seat
from assay.report.fire_circle.story import circle_story

__all__ = ["Circle", "CircleFold", "CircleState", "Seat", "circle_story"]
