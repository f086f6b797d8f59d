"""Platt's sigmoid: the log-odds are linear in the decision, and odd in it where a swap asks so.

    P(positive) = expit(slope f + offset),     slope >= 0, offset = 0 in the antisymmetric case,

fitted by maximum likelihood to smoothed targets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from pairity.calibration.newton import minimise
from pairity.parity import Parity

__all__ = ["Sigmoid", "fit_sigmoid", "smoothed_targets"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class Sigmoid:
    """``log-odds = slope f + offset``."""

    slope: float
    offset: float

    @property
    def is_flat(self) -> bool:
        """Whether decisions make no difference."""
        return self.slope == 0.0

    def log_odds(self, decisions: Vector) -> Vector:
        """Log-odds of the positive label; an exact odd function where the offset is 0."""
        return self.slope * decisions + self.offset


def smoothed_targets(signs: Vector, weights: Vector, parity: Parity | None) -> Vector:
    """Probabilities to aim at, instead of 0 and 1 (Platt 1999).

    With N+ and N- the weights of the two labels, ``(N+ + 1) / (N+ + 2)`` and ``1 / (N- + 2)``:
    what Bayes' rule makes of them with a flat prior.  In the antisymmetric case each pair stands
    for itself and its swap, so both counts are the whole weight.  Decisions that separate the
    labels perfectly then have a finite best slope, and no probability is 0 or 1.
    """
    total = float(weights.sum())
    positive = total if parity is Parity.ODD else float(weights[signs > 0].sum())
    negative = total if parity is Parity.ODD else total - positive
    return np.where(signs > 0, (positive + 1.0) / (positive + 2.0), 1.0 / (negative + 2.0))


def fit_sigmoid(
    decisions: Vector, targets: Vector, weights: Vector, parity: Parity | None
) -> Sigmoid:
    """The sigmoid of greatest likelihood with a slope of at least 0.

    Minimises the cross-entropy ``sum w (log(1 + exp z) - target z)``, ``z = slope f + offset``, a
    convex function, by Newton's method; where that would have a negative slope, the best slope
    allowed is 0.
    """
    scale = float(np.abs(decisions).max(initial=0.0))
    if scale > 0.0:
        columns = [decisions / scale]
        if parity is not Parity.ODD:
            columns.append(np.ones(len(decisions)))
        problem = _CrossEntropy(np.column_stack(columns), targets, weights)
        found = minimise(problem, np.zeros(len(columns)))
        if found[0] > 0.0:
            return Sigmoid(float(found[0]) / scale, float(found[1]) if len(found) > 1 else 0.0)
    share = float(np.average(targets, weights=weights))
    return Sigmoid(0.0, 0.0 if parity is Parity.ODD else float(logit(share)))


@dataclass(frozen=True, eq=False)
class _CrossEntropy:
    """``sum w (log(1 + exp z) - target z)`` for ``z = design x``."""

    design: Vector
    targets: Vector
    weights: Vector

    def value(self, at: Vector) -> float:
        z = self.design @ at
        return float(self.weights @ (np.logaddexp(0.0, z) - self.targets * z))

    def gradient(self, at: Vector) -> Vector:
        return self.design.T @ (self.weights * (expit(self.design @ at) - self.targets))

    def curvature(self, at: Vector) -> Vector:
        chance = expit(self.design @ at)
        return (self.design.T * (self.weights * chance * (1.0 - chance))) @ self.design
