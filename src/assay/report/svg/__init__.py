"""Pictures, drawn by our own code from numbers and names: small functions that return elements.

Colours are classes (``c0`` to ``c5`` for participants, ``red`` for the red team, ``quiet`` for the rest), so a
style sheet decides them for light, dark and print; :data:`PALETTE` is the one that pictures alone carry.
"""

from assay.report.svg.bars import Bar, bar_chart
from assay.report.svg.canvas import PALETTE, picture, standalone
from assay.report.svg.dots import Dot, dot_plot
from assay.report.svg.heatmap import heat_map
from assay.report.svg.timeline import Band, Span, timeline

__all__ = [
    "PALETTE",
    "Band",
    "Bar",
    "Dot",
    "Span",
    "bar_chart",
    "dot_plot",
    "heat_map",
    "picture",
    "standalone",
    "timeline",
]
