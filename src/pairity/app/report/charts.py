"""Charts as inline SVG: numbers become places here, and markup in ``templates/charts.html``.

Colours are classes, so that the page decides what they are in light, dark and print.  Whatever
people named (objects, labels, features) is escaped by the template.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import accumulate, groupby
from typing import Any

import numpy as np

from pairity.app.report.report_data import Matrix, Reliability, SearchFacts, TimeFacts
from pairity.app.report.wording import cut, moment, plain

_LEVELS = 10


def resource(name: str) -> str:
    """Text of a file beside the templates."""
    return (files("pairity.app.report") / "templates" / name).read_text(encoding="utf-8")


@cache
def environment() -> Any:
    """Templates of the page and of its charts, which escape whatever is put into them."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError as error:
        raise ImportError(
            "got no Jinja2 to write a report with; expected it installed: pip install"
            " 'pairity[cli]'."
        ) from error
    made = Environment(
        loader=FunctionLoader(resource),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"separators": (",", ":")}
    scales = Scale, ticks, curve_axes, time_axes, reliability_bounds, histogram_shares
    matrices = matrix_scale, matrix_cells, neighbours, spaced_names
    texts = short, whole_percent, cut
    made.globals |= {one.__name__: one for one in (*scales, *matrices, *texts, zip)}
    made.globals["levels"] = _LEVELS
    made.filters["n"] = number
    return made


def number(value: float) -> str:
    """A coordinate with two decimals at most."""
    if not math.isfinite(value):
        raise ValueError(f"got {value!r} as a coordinate; expected a finite number.")
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown in ("-0", "") else shown


def short(value: float) -> str:
    """A number as an axis shows it."""
    if value == 0.0:
        return "0"
    if abs(value) >= 10_000 or abs(value) < 0.001:
        mantissa, _, exponent = f"{value:.0e}".partition("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:.6g}".replace("-", "−")


def whole_percent(value: float) -> str:
    """A share as an axis shows it."""
    return f"{100 * value:.0f} %"


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
                return [round(multiple * size, 12) + 0.0 for multiple in range(first, last + 1)]
        step *= 10.0


def ticks(low: float, high: float, most: int = 6, show: Any = short) -> list[tuple[float, str]]:
    """Such multiples, and how an axis shows them."""
    return [(value, show(value)) for value in nice_ticks(low, high, most)]


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
class Colours:
    """Cells above ``middle`` in one colour, below in the other; full strength at ``reach`` from it."""

    middle: float
    reach: float

    def level(self, value: float) -> tuple[str, int]:
        """Colour and strength, 0 to 10; the slightest difference from the middle shows."""
        share = (value - self.middle) / self.reach if self.reach > 0.0 else 0.0
        strength = math.ceil(abs(share) * _LEVELS - 1e-9) if share else 0
        return ("one" if share >= 0.0 else "two"), min(strength, _LEVELS)


def curve_axes(found: SearchFacts) -> tuple[Scale, Scale, list[tuple[float, str]]]:
    """Both axes of a validation curve with bands of one standard error, and ticks of strengths."""
    strengths = sorted({value for curve in found.curves for value in curve.strengths})
    ends = [
        mean + side * error
        for curve in found.curves
        for mean, error in zip(curve.means, curve.errors, strict=True)
        for side in (-1.0, 1.0)
    ]
    low, high = min(ends), max(ends)
    room = 0.05 * (high - low) or 0.1
    x = Scale(strengths[0], strengths[-1], 60.0, 384.0, logarithmic=True)
    every = 1 + (len(strengths) - 1) // 8
    marks = [(value, short(float(f"{value:.3g}"))) for value in strengths[::every]]
    return x, Scale(low - room, high + room, 276.0, 26.0), marks


def time_axes(found: TimeFacts) -> tuple[Scale, Scale, list[tuple[float, str]]]:
    """Both axes of lines over time with their intervals, and five ticks of times."""
    low = min(value for line in found.lines for value in line.lower)
    high = max(value for line in found.lines for value in line.upper)
    room = 0.05 * (high - low) or 0.1
    x = Scale(found.moments[0], found.moments[-1], 60.0, 780.0)
    marks = np.linspace(found.moments[0], found.moments[-1], 5).tolist()
    shown = [(value, moment(value, found.dates)) for value in marks]
    return x, Scale(low - room, high + room, 276.0, 26.0), shown


def reliability_bounds(found: Reliability, kind: str) -> tuple[float, float]:
    """Ends of both axes: 0 to 1 for a "probability", from one half for a "favourite", or of values."""
    if kind == "probability":
        return 0.0, 1.0
    if kind == "favourite":
        lowest = min((min(one.lower, one.predicted) for one in found.bins), default=0.5)
        return min(0.5, math.floor(lowest * 10.0) / 10.0), 1.0
    ends = [end for one in found.bins for end in (one.predicted, one.lower, one.upper)]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    room = 0.05 * (high - low) or 1.0
    return low - room, high + room


def matrix_cells(matrix: Matrix, colours: Colours, margin: float) -> list[tuple[Any, str]]:
    """Cells by colour and strength: those of equal strength are one path, so that the page is small."""
    # Ends are the rounded beginnings of the next cells: else some rows have a gap between them.
    ends = np.arange(len(matrix.names) + 1) * (400.0 - margin) / len(matrix.names)
    across, down = (margin + ends).round(2).tolist(), ends.round(2).tolist()
    wide, high = (list(map(number, np.diff(corners))) for corners in (across, down))
    cells: dict[tuple[str, int], str] = defaultdict(str)
    for (row, column), value in np.ndenumerate(matrix.values):
        if row != column and not math.isnan(value):
            corner = f"M{number(across[column])} {number(down[row])}"
            side = f"h{wide[column]}v{high[row]}h-{wide[column]}z"
            cells[colours.level(float(value))] += corner + side
    return sorted(cells.items())


def histogram_shares(counts: dict[str, tuple[float, ...]]) -> dict[str, list[float]]:
    """Heights of bars: shares of the pairs of each label, so that a rare one is to be seen."""
    return {
        name: [count / max(1, sum(values)) for count in values] for name, values in counts.items()
    }


def spaced_names(matrix: Matrix, most: int = 32) -> list[tuple[int, str]]:
    """Rows of the matrix that get their names, evenly spaced where not all fit."""
    every = 1 + (len(matrix.names) - 1) // most
    return [(row, name) for row, name in enumerate(matrix.names) if row % every == 0]


def neighbours(matrix: Matrix) -> list[tuple[int, int]]:
    """Where each group of several neighbours starts and how many they are, where these are clusters."""
    sizes = [len(list(block)) for _, block in groupby(matrix.blocks)]
    starts = accumulate(sizes, initial=0)
    found = zip(starts, sizes, strict=False)
    return [(at, size) for at, size in found if size > 1 and matrix.order == "cluster"]


def matrix_scale(matrix: Matrix, odd: bool) -> tuple[Colours, tuple[str, ...]]:
    """Colours around even odds or no difference; from low to high where no value is special."""
    if matrix.quantity == "points":
        return Colours(0.5, 0.5), ("0 points", "½", "1 point")
    if matrix.quantity == "probability":
        if odd:
            return Colours(0.5, 0.5), ("0 %", "50 %", "100 %")
        return Colours(0.0, 1.0), ("0 %", "100 %")
    low, high = float(np.nanmin(matrix.values)), float(np.nanmax(matrix.values))
    if odd:
        reach = max(abs(low), abs(high))
        return Colours(0.0, reach), (plain(-reach), "0", plain(reach))
    return Colours(low, high - low), (plain(low), plain(high))
