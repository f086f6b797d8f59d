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
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pairity.losses.base import Vector

__all__ = ["PiecewiseLinear", "epsilon_insensitive", "hinge"]


#: Distance from a bound, over its size (from 0, over the largest variable), that is but rounding.
_ROUNDING = 1e-13


@dataclass(frozen=True)
class PiecewiseLinear:
    """Bounds of each dual variable, and the decision at which each of its two pieces rests."""

    low: Vector
    high: Vector
    below: Vector
    above: Vector

    def __len__(self) -> int:
        return len(self.low)

    @property
    def scale(self) -> float:
        """Size of decisions that matter: 1 for the hinge, the mean size of targets otherwise."""
        sizes = np.abs(self.below) + np.abs(self.above)
        return float(np.mean(sizes)) / 2.0 if len(sizes) and sizes.any() else 1.0

    @property
    def counted(self) -> NDArray[np.bool_]:
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
        moved = np.maximum(point + step * self.above, 0.0) + np.minimum(
            point + step * self.below, 0.0
        )
        return np.clip(moved, self.low, self.high)

    def targets(self, theta: Vector) -> tuple[Vector, Vector]:
        """Decision up to which theta would rise, and down to which it would fall.

        -inf (+inf) where theta is at its upper (lower) bound: the sets of (26).
        """
        rise = np.where(theta < 0, self.below, self.above)
        fall = np.where(theta > 0, self.above, self.below)
        return (
            np.where(theta < self.high, rise, -np.inf),
            np.where(theta > self.low, fall, np.inf),
        )

    def is_free(self, theta: Vector) -> NDArray[np.bool_]:
        """Which variables are inside a piece, and so at rest at one decision only."""
        inside = (theta > self.low) & (theta < self.high)
        return inside & ((theta != 0) | (self.below == self.above))

    #: Violations are differences of decisions.
    unit = 1.0

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

    def times(self, factor: float) -> Self:
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

    def with_mirrored(self, sign: float) -> Self:
        """Rows followed by mirror images."""
        other = self.signed(np.full(len(self), sign))
        return type(self)(
            *(
                np.concatenate([getattr(self, name), getattr(other, name)])
                for name in ("low", "high", "below", "above")
            )
        )

    def take(self, index: NDArray[np.intp]) -> Self:
        """Losses of some rows."""
        return type(self)(self.low[index], self.high[index], self.below[index], self.above[index])


def hinge(labels: Vector, weights: Vector) -> PiecewiseLinear:
    """``c max(0, 1 - y f)`` with labels -1 and +1 and weights c; ``y theta`` is alpha of (13)."""
    positive = labels > 0
    return PiecewiseLinear(
        np.where(positive, 0.0, -weights), np.where(positive, weights, 0.0), labels, labels
    )


def epsilon_insensitive(targets: Vector, weights: Vector, epsilon: float) -> PiecewiseLinear:
    """``c max(0, |y - f| - epsilon)`` of (41); ``theta = alpha_hat - alpha`` of (42)."""
    return PiecewiseLinear(-weights, weights.copy(), targets + epsilon, targets - epsilon)
