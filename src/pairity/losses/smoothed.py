"""Losses with a second derivative: logistic and squared ones as they are, kinks rounded off.

A piecewise linear loss is rounded through its dual: ``theta^2 / (2 step)`` is added to the dual
term, with ``step = c / width`` and c the largest size of the dual variable.  For the hinge

    loss(f) = 0                                   for  1 <= y f,
              c (1 - y f)^2 / (2 width)           for  1 - width <= y f <= 1,
              c (1 - y f - width / 2)             for  y f <= 1 - width.

Its dual variables stay inside the bounds of the loss itself, so that they give a lower bound of
the problem that is not rounded.  With a ``centre`` the dual term is ``(theta - centre)^2 / (2 step)``:
where the centre is the dual variable itself, nothing is rounded (the method of multipliers).

Losses of very many pairs are made for some pairs at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pairity.losses.loss import Loss, Vector
from pairity.losses.piecewise import PiecewiseLinear, epsilon_insensitive, hinge
from pairity.losses.smooth import Logistic, Squared


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
