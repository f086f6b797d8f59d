"""Losses in other forms: cells of a grid, kinks rounded off, targets as they are stored.

All observations of a pair together are one cell of a grid.  The dual term of a sum of losses is the
infimal convolution of theirs: all linear pieces in order of their slope.  A cell keeps two of them,
which covers the hinge with any repeated and contradicting observations, and regression with one
target per pair.

A piecewise linear loss is rounded through its dual: ``theta^2 / (2 step)`` is added to the dual
term, with ``step = c / width`` and c the largest size of the dual variable.  For the hinge

    loss(f) = 0                                   for  1 <= y f,
              c (1 - y f)^2 / (2 width)           for  1 - width <= y f <= 1,
              c (1 - y f - width / 2)             for  y f <= 1 - width.

Its dual variables stay inside the bounds of the loss itself, so that they give a lower bound of
the problem that is not rounded.  Losses of very many pairs are made for some pairs at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairity.losses.loss import (
    Logistic,
    Loss,
    PiecewiseLinear,
    Squared,
    epsilon_insensitive,
    hinge,
)
from pairity.pairs.arrays import Places, Vector, sums_at

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


@dataclass(frozen=True)
class LossRecipe:
    """Which loss, and how much it counts: ``strength`` is C (2C on the halved set, Theorem 2)."""

    kind: str  # "hinge", "logistic", "squared" or "epsilon"
    strength: float
    epsilon: float = 0.0

    def of(self, targets: Vector, weights: Vector) -> Loss:
        """Losses of these targets (signs of labels, or numbers)."""
        strengths = self.strength * weights
        if self.kind == "epsilon":
            return epsilon_insensitive(targets, strengths, self.epsilon)
        kinds = {"hinge": hinge, "logistic": Logistic, "squared": Squared}
        return kinds[self.kind](targets, strengths)


@dataclass(frozen=True)
class RoundedLoss:
    """A piecewise linear loss whose kinks are rounded over ``width`` units of decision."""

    loss: PiecewiseLinear
    width: float
    centre: Vector | float = 0.0

    def _step_and_pull(self, decisions: Vector) -> tuple[Vector, Vector]:
        step = self.loss.weights / self.width
        return step, self.loss.prox(self.centre - step * decisions, step)

    def value(self, decisions: Vector) -> Vector:
        """``max_t -h(t) - t f - (t - centre)^2 / (2 step)``."""
        step, theta = self._step_and_pull(decisions)
        moved = (theta - self.centre) ** 2
        square = np.divide(moved, 2.0 * step, out=np.zeros_like(theta), where=step > 0)
        return -self.loss.conjugate(theta) - theta * decisions - square

    def pull(self, decisions: Vector) -> Vector:
        """The t of that maximum."""
        return self._step_and_pull(decisions)[1]

    def curvature(self, decisions: Vector) -> Vector:
        """``step`` where theta is inside a piece, 0 elsewhere."""
        step, theta = self._step_and_pull(decisions)
        return np.where(self.loss.is_free(theta), step, 0.0)


#: What Newton's method needs of a loss: value, pull and curvature.
SmoothLoss: TypeAlias = RoundedLoss | Logistic | Squared


def smoothed(loss: Loss, width: float, centre: Vector | float = 0.0) -> SmoothLoss:
    """The loss itself if it is smooth, else rounded over ``width`` about dual variables."""
    if isinstance(loss, PiecewiseLinear):
        return RoundedLoss(loss, width, centre)
    return loss  # type: ignore[return-value]


@dataclass(frozen=True)
class CompactLosses:
    """Targets as they are stored, and weights where they differ."""

    recipe: LossRecipe
    targets: NDArray[Any]
    weights: NDArray[Any] | None

    def take(self, index: Any) -> Loss:
        """Losses of some pairs, by position or slice."""
        targets = self.targets[index].astype(np.float64)
        weights = np.ones(len(targets)) if self.weights is None else self.weights[index]
        return self.recipe.of(targets, weights)
