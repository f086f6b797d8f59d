"""Scores by label: one histogram over the other."""

from __future__ import annotations

from pairity.report.charts.axes import Frame, Scale, nice_ticks, short
from pairity.report.charts.svg import drawing, tag
from pairity.report.data import Distribution

__all__ = ["histogram", "label_colours"]

_WIDTH, _HEIGHT = 400.0, 296.0
_CLASSES = {1: ("one",), 2: ("two", "one"), 3: ("two", "three", "one")}


def label_colours(found: Distribution) -> tuple[str, ...]:
    """Classes of the colours of the labels, in their order."""
    return _CLASSES[len(found.counts)]


def histogram(found: Distribution) -> str:
    """Bars of counts; the positive label is the colour of what is ahead."""
    edges = found.edges
    most = max((max(counts) for counts in found.counts.values()), default=1) or 1
    frame = Frame(Scale(edges[0], edges[-1], 48.0, 384.0), Scale(0.0, most, 258.0, 26.0))
    x_ticks = [(value, short(value)) for value in nice_ticks(edges[0], edges[-1])]
    y_ticks = [(value, short(value)) for value in nice_ticks(0.0, most, 5)]
    classes = label_colours(found)
    bars = []
    for place, (name, counts) in enumerate(found.counts.items()):
        bars += [
            _bar(frame, edges[i], edges[i + 1], count, name, classes[place])
            for i, count in enumerate(counts)
            if count
        ]
    if edges[0] < 0.0 < edges[-1]:
        zero = frame.x(0.0)
        bars.append(tag("line", x1=zero, x2=zero, y1=26.0, y2=258.0, class_="zero"))
    about = f"Histogram of held-out scores ({found.score}) by label: " + ", ".join(
        f"{name} {sum(counts)}" for name, counts in found.counts.items()
    )
    axes = frame.draw(x_ticks, y_ticks, found.score, "")
    return drawing(_WIDTH, _HEIGHT, about, axes, *bars)


def _bar(frame: Frame, low: float, high: float, count: int, name: str, class_: str) -> str:
    x, y = frame.x(low), frame.y(float(count))
    tip = f"{name}: {count} pairs from {short(round(low, 3))} to {short(round(high, 3))}"
    return tag(
        "rect",
        x=x + 0.4,
        y=y,
        width=frame.x(high) - x - 0.8,
        height=frame.y(0.0) - y,
        class_=f"bar {class_}",
        data_tip=tip,
    )
