"""Predicted beside observed frequencies: on the diagonal, probabilities mean what they say."""

from __future__ import annotations

import math

from pairity.report.charts.axes import Frame, Scale, nice_ticks, short
from pairity.report.charts.svg import drawing, tag
from pairity.report.data import Reliability

__all__ = ["reliability_diagram"]

_WIDTH, _HEIGHT = 400.0, 314.0


def reliability_diagram(found: Reliability, *, kind: str, x_name: str, y_name: str) -> str:
    """Points with 95 % intervals; their areas grow with the number of pairs.

    ``kind`` is "probability" (both axes 0 to 1), "favourite" (one half to 1) or "value".
    """
    low, high = _bounds(found, kind)
    frame = Frame(Scale(low, high, 48.0, 384.0), Scale(low, high, 276.0, 26.0))
    show = short if kind == "value" else (lambda value: f"{100 * value:.0f} %")
    ticks = [(value, show(value)) for value in nice_ticks(low, high)]
    diagonal = tag(
        "line",
        x1=frame.x(low),
        y1=frame.y(low),
        x2=frame.x(high),
        y2=frame.y(high),
        class_="diagonal",
    )
    most = max((one.count for one in found.bins), default=1)
    points = []
    for one in found.bins:
        x = frame.x(one.predicted)
        points.append(
            tag("line", x1=x, x2=x, y1=frame.y(one.lower), y2=frame.y(one.upper), class_="whisker")
        )
        tip = (
            f"predicted {show(one.predicted)}, observed {show(one.observed)}"
            f" ({show(one.lower)} to {show(one.upper)}), {one.count} pairs"
        )
        radius = 3.5 + 5.0 * math.sqrt(one.count / most)
        points.append(
            tag("circle", cx=x, cy=frame.y(one.observed), r=radius, class_="dot", data_tip=tip)
        )
    about = f"Reliability diagram of {len(found.bins)} bins; mean distance {found.error:.3f}"
    axes = frame.draw(ticks, ticks, x_name, y_name)
    return drawing(_WIDTH, _HEIGHT, about, axes, diagonal, *points)


def _bounds(found: Reliability, kind: str) -> tuple[float, float]:
    if kind == "probability":
        return 0.0, 1.0
    if kind == "favourite":
        lowest = min((min(one.lower, one.predicted) for one in found.bins), default=0.5)
        return min(0.5, math.floor(lowest * 10.0) / 10.0), 1.0
    ends = [end for one in found.bins for end in (one.predicted, one.lower, one.upper)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room
