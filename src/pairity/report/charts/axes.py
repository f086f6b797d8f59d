"""Scales from numbers to places, and their ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pairity.report.charts.svg import tag, text

__all__ = ["Frame", "Scale", "nice_ticks", "short"]


def short(value: float) -> str:
    """A number as an axis shows it."""
    if value == 0.0:
        return "0"
    if abs(value) >= 10_000 or abs(value) < 0.001:
        mantissa, _, exponent = f"{value:.0e}".partition("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.6g}".replace("-", "−")


def nice_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between two numbers, at most so many.

    >>> nice_ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    """
    if not high > low:
        return [low]
    step = 10.0 ** math.floor(math.log10((high - low) / most))
    while True:
        for factor in (1.0, 2.0, 5.0):
            size = factor * step
            first, last = math.ceil(low / size - 1e-9), math.floor(high / size + 1e-9)
            if last - first + 1 <= most:
                return [round(place * size, 12) + 0.0 for place in range(first, last + 1)]
        step *= 10.0


@dataclass(frozen=True)
class Scale:
    """From ``low`` .. ``high`` to ``start`` .. ``end``; logarithmic if asked for."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool = False

    def __call__(self, value: float) -> float:
        """Place of a value; values outside are put on the edge."""
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + min(1.0, max(0.0, share)) * (self.end - self.start)


@dataclass(frozen=True)
class Frame:
    """Two axes with ticks, faint lines and names."""

    x: Scale
    y: Scale

    def draw(
        self,
        x_ticks: list[tuple[float, str]],
        y_ticks: list[tuple[float, str]],
        x_name: str,
        y_name: str,
    ) -> str:
        """Grid and labels; ``y`` grows upwards."""
        left, right = self.x.start, self.x.end
        top, bottom = min(self.y.start, self.y.end), max(self.y.start, self.y.end)
        parts = []
        for value, label in x_ticks:
            place = self.x(value)
            parts.append(tag("line", x1=place, x2=place, y1=top, y2=bottom, class_="grid"))
            parts.append(text(label, place, bottom + 15, class_="tick", text_anchor="middle"))
        for value, label in y_ticks:
            place = self.y(value)
            parts.append(tag("line", x1=left, x2=right, y1=place, y2=place, class_="grid"))
            parts.append(text(label, left - 6, place + 4, class_="tick", text_anchor="end"))
        middle = (left + right) / 2.0
        parts.append(text(x_name, middle, bottom + 32, class_="axis", text_anchor="middle"))
        parts.append(text(y_name, left - 34, top - 9, class_="axis"))
        return "".join(parts)
