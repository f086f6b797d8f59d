"""What validation minimises: the loss of held-out decisions, row by row.

Classifiers are judged by the cross-entropy of their calibrated decisions (the sigmoid keeps the
swap law), regressions by the squared error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear, minimize
from scipy.special import expit

from pairity.calibration.sigmoid import Sigmoid, fit_sigmoid
from pairity.parity import Parity

__all__ = ["Criterion", "CrossEntropy", "SquaredError"]

Vector = NDArray[np.float64]


class Criterion(Protocol):
    """A loss of held-out decisions, and the best scales of their contributions."""

    def losses(self, decisions: Vector, targets: Vector, weights: Vector) -> Vector:
        """Loss of each decision."""

    def scales(self, parts: Vector, targets: Vector, weights: Vector) -> Vector:
        """Numbers c >= 0 for which ``sum_k c_k parts[k]`` has the least loss."""


@dataclass(frozen=True)
class CrossEntropy:
    """``log(1 + exp(-y (slope f + offset)))`` with labels y of -1 and +1."""

    parity: Parity | None

    def calibrate(self, decisions: Vector, labels: Vector, weights: Vector) -> Sigmoid:
        """The sigmoid of greatest likelihood."""
        return fit_sigmoid(decisions, (labels > 0).astype(np.float64), weights, self.parity)

    def losses(self, decisions: Vector, targets: Vector, weights: Vector) -> Vector:
        """Cross-entropy of the calibrated decisions."""
        sigmoid = self.calibrate(decisions, targets, weights)
        return np.logaddexp(0.0, -targets * sigmoid.log_odds(decisions))

    def scales(self, parts: Vector, targets: Vector, weights: Vector) -> Vector:
        """Logistic regression of the labels on the parts, coefficients at least 0."""
        share = weights / weights.sum()
        with_offset = self.parity is not Parity.ODD
        rows = np.vstack([parts, np.ones(parts.shape[1])]) if with_offset else parts

        def value_and_slope(coefficients: Vector) -> tuple[float, Vector]:
            odds = coefficients @ rows
            pull = share * targets * expit(-targets * odds)
            return float(share @ np.logaddexp(0.0, -targets * odds)), -(rows @ pull)

        start = np.zeros(len(rows))
        start[: len(parts)] = 1.0
        bounds = [(0.0, None)] * len(parts) + [(None, None)] * with_offset
        found = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds)
        return np.asarray(found.x[: len(parts)])


@dataclass(frozen=True)
class SquaredError:
    """``(y - f)^2``."""

    parity: Parity | None

    def losses(self, decisions: Vector, targets: Vector, weights: Vector) -> Vector:
        """Squared error of each decision."""
        return (targets - decisions) ** 2

    def scales(self, parts: Vector, targets: Vector, weights: Vector) -> Vector:
        """Least squares of the targets on the parts, coefficients at least 0."""
        root = np.sqrt(weights / max(float(weights.max(initial=0.0)), 1e-300))  # any scale will do
        rows = np.vstack([parts, np.ones(parts.shape[1])])
        if self.parity is Parity.ODD:
            rows = parts
        low = np.where(np.arange(len(rows)) < len(parts), 0.0, -np.inf)
        with np.errstate(invalid="ignore"):  # SciPy multiplies 0 by an infinite bound
            found = lsq_linear((rows * root).T, targets * root, bounds=(low, np.inf))
        return np.asarray(found.x[: len(parts)])
