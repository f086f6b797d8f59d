"""The matrix of predictions: cells of equal strength are one path, so that the page stays small."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from pairity.report.charts.svg import drawing, number, tag, text
from pairity.report.data import Matrix

__all__ = ["Colours", "legend", "matrix_picture"]

_SIDE = 400.0
_LEVELS = 10
#: Names are written beside the matrix for at most so many objects, and cut at so many letters.
_NAMED, _LETTERS = 32, 18


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


def matrix_picture(matrix: Matrix, colours: Colours) -> str:
    """Rows beside columns, with a square around each group."""
    n = len(matrix.names)
    margin = 7.0 * min(_LETTERS, max(map(len, matrix.names))) * 0.8 if n <= _NAMED else 0.0
    cell = (_SIDE - margin) / n
    cells: dict[tuple[str, int], list[str]] = defaultdict(list)
    for row in range(n):
        for column in range(n):
            value = float(matrix.values[row, column])
            if row == column or math.isnan(value):
                continue
            side, level = colours.level(value)
            x, y = margin + column * cell, row * cell
            cells[side, level].append(
                f"M{number(x)} {number(y)}h{number(cell)}v{number(cell)}h-{number(cell)}z"
            )
    paths = [
        tag("path", d="".join(drawn), class_=f"cell {side}", fill_opacity=level / _LEVELS)
        for (side, level), drawn in sorted(cells.items())
    ]
    ground = tag("rect", x=margin, y=0.0, width=n * cell, height=n * cell, class_="ground")
    marks = [
        tag("rect", class_="mark", x=0.0, y=0.0, width=cell, height=cell, visibility="hidden"),
        tag(
            "rect", class_="mark mirror", x=0.0, y=0.0, width=cell, height=cell, visibility="hidden"
        ),
    ]
    names = []
    if n <= _NAMED:
        size = min(11.0, cell * 0.85)
        for row, name in enumerate(matrix.names):
            shown = name if len(name) <= _LETTERS else name[: _LETTERS - 1] + "…"
            names.append(
                text(
                    shown,
                    margin - 5.0,
                    (row + 0.5) * cell + size * 0.35,
                    class_="name",
                    text_anchor="end",
                    font_size=size,
                )
            )
    about = f"Matrix of predictions for {n} objects, ordered by {matrix.order}"
    inside = tag(
        "g",
        ground,
        *paths,
        *_outlines(matrix, margin, cell),
        *marks,
        class_="cells",
        data_margin=margin,
        data_cell=number_exact(cell),
    )
    return drawing(_SIDE, n * cell, about, inside, *names, class_="matrix")


def number_exact(value: float) -> str:
    """A length that scripts multiply: more decimals than a coordinate needs."""
    return f"{value:.6f}"


def _outlines(matrix: Matrix, margin: float, cell: float) -> list[str]:
    """Squares around groups of neighbours, where objects are ordered by cluster."""
    if matrix.order != "cluster":
        return []
    drawn, start = [], 0
    for place in range(1, len(matrix.blocks) + 1):
        ends = place == len(matrix.blocks) or matrix.blocks[place] != matrix.blocks[start]
        if not ends:
            continue
        if place - start > 1:
            size = (place - start) * cell
            x, y = margin + start * cell, start * cell
            drawn.append(tag("rect", x=x, y=y, width=size, height=size, class_="block"))
        start = place
    return drawn


def legend(labels: tuple[str, ...]) -> str:
    """The scale of colours: two labels for one colour, three for two with a middle."""
    two_sided = len(labels) == 3
    steps = range(-_LEVELS if two_sided else 0, _LEVELS + 1)
    width = 240.0 / len(steps)
    parts = [
        tag(
            "rect",
            x=place * width,
            y=0.0,
            width=width + 0.3,
            height=10.0,
            class_=f"cell {'one' if step >= 0 else 'two'}",
            fill_opacity=abs(step) / _LEVELS,
        )
        for place, step in enumerate(steps)
    ]
    places = (0.0, 120.0, 240.0) if two_sided else (0.0, 240.0)
    anchors = ("start", "middle", "end") if two_sided else ("start", "end")
    written = [
        text(label, place, 24.0, class_="tick", text_anchor=anchor)
        for label, place, anchor in zip(labels, places, anchors, strict=True)
    ]
    about = f"Colours from {labels[0]} to {labels[-1]}"
    ground = tag("rect", x=0.0, y=0.0, width=240.0, height=10.0, class_="ground")
    return drawing(240.0, 28.0, about, ground, *parts, *written, class_="legend")
