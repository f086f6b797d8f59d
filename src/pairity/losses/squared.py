"""Squared loss of kernel ridge regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from pairity.losses.base import Vector

__all__ = ["Squared"]


@dataclass(frozen=True)
class Squared:
    """``c/2 (y - f)^2``; its dual term ``-y t + t^2 / (2c)`` makes the dual a linear system.

    The optimum solves ``(K + diag(1/c)) theta = y - bias``: with ``c = 1/alpha`` that is ridge
    regression with penalty alpha on the training set, and ``alpha / 2`` on the halved one.
    """

    targets: Vector
    weights: Vector

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which observations have a weight above 0."""
        return self.weights > 0

    def value(self, decisions: Vector) -> Vector:
        """Weighted loss of each decision."""
        return 0.5 * self.weights * (self.targets - decisions) ** 2

    def conjugate(self, theta: Vector) -> Vector:
        """``-y theta + theta^2 / (2c)``."""
        return theta * (0.5 * theta / self.weights - self.targets)

    def prox(self, point: Vector, step: float) -> Vector:
        """Minimiser of the dual term plus ``(t - point)^2 / (2 step)``."""
        return (point + step * self.targets) / (1.0 + step / self.weights)

    def pull(self, decisions: Vector) -> Vector:
        """``-d loss / d f = c (y - f)``: what theta is at the optimum."""
        return self.weights * (self.targets - decisions)

    def curvature(self, decisions: Vector) -> Vector:
        """``d^2 loss / d f^2 = c``."""
        return self.weights

    def bias_interval(self, theta: Vector, values: Vector) -> tuple[float, float]:
        """The weighted mean residual, twice."""
        best = float(np.average(self.targets - values, weights=self.weights))
        return best, best

    def violation(self, theta: Vector, decisions: Vector) -> float:
        """Residual of the linear system over the size of the targets, in the 2-norm."""
        residual = self.targets - theta / self.weights - decisions
        size = float(np.linalg.norm(self.targets))
        return float(np.linalg.norm(residual)) / (size if size > 0.0 else 1.0)

    @property
    def unit(self) -> float:
        """Root of the mean square of the targets."""
        size = float(np.sqrt(np.mean(self.targets**2))) if len(self) else 0.0
        return size if size > 0.0 else 1.0

    def room(self, theta: Vector, direction: float) -> Vector:
        """As far as is wanted: there are no bounds."""
        return np.full(len(theta), abs(direction))

    def snapped(self, theta: Vector) -> Vector:
        """The same: there are no bounds."""
        return theta

    def is_free(self, theta: Vector) -> NDArray[np.bool_]:
        """All of them."""
        return np.ones(len(theta), dtype=np.bool_)

    def support(self, theta: Vector) -> tuple[int, int]:
        """Nonzero variables; there are no bounds."""
        return int(np.count_nonzero(theta)), 0

    def times(self, factor: float) -> Self:
        """All weights multiplied."""
        return type(self)(self.targets, factor * self.weights)

    def with_mirrored(self, sign: float) -> Self:
        """Rows followed by mirror images."""
        return type(self)(
            np.concatenate([self.targets, sign * self.targets]),
            np.concatenate([self.weights, self.weights]),
        )

    def take(self, index: NDArray[np.intp]) -> Self:
        """Losses of some rows."""
        return type(self)(self.targets[index], self.weights[index])
