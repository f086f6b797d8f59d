"""Scores by label: one histogram over the other."""

from __future__ import annotations

from pairity.report.charts.axes import Frame, Scale, nice_ticks, short
from pairity.report.charts.svg import drawing, tag, text
from pairity.report.data import Distribution

__all__ = ["histogram"]

_WIDTH, _HEIGHT = 400.0, 314.0
_CLASSES = {1: ("one",), 2: ("two", "one"), 3: ("two", "three", "one")}


def histogram(found: Distribution) -> str:
    """Bars of counts; the positive label is the colour of what is ahead."""
    edges = found.edges
    most = max((max(counts) for counts in found.counts.values()), default=1) or 1
    frame = Frame(Scale(edges[0], edges[-1], 48.0, 384.0), Scale(0.0, most, 276.0, 44.0))
    x_ticks = [(value, short(value)) for value in nice_ticks(edges[0], edges[-1])]
    y_ticks = [(value, short(value)) for value in nice_ticks(0.0, most, 5)]
    classes = _CLASSES[len(found.counts)]
    bars, keys = [], []
    for place, (name, counts) in enumerate(found.counts.items()):
        bars += [
            _bar(frame, edges[i], edges[i + 1], count, name, classes[place])
            for i, count in enumerate(counts)
            if count
        ]
        keys.append(_key(place, len(found.counts), name, sum(counts), classes[place]))
    if edges[0] < 0.0 < edges[-1]:
        zero = frame.x(0.0)
        bars.append(tag("line", x1=zero, x2=zero, y1=44.0, y2=276.0, class_="zero"))
    about = f"Histogram of held-out scores ({found.score}) by label: " + ", ".join(
        f"{name} {sum(counts)}" for name, counts in found.counts.items()
    )
    axes = frame.draw(x_ticks, y_ticks, found.score, "")
    return drawing(_WIDTH, _HEIGHT, about, axes, *bars, *keys)


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


def _key(place: int, number: int, name: str, total: int, class_: str) -> str:
    """A swatch with the name of a label and how many pairs have it."""
    x = 48.0 + place * 336.0 / number
    longest = 40 // number
    shown = name if len(name) <= longest else name[: longest - 1] + "…"
    swatch = tag("rect", x=x, y=8.0, width=11.0, height=11.0, rx=2.0, class_=f"bar {class_}")
    return swatch + text(f"{shown} ({total:,})", x + 16, 18.0, class_="key")
