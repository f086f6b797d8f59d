"""Piecewise linear losses of all observations of a pair together, as one cell of a grid.

The dual term of a sum of losses is the infimal convolution of theirs: all linear pieces in order
of their slope.  A cell keeps two of them, which covers the hinge with any repeated and
contradicting observations, and regression with one target per pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pairity.losses.base import Vector
from pairity.losses.piecewise import PiecewiseLinear

__all__ = ["Cells", "combine", "spread_over_rows"]

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Cells:
    """``h`` is linear with slope ``-below`` on [low, bend] and ``-above`` on [bend, high]."""

    low: Array
    bend: Array
    high: Array
    below: Array
    above: Array

    def parts(self) -> tuple[Array, Array, Array, Array, Array]:
        """The five tables."""
        return self.low, self.bend, self.high, self.below, self.above

    def prox(self, point: Array, step: float) -> Array:
        """Minimiser of the dual term plus ``|theta - point|^2 / (2 step)``."""
        up, down = point + step * self.below, point + step * self.above
        moved = np.where(up <= self.bend, up, np.where(down >= self.bend, down, self.bend))
        return np.clip(moved, self.low, self.high)

    def swapped(self, sign: float) -> Self:
        """The same cells for the pairs written in the other order."""
        if sign > 0:
            return self
        return type(self)(-self.high, -self.bend, -self.low, -self.above, -self.below)

    def filled(self, theta: Array) -> tuple[Array, Array]:
        """How much of each of the two pieces lies below theta, as shares."""
        first, second = self.bend - self.low, self.high - self.bend
        share_first = np.where(first > 0, (theta - self.low) / np.where(first > 0, first, 1), 1.0)
        share_second = np.where(
            second > 0, (theta - self.bend) / np.where(second > 0, second, 1), 0.0
        )
        return np.clip(share_first, 0.0, 1.0), np.clip(share_second, 0.0, 1.0)


def combine(loss: PiecewiseLinear, cell: NDArray[np.intp], n_cells: int) -> Cells | None:
    """Cells of rows that fall into ``cell``; None where a cell has three different pieces."""
    place = np.concatenate([cell, cell])
    length = np.concatenate([-loss.low, loss.high])
    target = np.concatenate([loss.below, loss.above])
    place, length, target = place[length > 0], length[length > 0], target[length > 0]
    below, above = np.full(n_cells, -np.inf), np.full(n_cells, np.inf)
    np.maximum.at(below, place, target)
    np.minimum.at(above, place, target)
    is_first = target == below[place]
    if not (is_first | (target == above[place])).all():
        return None
    low = _sums(cell, loss.low, n_cells)
    bend = low + _sums(place[is_first], length[is_first], n_cells)
    high = _sums(cell, loss.high, n_cells)
    empty = ~np.isfinite(below)
    below[empty] = above[empty] = 0.0
    return Cells(low, np.minimum(bend, high), high, below, above)


def _sums(place: NDArray[np.intp], amounts: Vector, n_cells: int) -> Vector:
    return np.bincount(place, amounts, n_cells).astype(np.float64, copy=False)


def spread_over_rows(
    loss: PiecewiseLinear, cells: Cells, cell: NDArray[np.intp], theta: Array, snap: float
) -> Vector:
    """Dual variable of each row: its own pieces filled as much as those of its cell.

    Shares within ``snap`` of 0 or 1 are there: what single precision puts on a bound is on it.
    """
    shares = []
    for share in cells.filled(theta):
        share = np.where(share < snap, 0.0, np.where(share > 1.0 - snap, 1.0, share))
        shares.append(share.ravel()[cell])
    first, second = shares
    below = cells.below.ravel()[cell]
    lower = np.where(loss.below == below, first, second)
    upper = np.where(loss.above == below, first, second)
    return loss.low * (1.0 - lower) + loss.high * upper
