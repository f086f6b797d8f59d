"""Charts as inline SVG: functions of plain numbers that return text.

Colours are classes, so that the page decides what they are in light, dark and print.  Whatever
people named (objects, labels, features) is escaped where it becomes text, in ``svg``.
"""

from pairity.report.charts.bars import interval_bar, plain_bar, share_bar
from pairity.report.charts.curve import validation_curve
from pairity.report.charts.histogram import histogram, label_colours
from pairity.report.charts.matrix import Colours, legend, matrix_picture
from pairity.report.charts.reliability import reliability_diagram

__all__ = [
    "Colours",
    "histogram",
    "interval_bar",
    "label_colours",
    "legend",
    "matrix_picture",
    "plain_bar",
    "reliability_diagram",
    "share_bar",
    "validation_curve",
]
