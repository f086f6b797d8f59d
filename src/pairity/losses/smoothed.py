"""Losses with a second derivative: logistic and squared ones as they are, kinks rounded off.

A piecewise linear loss is rounded through its dual: ``theta^2 / (2 step)`` is added to the dual
term, with ``step = c / width`` and c the largest size of the dual variable.  For the hinge

    loss(f) = 0                                   for  1 <= y f,
              c (1 - y f)^2 / (2 width)           for  1 - width <= y f <= 1,
              c (1 - y f - width / 2)             for  y f <= 1 - width.

Its dual variables stay inside the bounds of the loss itself, so that they give a lower bound of
the problem that is not rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pairity.losses.base import Loss, Vector
from pairity.losses.piecewise import PiecewiseLinear

__all__ = ["SmoothLoss", "smoothed"]


class SmoothLoss(Protocol):
    """What Newton's method needs of a loss."""

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""

    def pull(self, decisions: Vector) -> Vector:
        """``theta = -d loss / d f``."""

    def curvature(self, decisions: Vector) -> Vector:
        """``d^2 loss / d f^2``."""


@dataclass(frozen=True)
class RoundedLoss:
    """A piecewise linear loss whose kinks are rounded over ``width`` units of decision."""

    loss: PiecewiseLinear
    width: float

    @property
    def _step(self) -> Vector:
        bound = np.maximum(self.loss.high, -self.loss.low)
        return bound / self.width

    def value(self, decisions: Vector) -> Vector:
        """``max_t -h(t) - t f - t^2 / (2 step)``."""
        step = self._step
        theta = self.loss.prox(-step * decisions, step)
        square = np.divide(theta * theta, 2.0 * step, out=np.zeros_like(theta), where=step > 0)
        return -self.loss.conjugate(theta) - theta * decisions - square

    def pull(self, decisions: Vector) -> Vector:
        """The t of that maximum."""
        step = self._step
        return self.loss.prox(-step * decisions, step)

    def curvature(self, decisions: Vector) -> Vector:
        """``step`` where theta is inside a piece, 0 elsewhere."""
        step = self._step
        theta = self.loss.prox(-step * decisions, step)
        return np.where(self.loss.is_free(theta), step, 0.0)


def smoothed(loss: Loss, width: float) -> SmoothLoss:
    """The loss itself if it is smooth, else rounded over ``width``."""
    if isinstance(loss, PiecewiseLinear):
        return RoundedLoss(loss, width)
    return loss  # type: ignore[return-value]
