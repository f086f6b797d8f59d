"""Losses whose dual term is piecewise linear: hinge (12) and epsilon-insensitive (41).

Both have the dual term

    h(t) = -above * t   for 0 <= t <= high,
    h(t) = -below * t   for low <= t <= 0,       below >= above,

that is the primal loss ``high * max(0, above - f) - low * max(0, f - below)``.

===================  =======  =======  ========  ========
loss                 low      high     below     above
===================  =======  =======  ========  ========
hinge, y = +1        0        c        1         1
hinge, y = -1        -c       0        -1        -1
eps-insensitive      -c       c        y + eps   y - eps
===================  =======  =======  ========  ========

All observations of a pair together are one cell of a grid.  The dual term of a sum of losses is the
infimal convolution of theirs: all linear pieces in order of their slope.  A cell keeps two of them,
which covers the hinge with any repeated and contradicting observations, and regression with one
target per pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pairity.losses.loss import Loss, Vector
from pairity.pairs.arrays import Mask, Places, sums_at

Array = NDArray[np.floating]
#: Distance from a bound, over its size (from 0, over the largest variable), that is but rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class PiecewiseLinear(Loss):
    """Bounds of each dual variable, and the decision at which each of its two pieces rests."""

    low: Vector
    high: Vector
    below: Vector
    above: Vector

    @property
    def scale(self) -> float:
        """Size of decisions that matter: 1 for the hinge, the mean size of targets otherwise."""
        sizes = np.abs(self.below) + np.abs(self.above)
        return float(np.mean(sizes)) / 2.0 if len(sizes) and sizes.any() else 1.0

    @property
    def weights(self) -> Vector:
        """Largest size of each dual variable: the weight of its observation."""
        return np.maximum(self.high, -self.low)

    @property
    def per_weight(self) -> list[Vector]:
        """What the losses of rows have in common that are one loss with the sum of the weights."""
        return [self.low / self.weights, self.high / self.weights, self.below, self.above]

    @property
    def counted(self) -> Mask:
        """Which observations have a weight above 0."""
        return self.high > self.low

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""
        short = np.maximum(0.0, self.above - decisions)
        over = np.maximum(0.0, decisions - self.below)
        return self.high * short - self.low * over

    def conjugate(self, theta: Vector) -> Vector:
        """``h(theta)`` inside the bounds."""
        return -np.where(theta > 0, self.above, self.below) * theta

    def prox(self, point: Vector, step: float | Vector) -> Vector:
        """Minimiser of ``h(t) + (t - point)^2 / (2 step)``."""
        up, down = point + step * self.above, point + step * self.below
        return np.clip(np.maximum(up, 0.0) + np.minimum(down, 0.0), self.low, self.high)

    def targets(self, theta: Vector) -> tuple[Vector, Vector]:
        """Decision up to which theta would rise, and down to which it would fall.

        -inf (+inf) where theta is at its upper (lower) bound: the sets of (26).
        """
        rise = np.where(theta < 0, self.below, self.above)
        fall = np.where(theta > 0, self.above, self.below)
        rising, falling = theta < self.high, theta > self.low
        return np.where(rising, rise, -np.inf), np.where(falling, fall, np.inf)

    def is_free(self, theta: Vector) -> Mask:
        """Which variables are inside a piece, and so at rest at one decision only."""
        inside = (theta > self.low) & (theta < self.high)
        return inside & ((theta != 0) | (self.below == self.above))

    def room(self, theta: Vector, direction: float) -> Vector:
        """Distance from the upper, or the lower bound."""
        return self.high - theta if direction > 0 else theta - self.low

    def snapped(self, theta: Vector) -> Vector:
        """Variables within rounding of 0 or of a bound are put on it."""
        largest = float(np.abs(theta).max(initial=0.0))
        theta = np.where(np.abs(theta) <= _ROUNDING * largest, 0.0, theta)
        theta = np.where(theta >= self.high - _ROUNDING * self.high, self.high, theta)
        return np.where(theta <= self.low - _ROUNDING * self.low, self.low, theta)

    def bias_interval(self, theta: Vector, values: Vector) -> tuple[float, float]:
        """Formula (26): largest ``rise - g`` and smallest ``fall - g``; an empty end is infinite."""
        rise, fall = self.targets(theta)
        low = float(np.max(rise - values, initial=-np.inf))
        high = float(np.min(fall - values, initial=np.inf))
        return low, high

    def violation(self, theta: Vector, decisions: Vector) -> float:
        """Largest distance of a decision from where its variable would rest."""
        low, high = self.bias_interval(theta, decisions)
        return max(0.0, low, -high)

    def support(self, theta: Vector) -> tuple[int, int]:
        """Nonzero variables, and those at an outer bound."""
        bounded = ((theta >= self.high) | (theta <= self.low)) & (theta != 0)
        return int(np.count_nonzero(theta)), int(np.count_nonzero(bounded))

    def times(self, factor: float | Vector) -> Self:
        """All weights multiplied."""
        return type(self)(factor * self.low, factor * self.high, self.below, self.above)

    def signed(self, signs: Vector) -> Self:
        """Losses of the decisions ``sign * f``, for signs +1 and -1."""
        kept = signs > 0
        return type(self)(
            np.where(kept, self.low, -self.high),
            np.where(kept, self.high, -self.low),
            np.where(kept, self.below, -self.above),
            np.where(kept, self.above, -self.below),
        )

    def mirrored(self, sign: float) -> Self:
        """Losses of the mirror images."""
        return self.signed(np.full(len(self), sign))


def hinge(labels: Vector, weights: Vector) -> PiecewiseLinear:
    """``c max(0, 1 - y f)`` with labels -1 and +1 and weights c; ``y theta`` is alpha of (13)."""
    low, high = np.where(labels > 0, 0.0, -weights), np.where(labels > 0, weights, 0.0)
    return PiecewiseLinear(low, high, labels, labels)


def epsilon_insensitive(targets: Vector, weights: Vector, epsilon: float) -> PiecewiseLinear:
    """``c max(0, |y - f| - epsilon)`` of (41); ``theta = alpha_hat - alpha`` of (42)."""
    return PiecewiseLinear(-weights, weights.copy(), targets + epsilon, targets - epsilon)


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

        def share(start: Array, end: Array, empty: float) -> Array:
            length = end - start
            shares = (theta - start) / np.where(length > 0, length, 1)
            return np.clip(np.where(length > 0, shares, empty), 0.0, 1.0)

        return share(self.low, self.bend, 1.0), share(self.bend, self.high, 0.0)


def combine(loss: PiecewiseLinear, cell: Places, n_cells: int) -> Cells | None:
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
    low, high = sums_at(cell, loss.low, n_cells), sums_at(cell, loss.high, n_cells)
    bend = low + sums_at(place[is_first], length[is_first], n_cells)
    empty = ~np.isfinite(below)
    below[empty] = above[empty] = 0.0
    return Cells(low, np.minimum(bend, high), high, below, above)


def spread_over_rows(
    loss: PiecewiseLinear, cells: Cells, cell: Places, theta: Array, snap: float
) -> Vector:
    """Dual variable of each row: its own pieces filled as much as those of its cell.

    Shares within ``snap`` of 0 or 1 are there: what single precision puts on a bound is on it.
    """
    first, second = (
        np.where(share < snap, 0.0, np.where(share > 1.0 - snap, 1.0, share)).ravel()[cell]
        for share in cells.filled(theta)
    )
    below = cells.below.ravel()[cell]
    lower = np.where(loss.below == below, first, second)
    upper = np.where(loss.above == below, first, second)
    return loss.low * (1.0 - lower) + loss.high * upper
