"""Win, draw and loss from one antisymmetric score: an ordered logit with mirrored thresholds.

    P(win) = expit(slope f - threshold),  P(loss) = expit(-slope f - threshold),  draw: the rest,

slope and threshold at least 0.  The log-likelihood is concave in both together (Pratt 1981).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from pairity.calibration.newton import minimise
from pairity.probabilities import three_log_probabilities, three_probabilities

__all__ = ["DrawModel", "fit_draws", "smoothed_outcomes"]

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class DrawModel:
    """Slope and threshold; probabilities have the columns loss, draw and win."""

    slope: float
    threshold: float

    def probabilities(self, scores: Vector) -> Vector:
        """Shape (n, 3); each row adds up to 1 exactly, opposite scores give mirrored rows."""
        return three_probabilities(self.slope * scores, self.threshold)

    def log_probabilities(self, scores: Vector) -> Vector:
        """Their logarithms, to full relative accuracy."""
        return three_log_probabilities(self.slope * scores, self.threshold)


def smoothed_outcomes(outcomes: Vector, weights: Vector) -> Vector:
    """Targets of loss, draw and win for outcomes -1, 0 and 1, shape (n, 3).

    Platt's idea for three outcomes: with N the weight of the row's own kind (draws, or decided
    games, each of which stands for itself and its swap), ``(N + 1) / (N + 3)`` for what happened
    and ``1 / (N + 3)`` for each of the others.  Slope and threshold are then finite, and the
    threshold above 0, on any data.
    """
    drawn = outcomes == 0.0
    of_draws = float(weights[drawn].sum())
    own_kind = np.where(drawn, of_draws, float(weights.sum()) - of_draws)
    targets = np.repeat((1.0 / (own_kind + 3.0))[:, np.newaxis], 3, axis=1)
    targets[np.arange(len(outcomes)), outcomes.astype(np.intp) + 1] *= own_kind + 1.0
    return targets


def fit_draws(scores: Vector, targets: Vector, weights: Vector) -> DrawModel:
    """Slope and threshold of greatest likelihood, slope at least 0, threshold above 0.

    Minimises ``-sum w sum_k target_k log P_k`` by Newton's method, from a slope of 0 and the
    threshold that gives the share of draws: ``P(draw) = tanh(threshold / 2)`` there.
    """
    drawn = float(np.average(targets[:, 1], weights=weights))
    threshold = 2.0 * float(np.arctanh(drawn))
    scale = float(np.abs(scores).max(initial=0.0))
    if scale == 0.0:
        return DrawModel(0.0, threshold)
    problem = _Likelihood(scores / scale, targets, weights)
    start = np.array([0.0, threshold])
    if problem.gradient(start)[0] >= 0.0:  # higher scores are not better: convex, so 0 is best
        return DrawModel(0.0, threshold)
    slope, threshold = minimise(problem, start)
    return DrawModel(float(slope) / scale, float(threshold))


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """Minus the log-likelihood as a function of (slope, threshold), with its derivatives."""

    scores: Vector
    targets: Vector
    weights: Vector

    def value(self, at: Vector) -> float:
        if at[1] <= 0.0:
            return float("inf")
        logs = three_log_probabilities(at[0] * self.scores, float(at[1]))
        return -float(self.weights @ (self.targets * logs).sum(axis=1))

    def _ends(self, at: Vector) -> tuple[Vector, Vector, Vector, Vector, Vector]:
        """``a = expit(t - s)``, ``b = expit(t + s)``, and targets of loss, draw, win."""
        s, t = at[0] * self.scores, float(at[1])
        loss, drawn, win = (self.targets * self.weights[:, np.newaxis]).T
        return expit(t - s), expit(t + s), loss, drawn, win

    def gradient(self, at: Vector) -> Vector:
        a, b, loss, drawn, win = self._ends(at)
        by_score = (loss + drawn) * b - (win + drawn) * a
        by_threshold = win * a + loss * b - drawn * ((1.0 - a) + (1.0 - b))
        barrier = 2.0 / np.expm1(2.0 * at[1]) * drawn.sum()
        return np.array([by_score @ self.scores, by_threshold.sum() - barrier])

    def curvature(self, at: Vector) -> Vector:
        a, b, loss, drawn, win = self._ends(at)
        below, above = (win + drawn) * a * (1.0 - a), (loss + drawn) * b * (1.0 - b)
        mixed = (above - below) @ self.scores
        corner = (above + below).sum() + drawn.sum() / np.sinh(at[1]) ** 2
        return np.array([[(above + below) @ self.scores**2, mixed], [mixed, corner]])
