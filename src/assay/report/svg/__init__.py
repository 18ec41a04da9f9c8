"""Pictures, drawn by our own code from numbers and names: small functions that return elements.

Colours are classes (``c0`` to ``c5`` for participants, ``red`` for the red team, ``quiet`` for the rest), so a
style sheet decides them for light, dark and print; :data:`PALETTE` is the one that pictures alone carry.
"""

from assay.report.svg.arrows import Arrow, arrow_chart
from assay.report.svg.bars import Bar, bar_chart
from assay.report.svg.canvas import PALETTE, picture, standalone
from assay.report.svg.curves import Curve, curve_chart
from assay.report.svg.heatmap import heat_map
from assay.report.svg.intervals import Dot, interval_plot
from assay.report.svg.lines import Line, line_chart
from assay.report.svg.timeline import Band, Span, timeline

__all__ = [
    "PALETTE",
    "Arrow",
    "Band",
    "Bar",
    "Curve",
    "Dot",
    "Line",
    "Span",
    "arrow_chart",
    "bar_chart",
    "curve_chart",
    "heat_map",
    "interval_plot",
    "line_chart",
    "picture",
    "standalone",
    "timeline",
]
